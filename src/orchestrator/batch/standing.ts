/** Where a task stands. Nothing is run for it. */
import { loadTask } from "../../task/store.js";
import type { Workflow } from "../../workflow/types.js";
import { openContext, type Engine } from "../context.js";
import { isSuccess } from "../dependencies.js";
import { comesAfter, phaseOf } from "../suggest.js";
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

/** Well at its end, or at or past the phase that `until` names. */
export function hasArrived({ phase, workflow }: Standing, until: string | undefined): boolean {
  if (phaseOf(workflow, phase).who.kind === "nobody") return isSuccess(workflow, phase);
  return until !== undefined && (phase === until || comesAfter(workflow, phase, until));
}
