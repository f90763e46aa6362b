/** Who does the work of a phase, and where: known before anything is written, so that a refusal leaves the state as it was. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { actions, makers } from "../actions/registry.js";
import { readPlainFile } from "../task/plain-file.js";
import { actorOf, type TaskState } from "../task/state.js";
import type { OpenTask } from "../task/store.js";
import type { Artifact, Phase } from "../workflow/types.js";
import { agentFor, isDoneByHand, type RoleAgent } from "./agent-for.js";
import type { TaskContext } from "./context.js";
import { makerContext, type Look } from "./look.js";

export interface WorkPlan {
  agent: RoleAgent | null;
  makers: Artifact[];
  token: string;
}

interface Prepared {
  fields: Record<string, unknown>;
  notes: string[];
}

export async function planWork(
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
  // After a run of this visit, what lies in the worktree is what that run left; a person's work only where nobody else is set.
  const isByHand = phase.who.kind === "agent" && (await isDoneByHand(context, phase.who.role));
  const mayBeDone = !force && (isByHand || actorOf(task.state, phase.name).tried === 0);
  if (phase.who.kind === "agent" && !(mayBeDone && isLeft(artifacts, look)))
    plan.agent = await agentFor(context, phase.who.role, look);
  const worktree = await prepareWorktree(context, task.state, phase);
  const state = { ...task.state, fields: { ...task.state.fields, ...worktree?.fields } };
  if (phase.who.kind === "agent" && plan.agent === null && !(await isReady(context, state, artifacts, look)))
    plan.agent = await agentFor(context, phase.who.role, look);
  await recordWorktree(context, task, worktree);
  return plan;
}

/** For whoever works there without being started by pawl. */
export async function ensureWorktree(context: TaskContext, task: OpenTask, phase: Phase): Promise<void> {
  await recordWorktree(context, task, await prepareWorktree(context, task.state, phase));
}

async function recordWorktree(context: TaskContext, task: OpenTask, worktree: Prepared | null): Promise<void> {
  if (worktree === null) return;
  await task.begin(context.user);
  const fields = { ...task.state.fields, ...worktree.fields };
  const data = { notes: worktree.notes };
  await task.commit({ ...task.state, fields }, { type: "worktree.prepared", by: "pawl", data });
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
async function prepareWorktree(context: TaskContext, state: TaskState, phase: Phase): Promise<Prepared | null> {
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
        back: "",
        again: `\`pawl next ${context.id}\` again`,
        now: context.now,
        progress: context.progress,
      },
      { name: "prepare-worktree", args: [] },
    )) ?? {};
  return { fields: patch?.fields ?? {}, notes };
}

/** The artifact as it last opened a gate; undefined where it never did. */
export function lastAccepted(context: TaskContext, state: TaskState, artifact: Artifact): unknown {
  const archived = state.evidence[artifact.name]?.archived;
  if (archived === undefined || !existsSync(join(context.dir, archived))) return undefined;
  try {
    return JSON.parse(readPlainFile(join(context.dir, archived)).toString("utf8"));
  } catch {
    return undefined;
  }
}
