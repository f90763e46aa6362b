/** `pawl task update`: somebody, an agent or a human, asks for the next status of a task. The table says whether. */
import { nearest, refused, usage } from "../errors.js";
import { maskSecrets } from "../task/mask.js";
import type { TaskState } from "../task/state.js";
import { decide } from "../workflow/decide.js";
import { hasEvent, UPDATE } from "../workflow/exits.js";
import { artifactsIn } from "../workflow/blockers.js";
import type { Decision, Event, Evidence, Refusal, Sender, Transition } from "../workflow/types.js";
import { refusalError } from "./advance.js";
import type { TaskContext } from "./context.js";
import { lookAt } from "./look.js";
import { isAgent, senderOf } from "./sender.js";
import { inSession, requireSameDocument, type Session } from "./session.js";
import { changedRules } from "./tending/changed-rules.js";
import { waitBecause } from "./tending/wait-because.js";
import { carryOut, type Step } from "./transition.js";
import { updateRefused } from "./update-refused.js";

export interface Update {
  status?: string;
  summary?: string;
  reason?: string;
  /** With a status that ends the task: its branch goes too, its commits are kept. */
  deleteBranch?: boolean;
}

export function update(context: TaskContext, request: Update): Promise<Step> {
  requireUpdates(context);
  requireStatus(context, request.status);
  return inSession(context, (session) => updateIn(context, session, request));
}

/** The handing over: the way out that rests on what the phase leaves. */
export function complete(context: TaskContext): Promise<Step> {
  requireUpdates(context);
  return inSession(context, (session) => {
    const { phase } = session.task.state;
    const status = handOver(context, phase)?.to;
    if (status === undefined)
      throw refused(`${phase} is not handed over: nothing leads on from there with what it leaves`, {
        hint: `see \`pawl why ${context.id}\``,
      });
    return updateIn(context, session, { status });
  });
}

function handOver({ workflow }: TaskContext, phase: string): Transition | undefined {
  const leaves = workflow.phases.find(({ name }) => name === phase)?.leaves ?? [];
  return workflow.transitions.find(
    (row) =>
      row.from === phase && row.event === UPDATE && artifactsIn(workflow, row).some((name) => leaves.includes(name)),
  );
}

async function updateIn(context: TaskContext, session: Session, request: Update): Promise<Step> {
  const { task } = session;
  const by = senderOf(context, task.state);
  // To give a task up one need not look at anything.
  if (!context.workflow.failures.includes(request.status ?? "")) await requireSameRules(context, session);
  const look = await lookAt(context, { state: task.state, origin: "stored" });
  requireSameDocument(context, look);
  const { evidence } = look;
  const events = eventsFor(context, by, request);
  const decisions = events.map((event) => decide(context.workflow, evidence, event));
  const closed = decisions.findIndex(({ kind }) => kind === "refusal");
  if (closed >= 0) throw explain(context, task.state, evidence, events[closed] as Event, decisions[closed] as Refusal);
  return carryOut(context, task, ...joined(events, decisions as Decision[]), evidence);
}

/** A summary is asked for by itself; with a status it is set in the same write. */
function eventsFor({ workspace }: TaskContext, by: Sender, { status, summary, reason, deleteBranch }: Update): Event[] {
  const mask = (text: string): string => maskSecrets(text.trim(), workspace.env);
  const said = { reason: reason === undefined ? "" : mask(reason) };
  const events: Event[] = [];
  if (status !== undefined)
    events.push({ name: UPDATE, by, payload: { ...said, status, summary: "", deleteBranch: deleteBranch ?? false } });
  if (summary !== undefined)
    events.push({ name: UPDATE, by, payload: { ...said, status: "", summary: mask(summary) } });
  return events;
}

function joined(events: Event[], decisions: Decision[]): [Decision, Event] {
  const [decision, ...others] = decisions as [Decision, ...Decision[]];
  const [event, ...more] = events as [Event, ...Event[]];
  const actions = [...others.flatMap((other) => other.actions), ...decision.actions];
  const summary = more.at(-1)?.payload["summary"] ?? event.payload["summary"];
  const { reason = "" } = event.payload;
  const why = reason === "" ? decision.reason : `${decision.reason}: ${reason}`;
  return [
    { ...decision, actions, reason: why },
    { ...event, payload: { ...event.payload, summary } },
  ];
}

/** Whoever asks: nothing is judged by rules that were changed while agents were at work, before a human has looked at them. */
async function requireSameRules(context: TaskContext, { task }: Session): Promise<void> {
  const findings = changedRules(context, task.state);
  if (findings.length === 0) return;
  const reason = findings.map(({ message }) => message).join("; ");
  if (task.state.waiting === null) await waitBecause(context, task, reason, { type: "run.disturbed", findings });
  const hint = isAgent(context) ? "stop; a human looks at it" : `look at it, then pawl resume --note "…" ${context.id}`;
  throw refused(`${reason}; ${context.id} now waits for a human`, { findings, hint });
}

function explain(context: TaskContext, state: TaskState, evidence: Evidence, event: Event, refusal: Refusal): Error {
  if (evidence.waiting !== null) return refusalError(context, refusal);
  return updateRefused(context, state, event, refusal);
}

function requireUpdates({ workflow, id }: TaskContext): void {
  if (workflow.phases.some(({ name }) => hasEvent(workflow, name, UPDATE))) return;
  throw usage(`${id} follows ${workflow.name}, in which nobody asks for a status`, { hint: `pawl next ${id}` });
}

function requireStatus({ workflow, id }: TaskContext, status: string | undefined): void {
  const names = workflow.phases.map(({ name }) => name);
  if (status === undefined || names.includes(status)) return;
  const near = nearest(status, names);
  throw usage(`\`${status}\` is no status of ${workflow.name}; expected one of: ${names.join(", ")}`, {
    hint: near === undefined ? `see \`pawl why ${id}\`` : `did you mean ${near}?`,
  });
}
