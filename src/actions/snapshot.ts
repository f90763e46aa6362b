/**
 * The present content of a worktree as a git tree: tracked and untracked files, without those that are ignored. Neither
 * the real index nor any ref is touched.
 */
import { copyFile, mkdtemp, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeOf, refused, type Finding } from "../errors.js";
import { line, records, type Git, type GitResult } from "./git.js";
import { openRepository, type Repository } from "./repository.js";
import type { TaskSettings } from "./types.js";
import { inspectWorktree, type Worktree } from "./worktrees.js";

export interface Snapshot {
  tree: string;
  worktree: Worktree;
}

/** The tree of the task's worktree now; an error where the worktree cannot be judged. */
export async function snapshotTree(settings: TaskSettings, signal?: AbortSignal): Promise<string> {
  return (await takeSnapshot(await openRepository(settings, signal), settings, signal)).tree;
}

export async function takeSnapshot(
  repository: Repository,
  settings: TaskSettings,
  signal?: AbortSignal,
): Promise<Snapshot> {
  const worktree = await readyWorktree(repository, settings, signal);
  if ("message" in worktree) {
    throw refused(worktree.message, { findings: [worktree], ...(worktree.hint ? { hint: worktree.hint } : {}) });
  }
  return { tree: await writeTree(worktree), worktree };
}

/** The task's worktree, on its branch and not in the middle of anything; or what is wrong with it. */
export async function readyWorktree(
  repository: Repository,
  settings: TaskSettings,
  signal?: AbortSignal,
): Promise<Worktree | Finding> {
  const { worktree: path, branch } = settings;
  const state = await inspectWorktree(repository, path, signal);
  if (state.kind !== "ours") {
    return {
      message: state.kind === "missing" ? `the worktree ${path} is missing` : `${path} is not the task's worktree`,
      file: path,
      expected: `a git worktree on branch ${branch}`,
      found: state.kind === "missing" ? "nothing" : "something else",
      hint: "`pawl run codegen` makes it again from the task's branch",
    };
  }
  if (state.operation !== null) {
    return {
      message: `a ${state.operation} is under way in the worktree ${path}`,
      file: path,
      expected: `branch ${branch}, nothing under way`,
      found: state.operation,
      hint: `finish it, or \`git -C ${path} ${state.operation} --abort\``,
    };
  }
  if (state.branch !== branch) {
    return {
      message: `the worktree ${path} is not on its branch`,
      file: path,
      expected: branch,
      found: state.branch ?? "a detached HEAD",
      hint: `git -C ${path} switch ${branch}`,
    };
  }
  return state;
}

/** The tree of a worktree in whatever state it is. */
export async function writeTree(worktree: Pick<Worktree, "git" | "gitDir">): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "pawl-index-"));
  try {
    const index = join(directory, "index");
    await copyIndex(join(worktree.gitDir, "index"), index);
    const git: Git = (args, options) => worktree.git(args, { ...options, index });
    await forgetFlags(git);
    await addAll(git);
    return line(await git(["write-tree"]));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Nested repositories that are not submodules, by path with a `/` at its end. */
export async function nestedRepositories(git: Git): Promise<string[]> {
  const others = records(await git(["ls-files", "--others", "--exclude-standard", "-z"]));
  return others.filter((path) => path.endsWith("/"));
}

/**
 * The copy must not be younger than the original: git trusts a file's time stamp only when it is older than the index,
 * so that a file changed within the same tick would go unnoticed.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  try {
    const { atime, mtimeMs } = await stat(from);
    await copyFile(from, to);
    await utimes(to, atime, Math.floor(mtimeMs / 1000));
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error; // A worktree without an index yet: all of it is hashed.
  }
}

/** "assume unchanged" and "skip worktree" would hide changes from the snapshot, but not from the tests. */
async function forgetFlags(git: Git): Promise<void> {
  const flagged = records(await git(["ls-files", "-v", "-z"])).filter((entry) => /^[a-zS]/.test(entry));
  if (flagged.length === 0) return;
  const input = flagged.map((entry) => `${entry.slice(2)}\0`).join("");
  await git(["update-index", "--no-assume-unchanged", "-z", "--stdin"], { input });
  const sparse = line(await git(["config", "--type=bool", "--get", "core.sparseCheckout"], { allow: [1] }));
  if (sparse !== "true") await git(["update-index", "--no-skip-worktree", "-z", "--stdin"], { input });
}

async function addAll(git: Git): Promise<void> {
  const all = ["-c", "advice.addEmbeddedRepo=false", "add", "--all", "--", "."];
  const result = await git(all, { allow: [CANNOT_ADD] });
  if (result.exitCode === 0) return;
  if (!isEmptyNestedRepository(result)) await git(all); // Fails again, with its own message.
  // A nested repository without a commit has nothing that a tree could hold.
  const excluded = (await nestedRepositories(git)).map((path) => `:(exclude,literal,top)${path.slice(0, -1)}`);
  await git([...all, ...excluded]);
}

function isEmptyNestedRepository(result: GitResult): boolean {
  return result.stderr.includes("does not have a commit checked out");
}

const CANNOT_ADD = 128;
