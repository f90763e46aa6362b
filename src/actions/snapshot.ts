/**
 * The present content of a worktree as a git tree: tracked and untracked files, without those that are ignored. Neither
 * the real index nor any ref is touched.
 */
import { refused, type Finding } from "../errors.js";
import { line } from "./git.js";
import { withOwnIndex } from "./own-index.js";
import { openRepository, type Repository } from "./repository.js";
import type { TaskSettings } from "./types.js";
import { inspectWorktree, type Files, type Worktree } from "./worktrees.js";

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
export function writeTree(files: Files): Promise<string> {
  return withOwnIndex(files, async (git) => line(await git(["write-tree"])));
}
