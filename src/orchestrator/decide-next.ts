/** What follows when somebody asks for the next step: the table's word, for whoever asks. */
import type { TaskState } from "../task/state.js";
import { decide } from "../workflow/decide.js";
import type { Decision, Event, Evidence, Refusal } from "../workflow/types.js";
import type { TaskContext } from "./context.js";
import { senderOf } from "./sender.js";
import { nextEvent } from "./suggest.js";

export function decideNext(
  context: TaskContext,
  state: TaskState,
  evidence: Evidence,
): { event: Event; decision: Decision | Refusal } {
  const event = { ...nextEvent(), by: senderOf(context, state) };
  return { event, decision: decide(context.workflow, evidence, event) };
}
