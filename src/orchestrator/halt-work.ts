/** Work that was disturbed: the task waits for a human, whatever the table says of the evidence. */
import { halted } from "../errors.js";
import { withActor, type TaskState } from "../task/state.js";
import type { OpenTask } from "../task/store.js";
import { allLeft } from "../workflow/leaves.js";
import { putAway } from "./artifacts.js";
import { record, type TaskContext } from "./context.js";
import { evidenceFailure } from "./fail-work.js";
import { completed, writeMade } from "./finish-work.js";
import type { WorkOutcome, WorkRun } from "./perform-work.js";
import type { Disturbance } from "./watch.js";

/**
 * Sound work is kept. Groundless work (`outcome` null) counts for nothing, and the state goes on from what pawl wrote when the
 * work began: what others wrote into the records since stays in the history, and counts for nothing either.
 */
export async function haltWork(
  context: TaskContext,
  task: OpenTask,
  run: WorkRun,
  { findings }: Disturbance,
  outcome: WorkOutcome | null,
): Promise<never> {
  const { phase, number, attempt } = run;
  const what = findings.map(({ message }) => message).join("; ");
  const reason = `${what} (run ${number} of ${phase.name})`;
  const ended = (outcome === null ? null : await soundEnd(context, task, run, outcome)) ?? {
    ...withActor(await putAway(context, run.state, phase.name, allLeft(phase)), phase.name, {
      status: "failed",
      attempts: attempt,
      run: undefined,
      lastFailure: what,
    }),
  };
  const place = { from: phase.name, to: phase.name, reason };
  const waiting = { reason, since: context.now().toISOString() };
  const data = { run: number, findings };
  const event = await task.commit({ ...ended, waiting }, { type: "run.disturbed", by: "pawl", ...place, data });
  record(context, { kind: "run", text: `${phase.name}: ${reason}`, data: { findings } });
  context.notices.push({ ...place, notes: [], event, waiting: reason });
  throw halted(`${what}; ${context.id} now waits for a human`, {
    findings,
    hint: `look at it, put back what was not meant, then pawl resume --note "…" ${context.id}`,
    data: { phase: phase.name },
  });
}

/** The state with the work done; null where it did not come to anything. */
async function soundEnd(
  context: TaskContext,
  task: OpenTask,
  { phase, attempt }: WorkRun,
  outcome: WorkOutcome,
): Promise<TaskState | null> {
  if (outcome.interrupted === true || outcome.failure !== undefined) return null;
  const { state } = await writeMade(context, task.state, outcome);
  return (await evidenceFailure(context, state, phase)) === null ? completed(state, phase, attempt) : null;
}
