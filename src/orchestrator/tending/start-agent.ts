/**
 * The agent of a phase that works by itself is started: what it will judge is described first, then its host, then, once the
 * records name that host, the agent. A pawl that dies on the way leaves a host that ends by itself, or an agent that is known.
 */
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { halted } from "../../errors.js";
import { makers } from "../../actions/registry.js";
import type { AgentSpec } from "../../agents/types.js";
import { startHost, type SessionOrder } from "../../agents/session/start-host.js";
import { socketPath } from "../../agents/session/socket-path.js";
import { packageRoot } from "../../system/locate.js";
import { agentMarks, withAgents, type AgentMark } from "../../task/agent-mark.js";
import { runPath } from "../../task/archive.js";
import { writeFileDurably } from "../../task/atomic-file.js";
import { actorOf, withActor, type TaskState } from "../../task/state.js";
import type { OpenTask } from "../../task/store.js";
import { phasesOf } from "../../workflow/exits.js";
import { allLeft } from "../../workflow/leaves.js";
import type { Phase } from "../../workflow/types.js";
import { agentSpec, isDoneByHand, plainRun, promptFor } from "../agent-for.js";
import { bindInputs, inTaskDirectory, putAway, writeArtifact } from "../artifacts.js";
import type { TaskContext } from "../context.js";
import { evidenceFor, makerContext } from "../look.js";
import { ensureWorktree, lastAccepted } from "../plan-work.js";
import { phaseOf } from "../suggest.js";
import { changedRules, withRules } from "./changed-rules.js";

/** `started`: it is at work. `nobody`: the role is a human's, or nobody is set for it. `failed`: its program cannot be started. */
export type Start =
  { kind: "started"; role: string } | { kind: "nobody"; why: string } | { kind: "failed"; why: string };

export async function startAgent(context: TaskContext, task: OpenTask, name: string): Promise<Start> {
  const phase = phaseOf(context.workflow, name);
  if (phase.who.kind !== "agent") throw new TypeError(`startAgent: no agent works in ${name}`);
  const { role } = phase.who;
  const findings = changedRules(context, task.state);
  if (findings.length > 0)
    throw halted(findings.map(({ message }) => message).join("; "), {
      findings,
      hint: `look at it, put back what was not meant, then pawl resume --note "…" ${context.id}`,
    });
  const isByHand = await isDoneByHand(context, role);
  const spec = isByHand ? null : await agentSpec(context, role);
  if (spec !== null) context.beforeRun?.();
  await ensureWorktree(context, task, phase);
  const number = actorOf(task.state, name).runs + 1;
  const path = runPath(name, number);
  const folder = inTaskDirectory(context, path);
  mkdirSync(folder, { recursive: true });
  const described = await describeForIt(context, task.state, phase, { folder, path });
  if (spec === null) return leaveToHuman(context, task, described, { phase, role });
  return begin(context, task, described, { phase, role, number, folder, spec });
}

/** What the phase's agent looks at is made now, and what it will leave is bound to that. */
async function describeForIt(
  context: TaskContext,
  before: TaskState,
  phase: Phase,
  { folder, path }: { folder: string; path: string },
): Promise<TaskState> {
  let state = await putAway(context, before, phase.name, allLeft(phase));
  for (const artifact of context.workflow.artifacts) {
    if (artifact.madeBy.kind !== "orchestrator" || !phase.leaves.includes(artifact.name)) continue;
    const maker = await makers.get(artifact.madeBy.action)?.load();
    if (maker === undefined) continue;
    const statuses = await evidenceFor(context, state, artifact.judges);
    const given = await makerContext(context, state, statuses);
    const accepted = lastAccepted(context, state, artifact);
    const { data, files = {} } = await maker.make({ ...given, accepted, runDir: folder, runPath: path });
    for (const [file, text] of Object.entries(files)) await writeFileDurably(inTaskDirectory(context, file), text);
    state = await writeArtifact(context, state, artifact.name, data, statuses);
  }
  const own = phase.leaves.filter((name) =>
    context.workflow.artifacts.some((artifact) => artifact.name === name && artifact.madeBy.kind === "agent"),
  );
  return bindInputs(context, state, own);
}

async function leaveToHuman(
  context: TaskContext,
  task: OpenTask,
  described: TaskState,
  { phase, role }: { phase: Phase; role: string },
): Promise<Start> {
  const why = `no agent does the role ${role} here: it is a human's`;
  const { due: _due, ...fields } = described.fields;
  const place = { from: phase.name, to: phase.name, reason: why };
  await task.commit({ ...described, fields }, { type: "agent.absent", by: "pawl", ...place });
  return { kind: "nobody", why };
}

interface Beginning {
  phase: Phase;
  role: string;
  number: number;
  folder: string;
  spec: AgentSpec;
}

async function begin(
  context: TaskContext,
  task: OpenTask,
  described: TaskState,
  { phase, role, number, folder, spec }: Beginning,
): Promise<Start> {
  const attempt = actorOf(described, phase.name).attempts + 1;
  const prompt = await promptFor(context, described, phase, attempt);
  const token = randomBytes(24).toString("base64url");
  const hash = createHash("sha256").update(token).digest("hex");
  const run = await plainRun(context, { role, prompt, state: described, phase, attempt, folder, token });
  const host = startHost(context.workspace.env);
  const mark: AgentMark = {
    role,
    phase: phase.name,
    number,
    serves: phasesOf(context.workflow, role),
    token: hash,
    since: context.now().toISOString(),
    terminal: spec.terminal,
    socket: socketPath(context.workspace.root, hash),
    host: host.identity,
  };
  try {
    await recordStart(context, task, described, mark);
  } catch (error) {
    host.abandon();
    throw error;
  }
  const begun = await host.begin(orderFor(context, spec, run, mark));
  if (begun.kind === "failed") {
    await recordFailure(task, mark, begun.why);
    return { kind: "failed", why: begun.why };
  }
  // A rehearsal is played by its host.
  await recordSpawn(task, { ...mark, agent: begun.agent ?? mark.host });
  return { kind: "started", role };
}

async function recordStart(context: TaskContext, task: OpenTask, described: TaskState, mark: AgentMark): Promise<void> {
  const { due: _due, ...rest } = described.fields;
  const fields = withRules(context, rest);
  const { phase, number, role, host } = mark;
  const state = withActor({ ...described, fields: withAgents(fields, [...agentMarks(fields), mark]) }, phase, {
    status: "running",
    runs: number,
    tried: actorOf(described, phase).tried + 1,
  });
  const data = { run: number, role, host };
  await task.commit(state, { type: "agent.starting", by: "pawl", from: phase, to: phase, data });
}

/** Nobody has begun, so that nobody has crashed: it is the settings that have to be mended. */
async function recordFailure(task: OpenTask, mark: AgentMark, why: string): Promise<void> {
  const { state } = task;
  const marks = agentMarks(state.fields).filter(({ token }) => token !== mark.token);
  const base = withActor(state, mark.phase, { status: "idle" });
  const place = { from: mark.phase, to: mark.phase, reason: why };
  const data = { run: mark.number, role: mark.role };
  const next = { ...base, fields: withAgents(base.fields, marks) };
  await task.commit(next, { type: "agent.unstarted", by: "pawl", ...place, data });
}

async function recordSpawn(task: OpenTask, mark: AgentMark): Promise<void> {
  const { state } = task;
  const marks = agentMarks(state.fields).map((each) => (each.token === mark.token ? mark : each));
  const { phase, number, role, host, agent, terminal } = mark;
  const data = { run: number, role, terminal, host, ...(agent === undefined ? {} : { agent }) };
  await task.commit(
    { ...state, fields: withAgents(state.fields, marks) },
    { type: "agent.spawned", by: "pawl", from: phase, to: phase, data },
  );
}

/** When its agent has ended, the host has somebody look at the task: what follows need not wait for a monitor. */
function orderFor(context: TaskContext, spec: AgentSpec, run: SessionOrder["run"], mark: AgentMark): SessionOrder {
  const root = packageRoot();
  const look = [
    join(root, "bin", "pawl.cjs"),
    "watch",
    context.id,
    "--once",
    "--json",
    "--dir",
    context.workspace.root,
  ];
  return {
    spec,
    run,
    pawlBin: join(root, "dist", "bin"),
    socket: mark.socket,
    then: { command: [process.execPath, ...look], cwd: context.workspace.root },
  };
}
