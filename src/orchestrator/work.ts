/**
 * The work of a phase: its agent is run, or pawl makes what only pawl may make. The task is not locked while that goes on,
 * which may take an hour; a mark in the state keeps a second pawl from doing the same.
 */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { actions, makers } from "../actions/registry.js";
import type { Made } from "../actions/types.js";
import { failed, halted, interrupted, invalid, messageOf, PawlError, refused } from "../errors.js";
import { currentProcess } from "../process/identity.js";
import { runPath } from "../task/archive.js";
import { writeFileDurably } from "../task/atomic-file.js";
import { actorOf, withActor, type TaskState } from "../task/state.js";
import { openTask, type OpenTask } from "../task/store.js";
import { decide } from "../workflow/decide.js";
import type { Artifact, ArtifactStatus, Event, Phase } from "../workflow/types.js";
import { agentFor, type RoleAgent } from "./agent-for.js";
import { record, type TaskContext } from "./context.js";
import { describeFinding, fingerprintOf, type Failure } from "./failure.js";
import { evidenceFor, makerContext, toEvidence, type Look } from "./look.js";
import { phaseOf } from "./suggest.js";
import { bindInputs, carryOut, putAway, writeArtifact } from "./transition.js";

/** Does the work and gives the task back, open again. The task that is passed in is closed meanwhile. */
export async function doWork(
  context: TaskContext,
  task: OpenTask,
  look: Look,
  { force = false } = {},
): Promise<OpenTask> {
  const phase = phaseOf(context.workflow, task.state.phase);
  const plan = await planWork(context, task, look, phase, force);
  const number = await markStarted(context, task, phase, plan.token);
  const folder = join(context.dir, runPath(phase.name, number));
  mkdirSync(folder, { recursive: true });
  const started = task.state;
  task.close();

  const outcome = await perform(context, started, phase, plan, number, folder);
  const again = await openTask(context.dir, context.workflow, context.now);
  try {
    requireOurs(again.state, phase.name, number);
    await finish(context, again, phase, outcome, folder);
    return again;
  } catch (error) {
    again.close();
    throw error;
  }
}

interface WorkPlan {
  agent: RoleAgent | null;
  makers: Artifact[];
  token: string;
}

async function planWork(
  context: TaskContext,
  task: OpenTask,
  look: Look,
  phase: Phase,
  force: boolean,
): Promise<WorkPlan> {
  const artifacts = context.workflow.artifacts.filter(({ name }) => phase.leaves.includes(name));
  const plan: WorkPlan = {
    agent: null,
    makers: artifacts.filter(({ madeBy }) => madeBy.kind === "orchestrator"),
    token: randomBytes(24).toString("base64url"),
  };
  if (phase.who.kind !== "agent" && phase.who.kind !== "orchestrator")
    throw new TypeError(`doWork: nobody can be run in ${phase.name}`);
  // After a run of this visit, what lies in the worktree is what that run left, not a person's work.
  const mayBeDone = !force && actorOf(task.state, phase.name).tried === 0;
  // Who is to work is known before anything is written: a refusal leaves the state as it was.
  if (phase.who.kind === "agent" && !(mayBeDone && isLeft(artifacts, look)))
    plan.agent = await agentFor(context, phase.who.role, look);
  const worktree = await prepareWorktree(context, task.state, phase);
  const state = { ...task.state, fields: { ...task.state.fields, ...worktree?.fields } };
  if (phase.who.kind === "agent" && plan.agent === null && !(await isReady(context, state, artifacts, look)))
    plan.agent = await agentFor(context, phase.who.role, look);
  if (worktree !== null) {
    await task.begin(context.user);
    await task.commit(
      { ...task.state, fields: state.fields },
      {
        type: "worktree.prepared",
        by: "pawl",
        data: { notes: worktree.notes },
      },
    );
  }
  return plan;
}

/** The agent is spared when everything it would leave is there … */
function isLeft(artifacts: Artifact[], look: Look): boolean {
  return artifacts.every(
    ({ name, madeBy }) => madeBy.kind === "orchestrator" || look.evidence.artifacts[name]?.condition === "ok",
  );
}

/** … and what pawl derives has something new to derive from. */
async function isReady(context: TaskContext, state: TaskState, artifacts: Artifact[], look: Look): Promise<boolean> {
  const given = await makerContext(context, state, look.evidence.artifacts);
  for (const artifact of artifacts) {
    if (artifact.madeBy.kind !== "orchestrator") continue;
    const maker = await makers.get(artifact.madeBy.action)?.load();
    if (maker?.ready === undefined) continue;
    if (!(await maker.ready({ ...given, accepted: lastAccepted(context, state, artifact) }))) return false;
  }
  return true;
}

/** With a repository, whoever works for a task works in its own worktree. Safe to repeat; null when there is nothing to do. */
async function prepareWorktree(
  context: TaskContext,
  state: TaskState,
  phase: Phase,
): Promise<{ fields: Record<string, unknown>; notes: string[] } | null> {
  const settings = await context.settings();
  if (settings.repo === null || (state.fields["git"] !== undefined && existsSync(settings.worktree))) return null;
  const action = await actions.get("prepare-worktree")?.load();
  const { notes = [], patch } =
    (await action?.run(
      {
        settings,
        artifacts: {},
        event: { name: "next", by: { kind: "pawl" }, payload: {} },
        reason: "",
        from: phase.name,
        to: phase.name,
        fields: state.fields,
        counters: state.counters,
        now: context.now,
        progress: context.progress,
      },
      { name: "prepare-worktree", args: [] },
    )) ?? {};
  return { fields: patch?.fields ?? {}, notes };
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

type Outcome = { made: { artifact: Artifact; made: Made }[]; failure?: Failure; interrupted?: boolean };

async function perform(
  context: TaskContext,
  state: TaskState,
  phase: Phase,
  plan: WorkPlan,
  number: number,
  folder: string,
): Promise<Outcome> {
  const outcome: Outcome = { made: [] };
  try {
    if (plan.agent !== null) {
      const failure = await plan.agent({ state, phase, attempt: attemptOf(state, phase), folder, token: plan.token });
      if (failure === "interrupted") return { made: [], interrupted: true };
      if (failure !== null) return { made: [], failure };
    }
    for (const artifact of plan.makers) {
      if (artifact.madeBy.kind !== "orchestrator") continue;
      const maker = await makers.get(artifact.madeBy.action)?.load();
      if (maker === undefined) continue; // Made by an action of a transition.
      const statuses = await evidenceFor(context, state, artifact.judges);
      const given = await makerContext(context, state, statuses);
      const made = await maker.make({
        ...given,
        accepted: lastAccepted(context, state, artifact),
        runDir: folder,
        runPath: runPath(phase.name, number),
      });
      outcome.made.push({ artifact, made });
    }
  } catch (error) {
    if (error instanceof PawlError && error.kind === "interrupted") return { made: [], interrupted: true };
    const findings = error instanceof PawlError ? error.findings : [];
    const hint = error instanceof PawlError && error.hint !== undefined ? ` (${error.hint})` : "";
    return { made: [], failure: { kind: "check", summary: `${messageOf(error)}${hint}`, findings } };
  }
  return outcome;
}

async function finish(
  context: TaskContext,
  task: OpenTask,
  phase: Phase,
  outcome: Outcome,
  folder: string,
): Promise<void> {
  if (outcome.interrupted === true) {
    await task.commit(
      withActor(putAway(context, task.state, phase.name, phase.leaves), phase.name, { status: "idle", run: undefined }),
      {
        type: "run.interrupted",
        by: context.user,
        from: phase.name,
        to: phase.name,
      },
    );
    throw interrupted(`the work on ${phase.name} was interrupted; ${context.id} can go on from there`, {
      hint: `pawl next ${context.id}`,
    });
  }
  let state = task.state;
  const notes: string[] = [];
  if (outcome.failure === undefined) {
    for (const { artifact, made } of outcome.made) {
      for (const [path, text] of Object.entries(made.files ?? {}))
        await writeFileDurably(join(context.dir, path), text);
      const statuses = await evidenceFor(context, state, artifact.judges);
      state = await writeArtifact(context, state, artifact.name, made.data, statuses);
      notes.push(...(made.notes ?? []));
    }
  }
  const failure = outcome.failure ?? (await evidenceFailure(context, state, phase));
  if (failure !== null) return fail(context, task, phase, failure, folder);
  await task.commit(
    withActor(state, phase.name, {
      status: "completed",
      attempts: attemptOf(state, phase),
      run: undefined,
      failures: 0,
      lastFailure: undefined,
      fingerprint: undefined,
    }),
    {
      type: "run.finished",
      by: phase.who.kind === "agent" ? phase.who.role : "pawl",
      from: phase.name,
      to: phase.name,
      data: { notes },
    },
  );
  record(context, { kind: "run", text: `${phase.name}: the work is done`, data: { notes } });
}

/** The run went through, but is its evidence worth anything? */
async function evidenceFailure(context: TaskContext, state: TaskState, phase: Phase): Promise<Failure | null> {
  const statuses = await evidenceFor(context, state, phase.leaves);
  const unfit = phase.leaves
    .map((name) => statuses[name])
    .filter((status): status is ArtifactStatus => status !== undefined && status.condition !== "ok");
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
async function fail(
  context: TaskContext,
  task: OpenTask,
  phase: Phase,
  failure: Failure,
  folder: string,
): Promise<never> {
  const before = actorOf(task.state, phase.name);
  const fingerprint = fingerprintOf(failure);
  // What a failed run left is put away: a reviewer that crashed has approved nothing.
  const base = withActor(putAway(context, task.state, phase.name, phase.leaves), phase.name, {
    status: "failed",
    run: undefined,
    attempts: attemptOf(task.state, phase),
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
  const message = `${phase.name} failed (attempt ${before.attempts + 1}): ${failure.summary}`;
  const log = join(folder, "output.log");
  const options = { findings: failure.findings, data: { phase: phase.name, attempt: before.attempts + 1 } };
  if (waiting !== null)
    throw halted(`${message}; ${context.id} now waits for a human`, {
      ...options,
      hint: `pawl resume --note "…" ${context.id}`,
    });
  const hint = `try again with \`pawl next ${context.id}\`${existsSync(log) ? `; the log is ${log}` : ""}`;
  if (failure.kind === "invalid-artifact") throw invalid(message, { ...options, hint });
  throw failed(message, { ...options, hint });
}

function requireOurs(state: TaskState, phase: string, number: number): void {
  const run = state.actors[phase]?.run;
  if (state.phase === phase && run?.number === number && run.owner.pid === process.pid) return;
  throw refused(`the task moved on while ${phase} was being worked on; that work was not counted`, {
    hint: "look at `pawl history`",
  });
}

function lastAccepted(context: TaskContext, state: TaskState, artifact: Artifact): unknown {
  const archived = state.evidence[artifact.name]?.archived;
  if (archived === undefined || !existsSync(join(context.dir, archived))) return undefined;
  try {
    return JSON.parse(readFileSync(join(context.dir, archived), "utf8"));
  } catch {
    return undefined;
  }
}

/** Which try at the phase this is: what a crash cut off is tried again, and is no try. */
function attemptOf(state: TaskState, phase: Phase): number {
  return actorOf(state, phase.name).attempts + 1;
}
