/** Removes a task's worktree and branch once they are not needed, after everything that only they hold is kept. */
import { isAncestor, resolveCommit, treeOf } from "./git.js";
import { keepIgnored } from "./keep-ignored.js";
import { nestedRepositories } from "./nested-repositories.js";
import { branchHead, type Repository } from "./repository.js";
import { inTurn } from "./repository-lock.js";
import { rescueCommit, rescueTree } from "./rescue.js";
import { writeTree } from "./snapshot.js";
import type { TaskSettings } from "./types.js";
import { inspectWorktree, listWorktrees, type Worktree } from "./worktrees.js";

export interface PutAway {
  notes: string[];
  /** Refs under which something was kept. */
  refs: string[];
}

/** `kept` names a commit that stays reachable anyway, such as the base branch's head after a merge. */
export function putAway(repository: Repository, settings: TaskSettings, kept: string | null): Promise<PutAway> {
  return inTurn(repository, () => putAwayNow(repository, settings, kept));
}

async function putAwayNow(repository: Repository, settings: TaskSettings, kept: string | null): Promise<PutAway> {
  const worktree = await worktreeAway(repository, settings, kept);
  const branch = await branchAway(repository, settings, kept, worktree.refs);
  return { notes: [...worktree.notes, ...branch.notes], refs: branch.refs };
}

/** The worktree alone: the branch stays, and with it every commit. */
export function putAwayWorktree(repository: Repository, settings: TaskSettings): Promise<PutAway> {
  return inTurn(repository, () => worktreeAway(repository, settings, null));
}

/** The branch alone; `refs` keep something already. */
export function removeTaskBranch(
  repository: Repository,
  settings: TaskSettings,
  kept: string | null,
  refs: string[],
): Promise<PutAway> {
  return inTurn(repository, () => branchAway(repository, settings, kept, refs));
}

async function worktreeAway(repository: Repository, settings: TaskSettings, kept: string | null): Promise<PutAway> {
  const notes: string[] = [];
  const refs: string[] = [];
  const state = await inspectWorktree(repository, settings.worktree);
  if (state.kind === "foreign") notes.push(`${settings.worktree} is not the task's worktree and was left alone.`);
  if (state.kind === "ours") {
    const ref = await rescueWorktree(repository, settings, state, kept);
    if (ref !== null) {
      refs.push(ref);
      notes.push(`Uncommitted files of the worktree are kept as ${ref}.`);
    }
    notes.push(...(await removeWorktree(repository, settings, state)));
  }
  return { notes, refs };
}

async function branchAway(
  repository: Repository,
  settings: TaskSettings,
  kept: string | null,
  known: string[],
): Promise<PutAway> {
  const refs = new Set(known);
  const note = await removeBranch(repository, settings, kept, refs);
  return { notes: note === null ? [] : [note], refs: [...refs] };
}

async function rescueWorktree(
  repository: Repository,
  { id }: TaskSettings,
  worktree: Worktree,
  kept: string | null,
): Promise<string | null> {
  const head = await resolveCommit(worktree.git, "HEAD");
  if (head === null) return null;
  const tree = await writeTree(worktree);
  if (tree !== (await treeOf(repository.git, head))) {
    return rescueTree(repository, id, { tree, parent: head, what: "Uncommitted files of a worktree" });
  }
  // A branch keeps its own commits until it is removed; a detached HEAD would lose them with the worktree.
  const safe = worktree.branch !== null || (kept !== null && (await isAncestor(repository.git, head, kept)));
  return safe ? null : rescueCommit(repository, id, head);
}

async function removeWorktree(repository: Repository, settings: TaskSettings, worktree: Worktree): Promise<string[]> {
  // A tree holds only the name of a nested repository's commit: its files and history would be gone.
  const nested = (await nestedRepositories(worktree)).map((path) => `${path}/`);
  if (nested.length > 0) {
    return [`The worktree ${worktree.path} stays: it holds another repository (${nested.join(", ")}).`];
  }
  const notes = await keepIgnored(repository, settings, worktree);
  const removed = await repository.git(["worktree", "remove", "--force", worktree.path], { allow: [128, 255] });
  if (removed.exitCode === 0) return [...notes, `Removed the worktree ${worktree.path}.`];
  return [...notes, `The worktree ${worktree.path} stays: ${removed.stderr.trim()}`];
}

async function removeBranch(
  repository: Repository,
  { id, branch }: TaskSettings,
  kept: string | null,
  refs: Set<string>,
): Promise<string | null> {
  const head = await branchHead(repository, branch);
  if (head === null) return null;
  const holder = (await listWorktrees(repository)).find((one) => one.branch === branch);
  if (holder !== undefined) return `The branch ${branch} stays: it is checked out in ${holder.path}.`;
  let where = "";
  if (kept === null || !(await isAncestor(repository.git, head, kept))) {
    const ref = await keepHead(repository, id, head, refs);
    where = `; its commits are kept as ${ref}`;
  }
  // With the old value: a commit that came in between is not lost.
  await repository.git(["update-ref", "-d", `refs/heads/${branch}`, head]);
  return `Removed the branch ${branch}${where}.`;
}

/** A ref that keeps the uncommitted files on top of the branch keeps the branch too. */
async function keepHead(repository: Repository, id: string, head: string, refs: Set<string>): Promise<string> {
  for (const ref of refs) if (await isAncestor(repository.git, head, ref)) return ref;
  const ref = await rescueCommit(repository, id, head);
  refs.add(ref);
  return ref;
}
