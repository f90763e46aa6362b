/** Takes merges of a task back, each by a commit of its own on the base branch. */
import { refused } from "../errors.js";
import { findBaseBranch, type BaseBranch } from "./base-branch.js";
import { diffPaths } from "./diff.js";
import { findRevert } from "./find-revert.js";
import type { MergeRecord } from "./git-record.js";
import { commitTree, isAncestor, line, resolveCommit, treeOf } from "./git.js";
import { mergeTrees, type MergedTrees } from "./merge-trees.js";
import { revertMessage } from "./messages.js";
import { moveBaseBranch } from "./move-base-branch.js";
import type { Repository } from "./repository.js";
import type { ActionContext } from "./types.js";

export type Undoing = Pick<ActionContext, "settings" | "reason" | "progress">;

/** A merge, and the commit that undid it; none where nothing of it is left and no commit says why. */
export interface UndoneMerge {
  merged: MergeRecord;
  by: MergeRecord | null;
}

/** One commit for each merge, made one upon the other; the branch is moved once, when all of them are there. */
export async function undoMerges(
  repository: Repository,
  context: Undoing,
  branch: string,
  merges: readonly MergeRecord[],
): Promise<UndoneMerge[]> {
  const { settings } = context;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const base = await findBaseBranch(repository, { settings, fields: { git: { base: branch } } });
    const undone: UndoneMerge[] = [];
    let tip = base.head;
    for (const merged of merges) {
      const known = await resolveCommit(repository.git, merged.commit);
      if (known === null || !(await isAncestor(repository.git, known, base.head))) throw notThere(merged);
      const one = await undoMerge(repository, context, merged, { name: branch, head: tip });
      if (one.by?.before === tip) tip = one.by.commit;
      undone.push(one);
    }
    const move = { base: branch, before: base.head, commit: tip, what: "revert", again: AGAIN };
    if (tip === base.head || (await moveBaseBranch(repository, move))) return undone;
    context.progress(`${branch} was moved meanwhile; reverting again\n`);
  }
  throw refused(`the base branch was moved by somebody else ${ATTEMPTS} times while it was being reverted`, {
    hint: AGAIN,
  });
}

/**
 * The files decide whether anything of the merge is left; what a message says only names the commit that undid it. A conflict
 * that a person resolved is different: there, the person's commit has to touch every file that is in question.
 */
async function undoMerge(
  repository: Repository,
  { settings, reason }: Undoing,
  merged: MergeRecord,
  tip: BaseBranch,
): Promise<UndoneMerge> {
  const without = await treesWithout(repository, merged, tip);
  if (without.kind === "conflict") {
    const by = await earlierRevert(repository, merged, tip);
    const left = await diffPaths(repository.git, tip.head, without.tree);
    if (by !== null && (await isResolvedBy(repository, by, without.files, left))) return { merged, by };
    throw await conflict(repository, merged, without.files);
  }
  const { tree } = without;
  if (tree === (await treeOf(repository.git, tip.head))) {
    return { merged, by: await earlierRevert(repository, merged, tip) };
  }
  const content = { tree, parents: [tip.head], message: revertMessage(settings, reason, merged.commit) };
  const commit = await commitTree(repository.git, content, repository.env);
  return { merged, by: { commit, base: tip.name, before: tip.head } };
}

async function earlierRevert(
  repository: Repository,
  merged: MergeRecord,
  tip: BaseBranch,
): Promise<MergeRecord | null> {
  const found = await findRevert(repository, merged.commit, tip.head);
  return found === null ? null : { ...found, base: tip.name };
}

/**
 * The three-way merge of `git revert -m 1`: from the merge, to the base branch's head on one side and to what was before
 * the merge on the other. A commit made for the purpose has the merge as its parent, so that git finds just that ancestor;
 * its message is no revert's, or it could be the very commit of an earlier revert.
 */
async function treesWithout(repository: Repository, merged: MergeRecord, tip: BaseBranch): Promise<MergedTrees> {
  const before = await treeOf(repository.git, merged.before);
  const content = { tree: before, parents: [merged.commit], message: `Without ${merged.commit}\n` };
  const undoing = await commitTree(repository.git, content, repository.env);
  return mergeTrees(repository, tip.head, undoing);
}

async function isResolvedBy(
  { git }: Repository,
  by: MergeRecord,
  files: readonly string[],
  left: readonly { path: string }[],
): Promise<boolean> {
  const touched = (await diffPaths(git, by.before, by.commit)).map(({ path }) => path);
  return files.every((file) => touched.includes(file)) && left.every(({ path }) => files.includes(path));
}

async function flagFor({ git }: Repository, merged: MergeRecord): Promise<string> {
  const parents = line(await git(["show", "--no-patch", "--format=%P", merged.commit])).split(" ");
  return parents.length > 1 ? "-m 1 " : "";
}

async function conflict(repository: Repository, merged: MergeRecord, files: string[]): Promise<Error> {
  return refused(`later commits on ${merged.base} build on the change, in ${files.join(", ")}; nothing was reverted`, {
    hint: `undo it by hand with \`git revert ${await flagFor(repository, merged)}${merged.commit}\` on ${merged.base}, then ${AGAIN}`,
    findings: files.map((file) => ({ message: `cannot be reverted without a conflict`, file })),
    data: { conflicts: files },
  });
}

function notThere(merged: MergeRecord): Error {
  return refused(`${merged.base} does not contain the merge ${merged.commit} any more; nothing was reverted`, {
    hint: `look at \`git log ${merged.base}\`: somebody rewrote it`,
  });
}

const ATTEMPTS = 5;
const AGAIN = "`pawl answer revert` again";
