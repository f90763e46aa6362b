/** `after:` in task.md: which of the tasks that have to be done before this one are not. */
import { loadTask } from "../task/store.js";
import type { Workflow } from "../workflow/types.js";
import { openContext, type TaskContext } from "./context.js";

/** Undefined where the document does not ask. */
export async function unmetDependencies(context: TaskContext, phase: string): Promise<string[] | undefined> {
  if (!asks(context.workflow, phase)) return undefined;
  const { readTaskFile } = await import("../task/task-file.js");
  const unmet: string[] = [];
  for (const id of readTaskFile(context.dir)?.after ?? []) if (!(await isDone(context, id))) unmet.push(id);
  return unmet;
}

function asks({ transitions }: Workflow, phase: string): boolean {
  return transitions.some(({ from, when }) => from === phase && when.includes("event.unmet"));
}

/** A task that cannot be read is not done. */
async function isDone(context: TaskContext, id: string): Promise<boolean> {
  try {
    const other = await openContext(context, id);
    return isSuccess(other.workflow, loadTask(other.dir, other.workflow).state.phase);
  } catch {
    return false;
  }
}

/** At an end that others may build on. */
export function isSuccess({ phases, failures }: Workflow, phase: string): boolean {
  return phases.some(({ name, who }) => name === phase && who.kind === "nobody") && !failures.includes(phase);
}
