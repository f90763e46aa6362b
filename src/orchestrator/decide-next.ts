/** What follows when somebody asks for the next step: the table's word, for whoever asks. */
import type { TaskState } from "../task/state.js";
import { decide } from "../workflow/decide.js";
import { ASK, hasEvent, START } from "../workflow/exits.js";
import type { Decision, Event, Evidence, Refusal, Sender, Workflow } from "../workflow/types.js";
import type { TaskContext } from "./context.js";
import { senderOf } from "./sender.js";

export interface NextStep {
  event: Event;
  decision: Decision | Refusal;
}

export function decideNext(context: TaskContext, state: TaskState, evidence: Evidence): NextStep {
  return decideStep(context.workflow, evidence, senderOf(context, state));
}

/**
 * A question that the phase's agent left comes first; then the way on; then what pawl has to do, or to ask, before the work
 * of the phase is begun (again). Where none is open, it is the way on that is refused.
 */
export function decideStep(workflow: Workflow, evidence: Evidence, by: Sender): NextStep {
  const asked = tried(workflow, evidence, askEvent(workflow, evidence.phase));
  if (asked?.decision.kind === "decision") return asked;
  const { unmet } = evidence;
  const event: Event = { name: "next", by, payload: unmet === undefined ? {} : { unmet } };
  const next = { event, decision: decide(workflow, evidence, event) };
  if (next.decision.kind === "decision") return next;
  const begun = tried(workflow, evidence, { name: START, by: { kind: "pawl" }, payload: {} });
  return begun?.decision.kind === "decision" ? begun : next;
}

function tried(workflow: Workflow, evidence: Evidence, event: Event | null): NextStep | null {
  if (event === null || !hasEvent(workflow, evidence.phase, event.name)) return null;
  return { event, decision: decide(workflow, evidence, event) };
}

/** Whoever left the question asks it. */
function askEvent({ phases }: Workflow, phase: string): Event | null {
  const who = phases.find(({ name }) => name === phase)?.who;
  return who?.kind === "agent" ? { name: ASK, by: { kind: "agent", role: who.role }, payload: {} } : null;
}

/** Did the work end with a question instead of what it was to leave? */
export function isAsking(workflow: Workflow, evidence: Evidence): boolean {
  return tried(workflow, evidence, askEvent(workflow, evidence.phase))?.decision.kind === "decision";
}
