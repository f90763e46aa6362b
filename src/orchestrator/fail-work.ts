/** Work that failed: it is counted, the table decides what follows, and whoever asked is told. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makers } from "../actions/registry.js";
import { failed, halted, invalid } from "../errors.js";
import { actorOf, withActor, type TaskState } from "../task/state.js";
import type { OpenTask } from "../task/store.js";
import { decide } from "../workflow/decide.js";
import { allLeft } from "../workflow/leaves.js";
import type { ArtifactStatus, Event, Phase } from "../workflow/types.js";
import { record, type TaskContext } from "./context.js";
import { describeFinding, fingerprintOf, type Failure } from "./failure.js";
import { evidenceFor, toEvidence } from "./look.js";
import type { WorkRun } from "./perform-work.js";
import { putAway } from "./artifacts.js";
import { carryOut } from "./transition.js";

/** The run went through, but is its evidence worth anything? */
export async function evidenceFailure(context: TaskContext, state: TaskState, phase: Phase): Promise<Failure | null> {
  const statuses = await evidenceFor(context, state, allLeft(phase));
  const unfit = allLeft(phase)
    .map((name) => statuses[name])
    .filter((status): status is ArtifactStatus => status !== undefined && status.condition !== "ok")
    .filter(({ name, condition }) => condition !== "missing" || phase.leaves.includes(name));
  // An artifact that a transition's action makes is not due yet.
  const due = unfit.filter(({ name }) => !madeByAction(context, name));
  const [first] = due;
  if (first === undefined) return null;
  const what = first.findings[0]?.message ?? `${first.file} is ${first.condition}`;
  return {
    kind: first.condition === "missing" ? "no-artifact" : "invalid-artifact",
    summary: first.condition === "missing" ? `${what}: the work ended without it` : what,
    findings: due.flatMap(({ findings }) => findings),
  };
}

function madeByAction(context: TaskContext, name: string): boolean {
  const artifact = context.workflow.artifacts.find((candidate) => candidate.name === name);
  return artifact?.madeBy.kind === "orchestrator" && !makers.has(artifact.madeBy.action);
}

/** Counts the failure, has the table decide what follows from it, and throws it. */
export async function failWork(
  context: TaskContext,
  task: OpenTask,
  { phase, attempt, folder }: WorkRun,
  failure: Failure,
): Promise<never> {
  const before = actorOf(task.state, phase.name);
  const fingerprint = fingerprintOf(failure);
  // What a failed run left is put away: a reviewer that crashed has approved nothing.
  const base = withActor(await putAway(context, task.state, phase.name, allLeft(phase)), phase.name, {
    status: "failed",
    run: undefined,
    attempts: attempt,
    failures: before.failures + 1,
    fingerprint,
    lastFailure: [failure.summary, ...failure.findings.map(describeFinding)].join("\n"),
  });
  const event: Event = {
    name: "fail",
    by: { kind: "pawl" },
    payload: { reason: failure.summary, kind: failure.kind, repeated: before.fingerprint === fingerprint },
  };
  const evidence = await toEvidence(context, base, await evidenceFor(context, base, []));
  const decision = decide(context.workflow, evidence, event);
  const data = { failure: failure.summary, kind: failure.kind, findings: failure.findings };
  let waiting: string | null = null;
  if (decision.kind === "decision") {
    const reason = `${decision.reason}: ${failure.summary}`;
    waiting = (await carryOut(context, task, { ...decision, reason }, event, evidence, { base, data })).waiting;
  } else {
    await task.commit(base, {
      type: "run.failed",
      by: "pawl",
      from: phase.name,
      to: phase.name,
      reason: failure.summary,
      data,
    });
  }
  record(context, { kind: "run", text: `${phase.name} failed: ${failure.summary}` });
  const message = `${phase.name} failed (attempt ${attempt}): ${failure.summary}`;
  const log = join(folder, "output.log");
  const where = existsSync(log) ? `; the log is ${log}` : "";
  const options = { findings: failure.findings, data: { phase: phase.name, attempt } };
  if (waiting !== null)
    throw halted(`${message}; ${context.id} now waits for a human${where}`, {
      ...options,
      hint: `pawl resume --note "…" ${context.id}`,
    });
  const hint = `try again with \`pawl next ${context.id}\`${where}`;
  if (failure.kind === "invalid-artifact") throw invalid(message, { ...options, hint });
  throw failed(message, { ...options, hint });
}
