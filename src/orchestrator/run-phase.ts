/** `run <phase>`: the work of a phase, without the step that follows it. */
import { refused } from "../errors.js";
import { enterNext } from "./advance.js";
import type { TaskContext } from "./context.js";
import { lookAt } from "./look.js";
import { inSession, lookReady } from "./session.js";
import { phaseOf, requirePhase } from "./suggest.js";
import { doWork } from "./work.js";

/** The phase under way is worked on (again); the one that the evidence opens is entered first. Any other is refused. */
export function runPhase(context: TaskContext, name: string): Promise<{ phase: string }> {
  requirePhase(context, name);
  return inSession(context, async (session) => {
    let look = await lookReady(context, session.task);
    if (session.task.state.phase !== name) {
      await enterNext(context, session.task, look, name);
      look = await lookAt(context, { state: session.task.state, origin: "stored" });
    }
    const { kind } = phaseOf(context.workflow, name).who;
    if (kind === "human" || kind === "nobody") {
      const why = kind === "human" ? "a human decides there" : "it is an end";
      throw refused(`nobody can be run in ${name}: ${why}`, { hint: `see \`pawl why ${context.id}\`` });
    }
    session.task = (await doWork(context, session.task, look, { force: true })).task;
    return { phase: name };
  });
}
