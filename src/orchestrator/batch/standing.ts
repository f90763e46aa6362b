/** Where a task stands. Nothing is run for it. */
import { loadTask } from "../../task/store.js";
import type { Workflow } from "../../workflow/types.js";
import { openContext, type Engine } from "../context.js";
import { phaseOf } from "../suggest.js";
import type { FoundTask } from "./find-tasks.js";

export interface Standing {
  phase: string;
  workflow: Workflow;
}

/** Null where that cannot be told; the attempt to run the task says why. */
export async function standingOf(engine: Engine, { workspace, id }: FoundTask): Promise<Standing | null> {
  try {
    const { dir, workflow } = await openContext({ ...engine, workspace }, id);
    return { phase: loadTask(dir, workflow).state.phase, workflow };
  } catch {
    return null;
  }
}

/** At its end, or at or behind the phase that `until` names: phases stand in the order of the work. */
export function hasArrived({ phase, workflow }: Standing, until: string | undefined): boolean {
  if (phaseOf(workflow, phase).who.kind === "nobody") return true;
  const names = workflow.phases.map(({ name }) => name);
  return until !== undefined && names.includes(until) && names.indexOf(phase) >= names.indexOf(until);
}
