/** The agent of a role, ready to be run: which one it is, its prompt, and how often it may mend what was refused. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fillPrompt } from "../agents/prompt.js";
import { resolveAgent } from "../agents/resolve.js";
import { runAgent } from "../agents/run-agent.js";
import { runInSession } from "../agents/session/run-in-session.js";
import { socketPath } from "../agents/session/socket-path.js";
import type { AgentResult, AgentRun, AgentSpec } from "../agents/types.js";
import { halted, invalid, refused, type Finding } from "../errors.js";
import { findSystemFile, packageRoot } from "../system/locate.js";
import { actorOf, type TaskState } from "../task/state.js";
import type { ArtifactStatus, Phase } from "../workflow/types.js";
import { milliseconds } from "../workspace/config.js";
import { agentOf } from "../workspace/settings.js";
import { worktreeDirectory } from "../workspace/workspace.js";
import type { TaskContext } from "./context.js";
import { describeFinding, type Failure } from "./failure.js";
import { evidenceFor, type Look } from "./look.js";
import { promptName } from "../workflow/prompt-name.js";
import { agentArtifacts, optionalArtifacts, printInstead, promptSlots } from "./prompt-slots.js";
import { phaseOf } from "./suggest.js";

const TIMEOUT = "30m";
const REPAIRS = 2;
/** The prompt that goes with a refusal. */
const REPAIR = "repair";

export interface RoleRun {
  state: TaskState;
  phase: Phase;
  attempt: number;
  folder: string;
  token: string;
}

export type RoleAgent = (run: RoleRun) => Promise<Failure | "interrupted" | null>;

export async function isDoneByHand(context: TaskContext, role: string): Promise<boolean> {
  const config = agentOf(await context.settings(), role);
  return config === undefined || config.use === "human";
}

/** Refuses before anything is written when nobody is there for the role. */
export async function agentFor(context: TaskContext, role: string, look: Look): Promise<RoleAgent> {
  const config = agentOf(await context.settings(), role);
  if (config === undefined || config.use === "human") throw await noAgent(context, look);
  const spec = await agentSpec(context, role);
  // Made now, that of a repair too: a slot that nobody fills is no attempt of the agent's.
  const phase = phaseOf(context.workflow, look.state.phase);
  const attempt = actorOf(look.state, phase.name).attempts + 1;
  const prompt = await promptFor(context, look.state, phase, attempt);
  if (spec.repairs > 0) fillRole(context, REPAIR, noRepair(prompt));
  context.beforeRun?.();
  return (run) => runRole(context, role, spec, prompt, run);
}

/** How the agent that is set for the role is run. */
export async function agentSpec(context: TaskContext, role: string): Promise<AgentSpec> {
  const { use, command, ...config } = agentOf(await context.settings(), role) ?? {};
  const terminal = config.terminal ?? false;
  const timeout = config.timeout ?? (terminal ? undefined : TIMEOUT);
  return resolveAgent(
    {
      ...(use === undefined ? {} : { use }),
      ...(command === undefined ? {} : { command }),
      ...(timeout === undefined ? {} : { timeoutMs: milliseconds(timeout) }),
      terminal,
      env: config.env ?? [],
      repairs: config.repairs ?? REPAIRS,
    },
    context.workspace.root,
  );
}

/** The prompt that the document names for where the task stands, or its role's. */
export async function promptFor(
  context: TaskContext,
  state: TaskState,
  phase: Phase,
  attempt: number,
): Promise<string> {
  const { limits } = await context.config();
  const visits = Object.fromEntries(Object.entries(state.actors).map(([name, actor]) => [name, actor.visits]));
  const counts = { counters: state.counters, limits: { ...context.workflow.limits, ...limits }, visits };
  const role = phase.who.kind === "agent" ? phase.who.role : "";
  const name = promptName(context.workflow, phase.name, counts) ?? role;
  return fillRole(context, name, await promptSlots(context, state, phase, attempt));
}

async function runRole(
  context: TaskContext,
  role: string,
  spec: AgentSpec,
  prompt: string,
  given: RoleRun,
): Promise<Failure | "interrupted" | null> {
  const { state, phase, folder } = given;
  const run: AgentRun = {
    ...(await plainRun(context, { role, prompt, ...given })),
    progress: context.progress,
    ...(context.signal === undefined ? {} : { signal: context.signal }),
  };
  for (const path of Object.values({ ...run.artifacts, ...run.mayLeave }))
    mkdirSync(dirname(path), { recursive: true });
  let result = await start(spec, run);
  let left = await leftBy(context, state, phase);
  for (let repair = 1; repair <= spec.repairs && result.outcome === "finished"; repair++) {
    // A file that is not there at all is another matter.
    const refusedOnes = left.filter(({ condition }) => condition === "invalid");
    if (refusedOnes.length === 0) break;
    context.beforeRun?.();
    const runDir = join(folder, `repair-${repair}`);
    const again = repairPrompt(context, phase, run, runDir, repair, spec.repairs, refusedOnes);
    result = await start(spec, { ...run, repair, runDir, prompt: again });
    left = await leftBy(context, state, phase);
  }
  if (result.outcome === "interrupted") return "interrupted";
  // Whoever leaves what need not be left, such as a question, may leave nothing else.
  const isInstead = left.some(({ name, condition }) => phase.mayLeave.includes(name) && condition === "ok");
  return result.outcome === "finished" && isInstead ? null : failureOf(result, left);
}

function start(spec: AgentSpec, run: AgentRun): Promise<AgentResult> {
  const pawlBin = join(packageRoot(), "dist", "bin");
  if (!spec.terminal) return runAgent(spec, run, pawlBin);
  const { signal, progress, ...rest } = run;
  const socket = socketPath(run.workspace, createHash("sha256").update(run.token).digest("hex"));
  const waiting = { progress, ...(signal === undefined ? {} : { signal }) };
  return runInSession({ spec, run: rest, pawlBin, socket, then: null }, waiting);
}

/** A run of an agent, as far as it can be written down. */
export async function plainRun(
  context: TaskContext,
  { role, prompt, phase, attempt, folder, token }: RoleRun & { role: string; prompt: string },
): Promise<Omit<AgentRun, "signal" | "progress">> {
  const settings = await context.settings();
  return {
    role,
    phase: phase.name,
    attempt,
    repair: 0,
    task: context.id,
    taskDir: context.dir,
    workspace: context.workspace.root,
    cwd: settings.repo === null ? context.dir : settings.worktree,
    runDir: folder,
    prompt,
    artifacts: agentArtifacts(context, phase),
    mayLeave: optionalArtifacts(context, phase),
    env: settings.env,
    token,
  };
}

/** What the agent itself has to leave, as it stands now. */
async function leftBy(context: TaskContext, state: TaskState, phase: Phase): Promise<ArtifactStatus[]> {
  const own = Object.keys(agentArtifacts(context, phase));
  const others = Object.keys(optionalArtifacts(context, phase));
  const statuses = await evidenceFor(context, state, [...own, ...others]);
  const given = others.filter((name) => statuses[name]?.condition !== "missing");
  return [...own, ...given].flatMap((name) => statuses[name] ?? []);
}

function repairPrompt(
  context: TaskContext,
  phase: Phase,
  run: AgentRun,
  runDir: string,
  repair: number,
  repairs: number,
  statuses: ArtifactStatus[],
): string {
  mkdirSync(runDir, { recursive: true });
  // Out of the way, so that only what comes now can count.
  const kept = statuses.flatMap(({ file }) => {
    const path = join(context.dir, file);
    if (!existsSync(path)) return [];
    const copy = join(runDir, `refused-${basename(file)}`);
    renameSync(path, copy);
    return [copy];
  });
  const own = agentArtifacts(context, phase);
  const write = `Write ${Object.values(own).join(" and ")} anew, then stop.`;
  return fillRole(context, REPAIR, {
    ...noRepair(run.prompt),
    refused: kept.join(" and "),
    findings: statuses
      .flatMap(({ findings }) => findings)
      .map((finding: Finding) => `- ${describeFinding(finding)}`)
      .join("\n"),
    repair: String(repair),
    repairs: String(repairs),
    next_action: [write, ...printInstead(own)].join(" "),
  });
}

/** All the slots of a repair's prompt, with nothing to mend yet. */
function noRepair(
  prompt: string,
): Record<"prompt" | "refused" | "findings" | "repair" | "repairs" | "next_action", string> {
  return { prompt, refused: "", findings: "", repair: "", repairs: "", next_action: "" };
}

function failureOf(result: AgentResult, left: ArtifactStatus[]): Failure | null {
  const unfit = left.filter(({ condition }) => condition !== "ok");
  const { summary } = result;
  if (result.outcome === "timeout" || result.outcome === "not-found")
    return { kind: result.outcome, summary, findings: [] };
  if (result.outcome !== "finished") {
    const { exitCode } = result;
    if (left.length === 0 || unfit.length > 0) return { kind: "crashed", summary, exitCode, findings: [] };
    const files = left.map(({ file }) => file).join(" and ");
    return {
      kind: "crashed-with-artifact",
      summary: `${summary}, so that the ${files} it left does not count`,
      exitCode,
      findings: [],
    };
  }
  const [first] = unfit;
  if (first === undefined) return null;
  const findings = unfit.flatMap((status) => status.findings);
  const what = first.findings[0]?.message ?? `${first.file} is ${first.condition}`;
  if (first.condition === "missing")
    return { kind: "no-artifact", summary: `${what}: the agent ended without leaving it`, findings };
  return { kind: "invalid-artifact", summary: what, findings };
}

/** The prompt of a role, or another file beside them. */
export function fillRole(context: TaskContext, name: string, slots: Record<string, string>): string {
  const file = findSystemFile("agents", `${name}.md`, context.workspace.root);
  if (file === undefined) {
    throw invalid(`there is no prompt for the role ${name}`, {
      hint: `put system/agents/${name}.md into the workspace`,
    });
  }
  return fillPrompt(readFileSync(file.path, "utf8"), slots, file.path);
}

export async function noAgent(context: TaskContext, look: Look): Promise<Error> {
  const phase = phaseOf(context.workflow, look.state.phase);
  const role = phase.who.kind === "agent" ? phase.who.role : "";
  const use = agentOf(await context.settings(), role)?.use;
  const findings = phase.leaves.flatMap((name) => {
    const status = look.evidence.artifacts[name];
    return status === undefined || status.condition === "ok" ? [] : status.findings;
  });
  const paths = Object.values(agentArtifacts(context, phase));
  const sections = context.workflow.artifacts.filter(
    ({ name, section }) => phase.leaves.includes(name) && section !== undefined,
  );
  const byHand =
    sections.length > 0
      ? `write ${sections.map(({ section = "" }) => `\`## ${section}\``).join(" and ")} to the end of ${paths[0] ?? ""} yourself`
      : paths.length === 0
        ? `make the change in the task's worktree ${worktreeDirectory(context.workspace, context.id)} yourself`
        : `leave ${paths.join(" and ")} yourself`;
  const who = use === "human" ? `a human does the role ${role}` : `no agent is set for the role ${role}`;
  const message = `${phase.name} stays where it is: ${findings[0]?.message ?? "its work is not done"}, and ${who}`;
  if (use === "human") {
    const form = paths.length === 0 || sections.length > 0 ? "" : `fill in the form: pawl form ${context.id}; or `;
    return halted(message, { findings, hint: `${form}${byHand}, then pawl next ${context.id}` });
  }
  return refused(message, {
    findings,
    hint: `in pawl.json, "agents": { "${role}": { "use": "claude" } } or { "command": ["…"] }; or ${byHand}, then pawl next ${context.id}`,
  });
}
