/**
 * The agent of a task that runs by itself, held by a host process, while pawls come and go. One at a time; it may outlive the
 * phase that it was started in, as a worker does that asks a question and goes on.
 */
import type { ProcessIdentity } from "../process/identity.js";

export interface AgentMark {
  role: string;
  /** The phase and the number of the run that it was started as. */
  phase: string;
  number: number;
  /** Hash of the token that it was given: its right to speak, and the name of its session. */
  token: string;
  since: string;
  terminal: boolean;
  /** Hash of the rules that it is judged by, as they were then. */
  rules: string;
  /** Absent while it is being started. */
  host?: ProcessIdentity;
  agent?: ProcessIdentity;
  /** The table has no more use for it. */
  dismissed?: boolean;
}

export function agentMark(fields: Readonly<Record<string, unknown>>): AgentMark | null {
  return (fields["agent"] ?? null) as AgentMark | null;
}

/** The phase whose agent is to be started; null where none is. */
export function dueAgent(fields: Readonly<Record<string, unknown>>): string | null {
  return (fields["due"] ?? null) as string | null;
}
