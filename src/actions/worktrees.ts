/** The worktrees of a repository, as git registers them, and the state of one on disk. */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gitIn, line, records, type Git } from "./git.js";
import { exists, kindOf, realPath } from "./paths.js";
import type { Repository } from "./repository.js";

export interface Registration {
  path: string;
  head: string | null;
  /** Null when detached or bare. */
  branch: string | null;
  bare: boolean;
  /** The reason, possibly empty; null when not locked. */
  locked: string | null;
}

export type WorktreeState =
  | { kind: "missing" }
  /** Something is there, but it is not a worktree of this repository. */
  | { kind: "foreign" }
  | ({ kind: "ours" } & Worktree);

export interface Worktree extends Files {
  branch: string | null;
  /** A merge, rebase, … that is under way. */
  operation: string | null;
}

/** Files under version control, wherever they are: a worktree, or a repository inside of one. */
export interface Files {
  path: string;
  gitDir: string;
  git: Git;
  env: Record<string, string>;
}

export async function listWorktrees({ git }: Pick<Repository, "git">): Promise<Registration[]> {
  const found: Registration[] = [];
  for (const record of records(await git(["worktree", "list", "--porcelain", "-z"]))) {
    const [key = "", ...words] = record.split(" ");
    const value = words.join(" ");
    const current = found.at(-1);
    if (key === "worktree") found.push({ path: value, head: null, branch: null, bare: false, locked: null });
    else if (current === undefined) continue;
    else if (key === "HEAD") current.head = value;
    else if (key === "branch") current.branch = value.replace(/^refs\/heads\//, "");
    else if (key === "bare") current.bare = true;
    else if (key === "locked") current.locked = value;
  }
  return found;
}

export async function inspectWorktree(
  repository: Repository,
  path: string,
  signal?: AbortSignal,
): Promise<WorktreeState> {
  if (!(await exists(path))) return { kind: "missing" };
  if ((await kindOf(path)) !== "directory") return { kind: "foreign" };
  const files = await filesAt(repository, path, signal);
  if (files === null) return { kind: "foreign" };
  const { git, gitDir } = files;
  if ((await realPath(dirname(dirname(gitDir)))) !== (await realPath(repository.commonDir))) return { kind: "foreign" };
  const head = line(await git(["symbolic-ref", "--quiet", "HEAD"], { allow: [1] }));
  return {
    kind: "ours",
    ...files,
    branch: head === "" ? null : head.replace(/^refs\/heads\//, ""),
    operation: await operationInProgress(gitDir),
  };
}

/** The files of the repository or worktree whose top directory this is; null where it is none. */
export async function filesAt(
  repository: Pick<Repository, "env">,
  path: string,
  signal?: AbortSignal,
): Promise<Files | null> {
  const args = ["rev-parse", "--absolute-git-dir"];
  const answer = await gitAt(repository, path, signal)(args, { allow: [NOT_A_REPOSITORY] });
  if (answer.exitCode !== 0) return null;
  const gitDir = line(answer);
  const { env } = repository;
  return { path, gitDir, git: gitIn(path, env, signal, { gitDir, workTree: path }), env };
}

/**
 * A worktree that lost its `.git` file may lie inside the user's own checkout; without the ceiling, git would find that
 * one instead.
 */
export function gitAt(repository: Pick<Repository, "env">, path: string, signal?: AbortSignal): Git {
  return gitIn(path, { ...repository.env, GIT_CEILING_DIRECTORIES: dirname(path) }, signal);
}

export async function operationInProgress(gitDir: string): Promise<string | null> {
  for (const [file, operation] of OPERATIONS) {
    if (await exists(join(gitDir, file))) return operation;
  }
  return null;
}

/** The branch that a rebase under way in this git directory will move at its end. */
export async function branchBeingRebased(gitDir: string): Promise<string | null> {
  for (const folder of ["rebase-merge", "rebase-apply"]) {
    const name = await readFile(join(gitDir, folder, "head-name"), "utf8").catch(() => null);
    if (name !== null) return name.trim().replace(/^refs\/heads\//, "");
  }
  return null;
}

const OPERATIONS = [
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
] as const;

const NOT_A_REPOSITORY = 128;
