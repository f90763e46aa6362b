/**
 * The work of a phase: its agent is run, or pawl makes what only pawl may make. The task is not locked while that goes on,
 * which may take an hour; a mark in the state keeps a second pawl from doing the same.
 */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { currentProcess } from "../process/identity.js";
import { runPath } from "../task/archive.js";
import { actorOf, withActor } from "../task/state.js";
import { openTask, type OpenTask } from "../task/store.js";
import { allLeft } from "../workflow/leaves.js";
import type { Phase } from "../workflow/types.js";
import { bindInputs, inTaskDirectory, putAway } from "./artifacts.js";
import type { TaskContext } from "./context.js";
import { finishWork } from "./finish-work.js";
import { haltWork } from "./halt-work.js";
import type { Look } from "./look.js";
import { performWork, type WorkRun } from "./perform-work.js";
import { planWork } from "./plan-work.js";
import { phaseOf } from "./suggest.js";
import type { Step } from "./transition.js";
import { disturbanceOf, startWatch } from "./watch.js";

export interface WorkOptions {
  /** Though everything is there already. */
  force?: boolean;
  /** Take the way that the evidence opens, where that can be one write with the end of the work. */
  thenNext?: boolean;
}

/** Does the work and gives the task back, open again. The task that is passed in is closed meanwhile. */
export async function doWork(
  context: TaskContext,
  task: OpenTask,
  look: Look,
  { force = false, thenNext = false }: WorkOptions = {},
): Promise<{ task: OpenTask; step: Step | null }> {
  const phase = phaseOf(context.workflow, task.state.phase);
  // Before anything is written: a folder of runs that leads elsewhere would take all the records there.
  inTaskDirectory(context, runPath(phase.name, actorOf(task.state, phase.name).runs + 1));
  const plan = await planWork(context, task, look, phase, force);
  // A person may have done the agent's work: then pawl only derives what it came to.
  const by = plan.agent !== null && phase.who.kind === "agent" ? phase.who.role : "pawl";
  const number = await markStarted(context, task, phase, plan.token, by);
  const folder = join(context.dir, runPath(phase.name, number));
  mkdirSync(folder, { recursive: true });
  // What a crash cut off is tried again, and is no try.
  const attempt = actorOf(task.state, phase.name).attempts + 1;
  const run: WorkRun = { state: task.state, phase, number, attempt, folder, by };
  const watch = await startWatch(context, run.state, phase);
  task.close();

  const outcome = await performWork(context, plan, run);
  const again = await openTask(context.dir, context.workflow, context.now, context.workspace.env);
  try {
    const disturbance = await disturbanceOf(context, watch, again.state);
    const step =
      disturbance === null
        ? await finishWork(context, again, run, outcome, thenNext)
        : await haltWork(context, again, run, disturbance, disturbance.groundless ? null : outcome);
    return { task: again, step };
  } catch (error) {
    again.close();
    throw error;
  }
}

async function markStarted(
  context: TaskContext,
  task: OpenTask,
  phase: Phase,
  token: string,
  by: string,
): Promise<number> {
  await task.begin(context.user);
  let state = task.state;
  const number = actorOf(state, phase.name).runs + 1;
  state = await putAway(context, state, phase.name, allLeft(phase));
  state = withActor(state, phase.name, {
    status: "running",
    runs: number,
    tried: actorOf(state, phase.name).tried + 1,
    run: {
      number,
      owner: currentProcess(),
      since: context.now().toISOString(),
      token: createHash("sha256").update(token).digest("hex"),
    },
  });
  await task.commit(await bindInputs(context, state, allLeft(phase)), {
    type: "run.started",
    by,
    from: phase.name,
    to: phase.name,
    data: { run: number, owner: currentProcess() },
  });
  return number;
}
