/** Removes the worktree and the branch of a task that needs them no more; what is nowhere else goes into a bundle first. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { refused } from "../errors.js";
import { findBaseBranch } from "./base-branch.js";
import { isAncestor, resolveCommit, treeOf } from "./git.js";
import { nestedRepositories } from "./nested-repositories.js";
import { exists } from "./paths.js";
import { putAway } from "./put-away.js";
import { branchHead, openRepository, type Repository } from "./repository.js";
import { rescueTree } from "./rescue.js";
import { writeTree } from "./snapshot.js";
import type { TaskSettings } from "./types.js";
import { inspectWorktree, type Worktree } from "./worktrees.js";

export interface Archived {
  notes: string[];
  /** Null where all of it is in the base branch. */
  bundle: string | null;
}

export async function archiveWorktree(
  settings: TaskSettings,
  fields: Readonly<Record<string, unknown>>,
): Promise<Archived> {
  const repository = await openRepository(settings);
  const worktree = await inspectWorktree(repository, settings.worktree);
  if (worktree.kind === "foreign")
    throw refused(`${settings.worktree} is no worktree of ${repository.path}`, { hint: "look at it, and remove it" });
  if (worktree.kind === "ours") await refuseUnfit(worktree);
  const base = await findBaseBranch(repository, { settings, fields });
  const refs = [
    ...(worktree.kind === "ours" ? await uncommitted(repository, settings, worktree) : []),
    ...(await unmerged(repository, settings, base.head)),
  ];
  const bundle = refs.length === 0 ? null : await writeBundle(repository, settings, refs, base.head);
  const { notes } = await putAway(repository, settings, base.head);
  return {
    notes: [...notes, ...(bundle === null ? [] : [`Kept in ${bundle}: git fetch it to have it back.`])],
    bundle,
  };
}

/** What neither a ref nor a bundle would hold. */
async function refuseUnfit(worktree: Worktree): Promise<void> {
  if (worktree.operation !== null)
    throw refused(`a ${worktree.operation} is under way in ${worktree.path}; nothing was removed`, {
      hint: `finish it, or \`git -C ${worktree.path} ${worktree.operation} --abort\``,
    });
  const nested = await nestedRepositories(worktree);
  if (nested.length === 0) return;
  throw refused(`${worktree.path} holds another repository (${nested.join(", ")}); nothing was removed`, {
    hint: "put it elsewhere, and try again",
  });
}

async function uncommitted(repository: Repository, { id }: TaskSettings, worktree: Worktree): Promise<string[]> {
  const head = await resolveCommit(worktree.git, "HEAD");
  const tree = await writeTree(worktree);
  if (head === null || tree === (await treeOf(repository.git, head))) return [];
  return [await rescueTree(repository, id, { tree, parent: head, what: "Uncommitted files of a worktree" })];
}

async function unmerged(repository: Repository, { branch }: TaskSettings, base: string): Promise<string[]> {
  const head = await branchHead(repository, branch);
  return head === null || (await isAncestor(repository.git, head, base)) ? [] : [`refs/heads/${branch}`];
}

async function freeBundle(folder: string): Promise<string> {
  for (let n = 1; ; n++) {
    const path = join(folder, `worktree-${n}.bundle`);
    if (!(await exists(path))) return path;
  }
}

async function writeBundle(
  repository: Repository,
  { workspace, id }: TaskSettings,
  refs: string[],
  base: string,
): Promise<string> {
  const folder = join(workspace, ".pawl", "kept", id);
  await mkdir(folder, { recursive: true });
  const path = await freeBundle(folder);
  await repository.git(["bundle", "create", "--quiet", path, ...refs, "--not", base]);
  // What cannot be read again is no archive.
  await repository.git(["bundle", "verify", "--quiet", path]);
  return path;
}
