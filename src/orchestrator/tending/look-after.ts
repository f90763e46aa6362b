/** What every look at a task begins with: agents that have ended are noticed, though no monitor runs. */
import { codeOf, messageOf, PawlError } from "../../errors.js";
import { hasAgents } from "../../task/agent-mark.js";
import { loadTask } from "../../task/store.js";
import type { TaskContext } from "../context.js";

/** Whoever only wants to look is told how it stands, whatever keeps pawl from doing more. */
export async function lookAfter(context: TaskContext): Promise<void> {
  if (!hasAgents(loadTask(context.dir, context.workflow).state)) return;
  const { tendNow } = await import("./tend.js");
  try {
    await tendNow(context);
  } catch (error) {
    if (!(error instanceof PawlError) && codeOf(error) === undefined) throw error;
    context.progress(`${context.id}: ${messageOf(error)}\n`);
  }
}
