/** The change of a task: what its branch holds beyond the base branch, once everything in the worktree is committed. */
import { failed, type Finding } from "../errors.js";
import { findBaseBranch } from "./base-branch.js";
import { diffFiles, diffPatch, diffPaths, type ChangedFile } from "./diff.js";
import { changeOf, plannedFiles, type AcceptedChange } from "./evidence.js";
import { commitTree, isAncestor, mergeBase, resolveCommit, treeOf } from "./git.js";
import { list, taskMessage } from "./messages.js";
import { ABOUT } from "./names.js";
import { refuseHiddenFiles } from "./nested-repositories.js";
import { branchHead, openRepository, type Repository } from "./repository.js";
import { rescueRefs } from "./rescue.js";
import { outOfScope } from "./scope.js";
import { readyWorktree, takeSnapshot, writeTree, type Snapshot } from "./snapshot.js";
import type { Made, Maker, MakerContext, TaskSettings } from "./types.js";

export const deriveChange: Maker = { name: "derive-change", about: ABOUT["derive-change"], make, ready, check };

const PATCH_FILE = "code/diff.patch";
const REPORT_FILE = "code/changes.json";

async function make(context: MakerContext): Promise<Made> {
  const planned = plannedFiles(context.artifacts);
  const { data, notes = [], files } = await describeChange(context);
  if (data.files.length === 0) {
    const { worktree } = context.settings;
    throw failed(`there is no change: the worktree ${worktree} is the same as its base at ${data.base}`, {
      hint: `change files in ${worktree}`,
    });
  }
  if (planned === null) notes.push("The plan was waived, so that the change is within any scope.");
  const out_of_scope = planned === null ? [] : outOfScope(data.files, planned);
  return { data: { ...data, out_of_scope }, notes, ...(files === undefined ? {} : { files }) };
}

export interface ChangeReport extends AcceptedChange {
  files: ChangedFile[];
  out_of_scope: string[];
  patch: string;
}

/** Everything in the worktree is committed; what the branch then holds beyond the base branch may be nothing. */
export async function describeChange(context: MakerContext): Promise<Made & { data: ChangeReport }> {
  const { settings, signal } = context;
  const repository = await openRepository(settings, signal);
  const { name: baseBranch, head: baseHead } = await findBaseBranch(repository, context);
  const snapshot = await takeSnapshot(repository, settings, signal);
  await refuseHiddenFiles(snapshot.worktree);
  const { head, notes } = await commitAll(repository, settings, snapshot);
  const base = await mergeBase(repository.git, baseHead, head);
  if (base === null) throw failed(`the branch ${settings.branch} has no commit in common with ${baseBranch}`);

  const files = await diffFiles(repository.git, base, head);
  const patch = await diffPatch(repository.git, base, head);
  // The report outlives the next run, which writes the current patch anew.
  const ofThisRun = `${context.runPath}/diff.patch`;
  return {
    data: { base, head, tree: snapshot.tree, files, out_of_scope: [], patch: ofThisRun },
    files: { [ofThisRun]: patch, [PATCH_FILE]: patch },
    notes,
  };
}

async function ready(context: Parameters<NonNullable<Maker["ready"]>>[0]): Promise<boolean> {
  const { settings, signal } = context;
  const repository = await openRepository(settings, signal);
  const worktree = await readyWorktree(repository, settings, signal);
  if ("message" in worktree) return false;
  const tree = await writeTree(worktree);
  // The same as was accepted before is nothing new; the same as the base is nothing at all, as after a merge that was undone.
  if (tree === changeOf(context.accepted)?.tree) return false;
  const base = await findBaseBranch(repository, context);
  const start = await mergeBase(worktree.git, base.head, "HEAD");
  return start !== null && tree !== (await treeOf(repository.git, start));
}

export async function check(
  context: Parameters<NonNullable<Maker["check"]>>[0],
  data: unknown,
): Promise<Finding | null> {
  const change = changeOf(data);
  if (change === null) return { message: "the change names no base, head and tree", file: REPORT_FILE };
  const { settings, signal } = context;
  const repository = await openRepository(settings, signal);
  const worktree = await readyWorktree(repository, settings, signal);
  if ("message" in worktree) {
    const gone = worktree.found === "nothing";
    return gone && (await isKept(context, repository, change)) ? null : worktree;
  }
  const tree = await writeTree(worktree);
  if (tree !== change.tree) return changedSince(repository, change, tree);
  const head = await resolveCommit(worktree.git, "HEAD");
  if (head === change.head) return null;
  return {
    message: `the branch ${settings.branch} was moved since the change was derived`,
    file: REPORT_FILE,
    pointer: "/head",
    expected: change.head,
    found: head ?? "no commit",
  };
}

/**
 * The tree goes on the branch exactly as it was seen: made from the snapshot, not by `git commit`, so that neither hooks
 * nor flags in the index come between what is judged and what is committed.
 */
async function commitAll(
  repository: Repository,
  settings: TaskSettings,
  { tree, worktree }: Snapshot,
): Promise<{ head: string; notes: string[] }> {
  const parent = await resolveCommit(worktree.git, "HEAD");
  if (parent === null) throw failed(`the branch ${settings.branch} has no commit`);
  const message = taskMessage(settings.title, settings);
  let head = parent;
  if ((await treeOf(worktree.git, parent)) !== tree) {
    head = await commitTree(worktree.git, { tree, parents: [parent], message }, repository.env);
    const ref = `refs/heads/${settings.branch}`;
    await worktree.git(["update-ref", "-m", "pawl: commit of the worktree", ref, head, parent]);
  }
  // Also when nothing was committed: an earlier run may have died between the commit and this.
  await worktree.git(["reset", "--quiet", "--mixed"]);
  return { head, notes: head === parent ? [] : [`Committed the worktree as ${head} on ${settings.branch}.`] };
}

/** After a merge or a revert the worktree is gone on purpose; the change is then described by what was kept of it. */
async function isKept(
  context: Parameters<NonNullable<Maker["check"]>>[0],
  repository: Repository,
  change: AcceptedChange,
): Promise<boolean> {
  const { git } = repository;
  if ((await resolveCommit(git, change.head)) === null || (await treeOf(git, change.head)) !== change.tree)
    return false;
  const branch = await branchHead(repository, context.settings.branch);
  if (branch !== null) return branch === change.head;
  const base = await findBaseBranch(repository, context);
  const places = [base.head, ...(await rescueRefs(repository, context.settings.id)).map(({ commit }) => commit)];
  for (const place of places) if (await isAncestor(git, change.head, place)) return true;
  return false;
}

async function changedSince({ git }: Repository, change: AcceptedChange, tree: string): Promise<Finding> {
  const known = (await git(["cat-file", "-e", `${change.tree}^{tree}`], { allow: [1, 128] })).exitCode === 0;
  const paths = known ? (await diffPaths(git, change.tree, tree)).map(({ path }) => path) : [];
  const which = paths.length === 0 ? "" : `: ${list(paths)}`;
  return {
    message: `the worktree was changed since the change was derived${which}`,
    file: REPORT_FILE,
    pointer: "/tree",
    expected: change.tree,
    found: tree,
  };
}
