/** `run <phase>`: the work of a phase, without the step that follows it. */
import { failed, refused } from "../errors.js";
import { agentMarks } from "../task/agent-mark.js";
import { runsByItself } from "../workflow/exits.js";
import { enterNext } from "./advance.js";
import { noAgent } from "./agent-for.js";
import type { TaskContext } from "./context.js";
import { lookAt, type Look } from "./look.js";
import { inSession, lookReady, type Session } from "./session.js";
import { phaseOf, requirePhase } from "./suggest.js";
import { doWork } from "./work.js";

export interface PhaseRun {
  phase: string;
  /** `started`: its agent is at work by itself, and nobody waits for it. */
  outcome: "done" | "started";
}

/** The phase under way is worked on (again); the one that the evidence opens is entered first. Any other is refused. */
export function runPhase(context: TaskContext, name: string): Promise<PhaseRun> {
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
    if (runsByItself(context.workflow, phaseOf(context.workflow, name))) return startByItself(context, session, look);
    session.task = (await doWork(context, session.task, look, { force: true })).task;
    return { phase: name, outcome: "done" };
  });
}

async function startByItself(context: TaskContext, { task }: Session, look: Look): Promise<PhaseRun> {
  const { phase } = look.state;
  const [leaving] = agentMarks(look.state.fields);
  if (look.agent === null && leaving !== undefined)
    throw refused(`the agent in the role ${leaving.role} has not ended yet, which was dismissed`, {
      hint: `wait for that: pawl watch ${context.id}`,
    });
  if (look.agent !== null)
    throw refused(`the agent in the role ${look.agent.mark.role} is at work on ${context.id} already`, {
      hint: `pawl attach ${context.id}`,
    });
  const { startAgent } = await import("./tending/start-agent.js");
  const start = await startAgent(context, task, phase);
  if (start.kind === "nobody") throw await noAgent(context, look);
  if (start.kind === "failed")
    throw failed(`the agent of ${phase} was not started: ${start.why}`, { hint: `pawl run ${phase} ${context.id}` });
  return { phase, outcome: "started" };
}
