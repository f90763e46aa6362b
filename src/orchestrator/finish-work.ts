/** The end of the work: what it came to is judged, written, and, where the evidence opens a way, followed at once. */
import { actions } from "../actions/registry.js";
import { interrupted } from "../errors.js";
import { writeFileDurably } from "../task/atomic-file.js";
import { withActor, type TaskState } from "../task/state.js";
import type { OpenTask } from "../task/store.js";
import { relevantArtifacts } from "../workflow/decide.js";
import { ASK, hasEvent } from "../workflow/exits.js";
import { allLeft } from "../workflow/leaves.js";
import type { Decision, Phase } from "../workflow/types.js";
import { inTaskDirectory, putAway, writeArtifact } from "./artifacts.js";
import { record, type TaskContext } from "./context.js";
import { evidenceFailure, failWork } from "./fail-work.js";
import { evidenceFor, toEvidence } from "./look.js";
import type { WorkOutcome, WorkRun } from "./perform-work.js";
import { decideNext, isAsking } from "./decide-next.js";
import { carryOut, type Step } from "./transition.js";

export async function finishWork(
  context: TaskContext,
  task: OpenTask,
  run: WorkRun,
  outcome: WorkOutcome,
  thenNext: boolean,
): Promise<Step | null> {
  if (outcome.interrupted === true) return interrupt(context, task, run.phase);
  if (outcome.failure !== undefined) return failWork(context, task, run, outcome.failure);
  const { state, notes } = await writeMade(context, task.state, outcome);
  const failure = (await hasAsked(context, state)) ? null : await evidenceFailure(context, state, run.phase);
  if (failure !== null) return failWork(context, task, run, failure);
  return complete(context, task, run, state, notes, thenNext);
}

async function hasAsked(context: TaskContext, state: TaskState): Promise<boolean> {
  if (!hasEvent(context.workflow, state.phase, ASK)) return false;
  const statuses = await evidenceFor(context, state, relevantArtifacts(context.workflow, state.phase));
  return isAsking(context.workflow, await toEvidence(context, state, statuses));
}

/** The artifacts that pawl made from what the agent left. */
export async function writeMade(
  context: TaskContext,
  started: TaskState,
  { made: all }: WorkOutcome,
): Promise<{ state: TaskState; notes: string[] }> {
  let state = started;
  const notes: string[] = [];
  for (const { artifact, made } of all) {
    for (const [path, text] of Object.entries(made.files ?? {}))
      await writeFileDurably(inTaskDirectory(context, path), text);
    const statuses = await evidenceFor(context, state, artifact.judges);
    state = await writeArtifact(context, state, artifact.name, made.data, statuses);
    notes.push(...(made.notes ?? []));
  }
  return { state, notes };
}

async function interrupt(context: TaskContext, task: OpenTask, phase: Phase): Promise<never> {
  const { name } = phase;
  const state = withActor(await putAway(context, task.state, name, allLeft(phase)), name, {
    status: "idle",
    run: undefined,
  });
  await task.commit(state, { type: "run.interrupted", by: context.user, from: name, to: name });
  throw interrupted(`the work on ${name} was interrupted; ${context.id} can go on from there`, {
    hint: `pawl next ${context.id}`,
  });
}

async function complete(
  context: TaskContext,
  task: OpenTask,
  { phase, number, attempt, by }: WorkRun,
  state: TaskState,
  notes: string[],
  thenNext: boolean,
): Promise<Step | null> {
  const done = completed(state, phase, attempt);
  const finished = { run: number, notes };
  record(context, { kind: "run", text: `${phase.name}: the work is done`, data: finished });
  const step = thenNext ? await takeAlong(context, task, done, finished) : null;
  if (step !== null) return step;
  await task.commit(done, {
    type: "run.finished",
    by,
    from: phase.name,
    to: phase.name,
    data: finished,
  });
  return null;
}

export function completed(state: TaskState, phase: Phase, attempt: number): TaskState {
  return withActor(state, phase.name, {
    status: "completed",
    attempts: attempt,
    run: undefined,
    failures: 0,
    lastFailure: undefined,
    fingerprint: undefined,
  });
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
  const { event, decision } = decideNext(context, base, evidence);
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
