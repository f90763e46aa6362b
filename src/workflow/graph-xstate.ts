/** A workflow as the configuration of an XState (version 5) machine: for people who have tools for those. */
import { describeWorker, isTerminal } from "./graph-edges.js";
import { withoutSlots } from "./reason.js";
import type { Workflow } from "./types.js";

export interface XStateMachine {
  id: string;
  initial: string;
  description: string;
  states: Record<string, XStateNode>;
}

export interface XStateNode {
  description?: string;
  type?: "final";
  meta: { who: string; leaves: string[] };
  on?: Record<string, XStateTransition[]>;
}

export interface XStateTransition {
  target: string;
  /** The condition's text; XState takes it as the name of a guard. */
  guard?: string;
  actions?: string[];
  description?: string;
  meta: { by: string[] };
}

export function toXState(workflow: Workflow): XStateMachine {
  const states: Record<string, XStateNode> = {};
  for (const phase of workflow.phases) {
    const on: Record<string, XStateTransition[]> = {};
    for (const row of workflow.transitions) {
      if (row.from !== phase.name) continue;
      (on[row.event] ??= []).push({
        target: row.to,
        ...(row.when === "" ? {} : { guard: row.when }),
        ...(row.actions.length === 0
          ? {}
          : { actions: row.actions.map(({ name, args }) => [name, ...args].join(" ")) }),
        ...(row.why === "" ? {} : { description: withoutSlots(row.why) }),
        meta: { by: row.by },
      });
    }
    states[phase.name] = {
      ...(phase.purpose === "" ? {} : { description: phase.purpose }),
      ...(isTerminal(phase) ? { type: "final" as const } : {}),
      meta: { who: describeWorker(phase), leaves: phase.leaves },
      ...(Object.keys(on).length === 0 ? {} : { on }),
    };
  }
  return { id: workflow.name, initial: workflow.initial, description: workflow.title, states };
}
