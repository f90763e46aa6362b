/** What pawl.json says, held against what is there: a setting that is well-formed may still be one that cannot work. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { loadPreset } from "../agents/preset.js";
import { isRelativePath, resolveProgram } from "../agents/program.js";
import { messageOf, nearest, PawlError } from "../errors.js";
import { run } from "../process/run.js";
import { listWorkflows, loadWorkflow } from "../system/workflows.js";
import type { Workflow } from "../workflow/types.js";
import type { AgentConfig, Config } from "../workspace/config.js";
import { gitTop } from "../workspace/settings.js";
import type { Check } from "./doctor.js";
import type { Engine } from "./context.js";

export async function checkSettings(engine: Engine, config: Config): Promise<Check[]> {
  const workflows = await readableWorkflows(engine);
  return [
    ...(await checkWorkflowName(engine, config)),
    ...(await checkBaseBranch(engine, config)),
    ...(await Promise.all(Object.entries(config.agents ?? {}).map(([role, agent]) => checkAgent(engine, role, agent)))),
    ...checkRoles(workflows, Object.keys(config.agents ?? {})),
    ...checkLimits(workflows, Object.keys(config.limits ?? {})),
  ].filter((check) => check !== null);
}

/** One that cannot be read is told of by `spec check`. */
async function readableWorkflows(engine: Engine): Promise<Workflow[]> {
  const { root } = engine.workspace;
  const names = listWorkflows(root).map(({ name }) => name.replace(/\.md$/, ""));
  const loaded = await Promise.allSettled(names.map((name) => loadWorkflow(name, root)));
  return loaded.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
}

async function checkWorkflowName(engine: Engine, { workflow }: Config): Promise<Check[]> {
  if (workflow === undefined) return [];
  const problem = await problemOf(loadWorkflow(workflow, engine.workspace.root));
  return problem === null ? [] : [fail("workflow", problem.found, problem.hint)];
}

async function checkBaseBranch(engine: Engine, { baseBranch }: Config): Promise<Check[]> {
  const repository = gitTop(engine.workspace.root);
  if (baseBranch === undefined || repository === null) return [];
  const { PATH = "", HOME = "" } = engine.workspace.env;
  const result = await run(["git", "rev-parse", "--verify", "--quiet", `refs/heads/${baseBranch}^{commit}`], {
    cwd: repository,
    env: { PATH, HOME },
  });
  if (result.exitCode === 0) return [];
  const found = `there is no branch ${baseBranch} in ${repository}`;
  return [fail("baseBranch", found, `make it: git branch ${baseBranch} <commit>; or name another in pawl.json`)];
}

async function checkAgent(engine: Engine, role: string, { use, command }: AgentConfig): Promise<Check | null> {
  const name = `agents.${role}`;
  const [program] = command ?? [];
  if (program !== undefined) {
    if (isThere(engine, program)) return null;
    const hint = isRelativePath(program)
      ? "a relative path is looked for in the workspace, then in the task's worktree: put the program there, or give its absolute path"
      : "install it, or give its absolute path";
    return fail(name, `the program ${program} was not found`, hint);
  }
  if (use === undefined || use === "human" || use === "rehearsal") return null;
  const problem = await problemOf(loadPreset(use, engine.workspace.root));
  return problem === null ? null : fail(name, problem.found, problem.hint);
}

/** Where the system would find it: by its path, or on PATH. A worktree is a checkout of what the repository holds. */
function isThere(engine: Engine, program: string): boolean {
  const { root, env } = engine.workspace;
  if (isAbsolute(program)) return isProgram(program);
  if (isRelativePath(program)) return isProgram(resolve(gitTop(root) ?? root, resolveProgram(program, root)));
  // An agent finds pawl itself wherever that is installed.
  if (program === "pawl") return true;
  return (env["PATH"] ?? "").split(delimiter).some((directory) => isProgram(join(directory, program)));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function checkRoles(workflows: Workflow[], roles: string[]): Check[] {
  const known = workflows.flatMap(({ phases }) =>
    phases.flatMap(({ who }) => (who.kind === "agent" ? [who.role] : [])),
  );
  return unknownNames(roles, ["default", ...known]).map(({ name, near }) => ({
    name: `agents.${name}`,
    ok: true,
    warning: true,
    found: `no workflow has the role ${name}; there are: ${[...new Set(known)].join(", ")}, and default`,
    hint: near === undefined ? "remove it from pawl.json" : `did you mean ${near}?`,
  }));
}

function checkLimits(workflows: Workflow[], limits: string[]): Check[] {
  const known = [...new Set(workflows.flatMap((workflow) => Object.keys(workflow.limits)))];
  return unknownNames(limits, known).map(({ name, near }) =>
    fail(
      `limits.${name}`,
      `no workflow has the limit ${name}; there are: ${known.join(", ")}`,
      near === undefined ? "remove it from pawl.json" : `did you mean ${near}?`,
    ),
  );
}

function unknownNames(names: string[], known: string[]): { name: string; near: string | undefined }[] {
  return names.filter((name) => !known.includes(name)).map((name) => ({ name, near: nearest(name, known) }));
}

async function problemOf(loading: Promise<unknown>): Promise<{ found: string; hint: string } | null> {
  try {
    await loading;
    return null;
  } catch (error) {
    return { found: messageOf(error), hint: (error instanceof PawlError ? error.hint : undefined) ?? "mend pawl.json" };
  }
}

function fail(name: string, found: string, hint: string): Check {
  return { name, ok: false, found, hint };
}
