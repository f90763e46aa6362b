/** The directory that a test-driven agent works in, as git sees it. Its checkout is the agent's: branches are switched in it. */
import { failed, refused } from "../../errors.js";
import { tddRecord } from "../../tdd/record.js";
import { findBaseBranch, type BaseBranch } from "../base-branch.js";
import { line, records, resolveCommit, type Git } from "../git.js";
import { exists } from "../paths.js";
import { openRepository, type Repository } from "../repository.js";
import type { TaskSettings } from "../types.js";
import { filesAt, type Files } from "../worktrees.js";
import { join } from "node:path";

export interface WorkTree {
  repository: Repository;
  files: Files;
  git: Git;
  /** Null when detached. */
  branch: string | null;
  head: string | null;
}

/** A git that a killed pawl left behind finishes what it was doing. */
const PATIENCE_MS = 15_000;
const PAUSE_MS = 20;

export async function openWorkTree(settings: TaskSettings, signal?: AbortSignal): Promise<WorkTree> {
  const repository = await openRepository(settings, signal);
  const files = await filesAt(repository, settings.worktree, signal);
  if (files === null || repository.bare)
    throw refused(`${settings.worktree} is no work tree of a git repository`, { hint: "run `git init` there" });
  await untilUnlocked(join(files.gitDir, "index.lock"));
  const head = line(await files.git(["symbolic-ref", "--quiet", "--short", "HEAD"], { allow: [1] }));
  return {
    repository,
    files,
    git: files.git,
    branch: head === "" ? null : head,
    head: await resolveCommit(files.git, "HEAD"),
  };
}

/** The commit that is checked out; null where there is no repository, or none yet. */
export async function headOf(settings: TaskSettings): Promise<string | null> {
  return settings.repo === null ? null : (await openWorkTree(settings)).head;
}

export interface Changes {
  tracked: string[];
  untracked: string[];
}

export async function changesIn({ git }: Pick<WorkTree, "git">): Promise<Changes> {
  const entries = records(await git(["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"]));
  const paths = (wanted: boolean): string[] =>
    entries.filter((entry) => entry.startsWith("?? ") === wanted).map((entry) => entry.slice(3));
  return { tracked: paths(false), untracked: paths(true) };
}

/** What is not committed, without the files that were somebody's before the branch was made. */
export async function uncommitted(tree: WorkTree, fields: Readonly<Record<string, unknown>>): Promise<string[]> {
  const { tracked, untracked } = await changesIn(tree);
  const { untracked: before = [] } = tddRecord(fields);
  return [...tracked, ...untracked.filter((path) => !before.includes(path))];
}

const MOST_LISTED = 20;

export function requireCommitted(paths: string[], why: string): void {
  if (paths.length === 0) return;
  const shown = paths.slice(0, MOST_LISTED).join(", ");
  const more = paths.length > MOST_LISTED ? ` and ${paths.length - MOST_LISTED} more` : "";
  throw refused(`the work tree is not clean, and ${why}: ${shown}${more}`, {
    findings: paths.map((file) => ({
      message: `${file} is not committed`,
      file,
      expected: "committed",
      found: "changed",
    })),
    hint: "commit these files, or put them back; then call get_task",
  });
}

/** Remembered since the branch was made; configured; or found out. */
export async function baseOf(
  tree: WorkTree,
  settings: TaskSettings,
  fields: Readonly<Record<string, unknown>>,
): Promise<BaseBranch> {
  const { base } = tddRecord(fields);
  const find = (branch: string): Promise<BaseBranch> =>
    findBaseBranch(tree.repository, {
      settings: { baseBranch: settings.baseBranch, branch },
      fields: base === undefined ? {} : { git: { base } },
    });
  const own = branchOf(fields);
  if (own !== undefined) return find(own);
  // Whose branch is checked out is not known: another one is rather the base, if there is one.
  return find(tree.branch ?? "").catch(() => find(""));
}

export function branchOf(fields: Readonly<Record<string, unknown>>): string | undefined {
  const branch = fields["current_pr_branch"];
  return typeof branch === "string" && branch !== "" ? branch : undefined;
}

/** The newest known state of a branch elsewhere, fetched now; null where it has none. */
export async function fetchUpstream({ git }: WorkTree, branch: string): Promise<string | null> {
  const remotes = line(await git(["remote"]))
    .split("\n")
    .filter(Boolean);
  if (remotes.length === 0) return null;
  const configured = line(await git(["config", "--get", `branch.${branch}.remote`], { allow: [1] }));
  const remote = [configured, "origin", remotes[0] ?? ""].find((name) => remotes.includes(name)) ?? "";
  await git(["fetch", "--quiet", remote]);
  return resolveCommit(git, `refs/remotes/${remote}/${branch}`);
}

async function untilUnlocked(lock: string): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; await exists(lock);) {
    if (performance.now() > end)
      throw failed(`git is at work in this repository, or died there: ${lock} is there`, {
        hint: `if no git is running, remove ${lock}, then call again`,
      });
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
