/**
 * The agents of a task that runs by itself, each held by a host process, while pawls come and go. One is at work; others have
 * been dismissed and are about to end. An agent may outlive the phase that it was started in, as a worker does that asks a
 * question and goes on.
 */
import type { ProcessIdentity } from "../process/identity.js";

export interface AgentMark {
  role: string;
  /** The phase and the number of the run that it was started as. */
  phase: string;
  number: number;
  /** Every phase that its role works in: in those it needs no successor. */
  serves: string[];
  /** Hash of the token that it was given: its right to speak. */
  token: string;
  since: string;
  terminal: boolean;
  /** Where its host can be reached. */
  socket: string;
  /** The process that holds it: while that lives, the agent does. */
  host: ProcessIdentity;
  /** Absent until it is known that it was started. */
  agent?: ProcessIdentity;
  /** The table has no more use for it. */
  dismissed?: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

export function agentMarks(fields: Fields): AgentMark[] {
  return (fields["agents"] ?? []) as AgentMark[];
}

/** The one at work. */
export function agentAtWork(fields: Fields): AgentMark | undefined {
  return agentMarks(fields).find(({ dismissed }) => dismissed !== true);
}

/** Is there anybody to look after: at work, about to end, due, or crashed a moment ago? */
export function hasAgents({ fields, lastEvent }: { fields: Fields; lastEvent: { type: string } | null }): boolean {
  return fields["agents"] !== undefined || fields["due"] !== undefined || isAfterCrash(lastEvent);
}

/** The type of the event with which a crash is counted. */
export const CRASH = "agent.crashed";
/** The type of the event with which somebody's hand in the face of a task is undone. */
export const RESTORED = "face.restored";

/** What follows from a crash is an event of its own, before which pawl may have died. */
export function isAfterCrash(lastEvent: { type: string } | null): boolean {
  return lastEvent?.type === CRASH || lastEvent?.type === RESTORED;
}

/** The field `agents`; none is no field. */
export function withAgents(fields: Fields, marks: AgentMark[]): Record<string, unknown> {
  const { agents: _agents, ...rest } = fields;
  return marks.length === 0 ? rest : { ...rest, agents: marks };
}

export function dismissed(marks: AgentMark[]): AgentMark[] {
  return marks.map((mark) => ({ ...mark, dismissed: true }));
}

/** The phase whose agent is to be started; null where none is. */
export function dueAgent(fields: Fields): string | null {
  return (fields["due"] ?? null) as string | null;
}
