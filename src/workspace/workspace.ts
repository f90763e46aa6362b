/** A workspace: the directory with `tasks/` and `pawl.json`; and which of its tasks is meant. */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { nearest, usage } from "../errors.js";
import { isTaskId, requireTaskId } from "../task/paths.js";
import { CONFIG_FILE } from "./config.js";

export interface Workspace {
  root: string;
  /** Where the command was called. */
  cwd: string;
  env: Record<string, string | undefined>;
}

const PRIVATE = ".pawl";
const LAST_TASK = join(PRIVATE, "last-task");

/**
 * `directory` is the `--dir` flag. Otherwise the nearest directory above with pawl.json or `.pawl`. Many projects have a
 * folder `tasks` of their own: it tells something only where none of these is found.
 */
export function findWorkspace(cwd: string, env: Workspace["env"], directory?: string): Workspace {
  if (directory !== undefined) {
    const root = resolve(cwd, directory);
    if (!existsSync(root)) throw usage(`there is no directory ${root}`, { hint: "give --dir a directory that exists" });
    return { root, cwd, env };
  }
  const taskDir = env["PAWL_TASK_DIR"];
  if (taskDir !== undefined && existsSync(taskDir)) return { root: dirname(dirname(resolve(taskDir))), cwd, env };
  const worktree = cwd.indexOf(`${sep}${PRIVATE}${sep}worktrees${sep}`);
  if (worktree >= 0) return { root: cwd.slice(0, worktree), cwd, env };
  const above = directoriesAbove(cwd);
  const configured = above.find((each) => existsSync(join(each, CONFIG_FILE)) || existsSync(join(each, PRIVATE)));
  if (configured !== undefined) return { root: configured, cwd, env };
  const taskAbove = existsSync(join(cwd, "tasks"))
    ? undefined
    : above.find((each) => basename(dirname(each)) === "tasks");
  return { root: taskAbove === undefined ? cwd : dirname(dirname(taskAbove)), cwd, env };
}

/** This one first. */
function directoriesAbove(directory: string): string[] {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [directory, ...directoriesAbove(parent)];
}

export function tasksDirectory(workspace: Workspace): string {
  return join(workspace.root, "tasks");
}

export function taskDirectory(workspace: Workspace, id: string): string {
  return join(tasksDirectory(workspace), id);
}

export function worktreeDirectory(workspace: Workspace, id: string): string {
  return join(workspace.root, PRIVATE, "worktrees", id);
}

/** The ids of all task directories, sorted. */
export function listTaskIds(workspace: Workspace): string[] {
  const directory = tasksDirectory(workspace);
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isTaskId(entry.name))
    .map((entry) => entry.name)
    .sort();
}

/** The task that is meant: named, or the one of this directory, the only one, or the one used last. */
export function resolveTask(workspace: Workspace, named?: string): string {
  if (named !== undefined) return requireTask(workspace, named.replace(/^(\.\/)?tasks\//, "").replace(/\/$/, ""));
  const here = taskHere(workspace);
  if (here !== undefined) return requireTask(workspace, here);
  const ids = listTaskIds(workspace);
  if (ids.length === 1 && ids[0] !== undefined) return ids[0];
  const last = lastTask(workspace);
  if (last !== undefined) return last;
  if (ids.length === 0)
    throw usage(`there is no task in ${tasksDirectory(workspace)}`, { hint: 'make one: pawl new "<title>"' });
  throw usage(`which task? ${listSome(ids)}`, { hint: "name it, or call pawl inside its directory or worktree" });
}

/** The task that is meant without being named: the directory's, or the one that an agent works for. */
export function taskHere(workspace: Workspace): string | undefined {
  return taskOfDirectory(workspace) ?? workspace.env["PAWL_TASK"];
}

/** The nearest directory with a file of that name: from here up to the workspace's own. */
export function directoryWith({ root, cwd }: Workspace, file: string): string | undefined {
  const isBelow = cwd === root || cwd.startsWith(root + sep);
  const above = isBelow ? directoriesAbove(cwd).filter((each) => each.length >= root.length) : [root];
  return above.find((each) => existsSync(join(each, file)));
}

export function lastTask(workspace: Workspace): string | undefined {
  const file = join(workspace.root, LAST_TASK);
  if (!existsSync(file)) return undefined;
  const id = readFileSync(file, "utf8").trim();
  return isTaskId(id) && existsSync(taskDirectory(workspace, id)) ? id : undefined;
}

/** A convenience: that it cannot be remembered is no reason to fail. */
export function rememberTask(workspace: Workspace, id: string): void {
  try {
    makePrivateDirectory(workspace.root);
    writeFileSync(join(workspace.root, LAST_TASK), `${id}\n`);
  } catch {
    // A read-only workspace.
  }
}

/** `.pawl/` is pawl's own: it keeps itself out of the user's repository. */
export function makePrivateDirectory(root: string): void {
  const ignore = join(root, PRIVATE, ".gitignore");
  if (existsSync(ignore)) return;
  mkdirSync(join(root, PRIVATE), { recursive: true });
  writeFileSync(ignore, "*\n");
}

function requireTask(workspace: Workspace, id: string): string {
  requireTaskId(id);
  const directory = taskDirectory(workspace, id);
  const stat = lstatSync(directory, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) return id;
  if (stat?.isSymbolicLink() === true)
    throw usage(`tasks/${id} is a symbolic link`, { hint: "a task is a directory of its own" });
  const ids = listTaskIds(workspace);
  const near = nearest(id, ids);
  throw usage(
    `there is no task \`${id}\` in ${tasksDirectory(workspace)}; ${ids.length === 0 ? "there is none at all" : `there are: ${listSome(ids)}`}`,
    {
      hint: near === undefined ? 'make one: pawl new "<title>"' : `did you mean ${near}?`,
    },
  );
}

function taskOfDirectory(workspace: Workspace): string | undefined {
  for (const base of [tasksDirectory(workspace), join(workspace.root, PRIVATE, "worktrees")]) {
    const [id = ""] = relative(base, workspace.cwd).split(sep);
    if (isTaskId(id) && existsSync(taskDirectory(workspace, id))) return id;
  }
  return undefined;
}

function listSome(ids: string[]): string {
  return ids.length <= 20 ? ids.join(", ") : `${ids.slice(0, 20).join(", ")} and ${ids.length - 20} more`;
}
