/**
 * Events besides `next`, and what they tell of a phase. The agent of one with an `exit` row works by itself: it is started when
 * the phase begins, and its end is an event of the table.
 */
import type { Phase, Workflow } from "./types.js";

export const EXIT = "exit";
export const CRASHED = "crashed";
export const UPDATE = "update";
/** The agent of a phase left a question. */
export const ASK = "ask";
/** The work of a phase is about to begin, or to begin again. */
export const START = "start";

export function hasEvent({ transitions }: Workflow, phase: string, event: string): boolean {
  return transitions.some((row) => row.from === phase && row.event === event);
}

export function worksByItself(workflow: Workflow, phase: string): boolean {
  return hasEvent(workflow, phase, EXIT);
}

/** Every phase that the role works in. */
export function phasesOf({ phases }: Workflow, role: string): string[] {
  return phases.filter(({ who }) => who.kind === "agent" && who.role === role).map(({ name }) => name);
}

/** Does the phase's agent run by itself, here or in another phase of its role? Then no pawl waits for its end. */
export function runsByItself(workflow: Workflow, { who }: Phase): boolean {
  return who.kind === "agent" && phasesOf(workflow, who.role).some((name) => worksByItself(workflow, name));
}
