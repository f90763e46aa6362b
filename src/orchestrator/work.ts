/**
 * The work of a phase: its agent is run, or pawl makes what only pawl may make. The task is not locked while that goes on,
 * which may take an hour; a mark in the state keeps a second pawl from doing the same.
 */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { actions } from "../actions/registry.js";
import { interrupted, refused } from "../errors.js";
import { currentProcess } from "../process/identity.js";
import { runPath } from "../task/archive.js";
import { writeFileDurably } from "../task/atomic-file.js";
import { actorOf, withActor, type TaskState } from "../task/state.js";
import { openTask, type OpenTask } from "../task/store.js";
import { decide, relevantArtifacts } from "../workflow/decide.js";
import type { Decision, Phase } from "../workflow/types.js";
import { record, type TaskContext } from "./context.js";
import { evidenceFailure, failWork } from "./fail-work.js";
import { evidenceFor, toEvidence, type Look } from "./look.js";
import { performWork, type WorkOutcome, type WorkRun } from "./perform-work.js";
import { planWork } from "./plan-work.js";
import { senderOf } from "./sender.js";
import { nextEvent, phaseOf } from "./suggest.js";
import { bindInputs, putAway, writeArtifact } from "./artifacts.js";
import { carryOut, type Step } from "./transition.js";

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
  const plan = await planWork(context, task, look, phase, force);
  const number = await markStarted(context, task, phase, plan.token);
  const folder = join(context.dir, runPath(phase.name, number));
  mkdirSync(folder, { recursive: true });
  // What a crash cut off is tried again, and is no try.
  const attempt = actorOf(task.state, phase.name).attempts + 1;
  const run: WorkRun = { state: task.state, phase, number, attempt, folder };
  task.close();

  const outcome = await performWork(context, plan, run);
  const again = await openTask(context.dir, context.workflow, context.now);
  try {
    requireOurs(again.state, phase.name, number);
    return { task: again, step: await finish(context, again, run, outcome, thenNext) };
  } catch (error) {
    again.close();
    throw error;
  }
}

async function markStarted(context: TaskContext, task: OpenTask, phase: Phase, token: string): Promise<number> {
  await task.begin(context.user);
  let state = task.state;
  const number = actorOf(state, phase.name).runs + 1;
  state = putAway(context, state, phase.name, phase.leaves);
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
  await task.commit(await bindInputs(context, state, phase.leaves), {
    type: "run.started",
    by: phase.who.kind === "agent" ? phase.who.role : "pawl",
    from: phase.name,
    to: phase.name,
    data: { run: number, owner: currentProcess() },
  });
  return number;
}

async function finish(
  context: TaskContext,
  task: OpenTask,
  run: WorkRun,
  outcome: WorkOutcome,
  thenNext: boolean,
): Promise<Step | null> {
  if (outcome.interrupted === true) return interrupt(context, task, run.phase);
  if (outcome.failure !== undefined) return failWork(context, task, run, outcome.failure);
  let state = task.state;
  const notes: string[] = [];
  for (const { artifact, made } of outcome.made) {
    for (const [path, text] of Object.entries(made.files ?? {})) await writeFileDurably(join(context.dir, path), text);
    const statuses = await evidenceFor(context, state, artifact.judges);
    state = await writeArtifact(context, state, artifact.name, made.data, statuses);
    notes.push(...(made.notes ?? []));
  }
  const failure = await evidenceFailure(context, state, run.phase);
  if (failure !== null) return failWork(context, task, run, failure);
  return complete(context, task, run, state, notes, thenNext);
}

async function interrupt(context: TaskContext, task: OpenTask, { name, leaves }: Phase): Promise<never> {
  const state = withActor(putAway(context, task.state, name, leaves), name, { status: "idle", run: undefined });
  await task.commit(state, { type: "run.interrupted", by: context.user, from: name, to: name });
  throw interrupted(`the work on ${name} was interrupted; ${context.id} can go on from there`, {
    hint: `pawl next ${context.id}`,
  });
}

async function complete(
  context: TaskContext,
  task: OpenTask,
  { phase, number, attempt }: WorkRun,
  state: TaskState,
  notes: string[],
  thenNext: boolean,
): Promise<Step | null> {
  const done = withActor(state, phase.name, {
    status: "completed",
    attempts: attempt,
    run: undefined,
    failures: 0,
    lastFailure: undefined,
    fingerprint: undefined,
  });
  const finished = { run: number, notes };
  record(context, { kind: "run", text: `${phase.name}: the work is done`, data: finished });
  const step = thenNext ? await takeAlong(context, task, done, finished) : null;
  if (step !== null) return step;
  await task.commit(done, {
    type: "run.finished",
    by: phase.who.kind === "agent" ? phase.who.role : "pawl",
    from: phase.name,
    to: phase.name,
    data: finished,
  });
  return null;
}

/** The transition that follows, in one write with the end of the work; null where it has to wait for that. */
async function takeAlong(
  context: TaskContext,
  task: OpenTask,
  base: TaskState,
  finished: { run: number; notes: string[] },
): Promise<Step | null> {
  const statuses = await evidenceFor(context, base, relevantArtifacts(context.workflow, base.phase));
  const evidence = await toEvidence(context, base, statuses);
  const event = { ...nextEvent(), by: senderOf(context, base) };
  const decision = decide(context.workflow, evidence, event);
  if (decision.kind === "refusal" || (await reachesOutside(decision))) return null;
  const before = task.state;
  try {
    return await carryOut(context, task, decision, event, evidence, { base, data: { finished } });
  } catch (error) {
    // An action that cannot be carried out says so again when the work is on record.
    if (task.state === before) return null;
    throw error;
  }
}

/** What happens outside must not be followed by a crash that has the work done again. */
async function reachesOutside({ actions: calls }: Decision): Promise<boolean> {
  for (const { name } of calls) if ((await actions.get(name)?.load())?.outside !== false) return true;
  return false;
}

function requireOurs(state: TaskState, phase: string, number: number): void {
  const run = state.actors[phase]?.run;
  if (state.phase === phase && run?.number === number && run.owner.pid === process.pid) return;
  throw refused(`the task moved on while ${phase} was being worked on; that work was not counted`, {
    hint: "look at `pawl history`",
  });
}
