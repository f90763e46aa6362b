/** The pull request's branch goes into the base branch, and then goes. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { refused } from "../../errors.js";
import { identity, isAncestor, resolveCommit } from "../git.js";
import { mergeTrees } from "../merge-trees.js";
import { inTurn } from "../repository-lock.js";
import { branchHead } from "../repository.js";
import type { TaskSettings } from "../types.js";
import { operationInProgress } from "../worktrees.js";
import { remember, tddAction } from "./define.js";
import { putPlanAway } from "./plan-actions.js";
import {
  baseOf,
  branchOf,
  changesIn,
  fetchUpstream,
  openWorkTree,
  requireCommitted,
  type WorkTree,
} from "./work-tree.js";

interface Merge {
  tree: WorkTree;
  branch: string;
  head: string | null;
  base: { name: string; head: string };
  upstream: string | null;
  standing: "clean" | "conflict" | "already";
}

type Fields = Readonly<Record<string, unknown>>;

/** What the merge would come to. Changes nothing but what is known of the remote, and ends a merge that a killed pawl began. */
export async function probeMerge(settings: TaskSettings, fields: Fields, signal?: AbortSignal): Promise<Merge> {
  const tree = await openWorkTree(settings, signal);
  const base = await baseOf(tree, settings, fields);
  const branch = branchOf(fields) ?? (tree.branch === base.name ? null : tree.branch);
  if (branch === null)
    throw refused(
      "which branch is to be merged is not known: current_pr_branch is not set, and the base branch is checked out",
      {
        hint: "check the pull request's branch out, then call get_task",
      },
    );
  const head = await branchHead(tree.repository, branch);
  await endOwnMerge(tree, head);
  const { tracked } = await changesIn(tree);
  requireCommitted(tracked, `${base.name} is to be checked out`);
  const upstream = await fetchUpstream(tree, base.name);
  const merge = { tree, branch, head, base, upstream };
  if (head === null) return { ...merge, standing: await goneAlready(merge, fields) };
  if (await isAncestor(tree.git, head, base.head)) return { ...merge, standing: "already" };
  return { ...merge, standing: (await hasConflict(merge, head)) ? "conflict" : "clean" };
}

export const mergeBranch = tddAction("merge-branch", true, async ({ settings, fields, facts, signal }) => {
  const { repository } = await openWorkTree(settings, signal);
  await inTurn(repository, async () => {
    const merge = await probeMerge(settings, fields, signal);
    if (merge.standing === "conflict")
      throw refused(`${merge.branch} can no longer be merged without a conflict`, { hint: "call get_task again" });
    await mergeNow(merge, settings);
  });
  const { hash, files, notes = [] } = putPlanAway(facts.pr);
  return {
    // The next pull request begins with nothing.
    ...remember({}, { putAway: hash }, { current_pr_branch: undefined, last_error: undefined }),
    ...(files === undefined ? {} : { files }),
    notes: [`${branchOf(fields) ?? "The branch"} was merged.`, ...notes],
  };
});

async function mergeNow({ tree, branch, head, base, upstream }: Merge, settings: TaskSettings): Promise<void> {
  const { git, repository } = tree;
  const env = await identity(git, settings.env);
  if (tree.branch !== base.name) await git(["checkout", "--quiet", base.name]);
  if (upstream !== null && !(await isAncestor(git, upstream, base.head)))
    await git(["merge", "--quiet", "--no-stat", "--no-edit", "--no-gpg-sign", upstream], { env });
  if (head === null) return;
  if (!(await isAncestor(git, head, "HEAD")))
    await git(["merge", "--quiet", "--no-stat", "--no-ff", "--no-edit", "--no-gpg-sign", branch], { env });
  // Known to be in the base branch: whether it is in some remote branch too, which git would ask, does not matter.
  await repository.git(["update-ref", "-d", `refs/heads/${branch}`, head]);
}

/** Against the base branch as it will be: with what the remote has, too. */
async function hasConflict({ tree, base, upstream }: Omit<Merge, "standing">, head: string): Promise<boolean> {
  const { repository, git } = tree;
  if (upstream === null || (await isAncestor(git, upstream, base.head)))
    return (await mergeTrees(repository, base.head, head)).kind === "conflict";
  if (await isAncestor(git, base.head, upstream))
    return (await mergeTrees(repository, upstream, head)).kind === "conflict";
  for (const [one, other] of [
    [base.head, upstream],
    [base.head, head],
    [upstream, head],
  ] as const)
    if ((await mergeTrees(repository, one, other)).kind === "conflict") return true;
  return false;
}

/** The branch is gone. That counts as merged where its commit is in the base branch, or where a human says so. */
async function goneAlready({ tree, branch, base }: Omit<Merge, "standing">, fields: Fields): Promise<"already"> {
  const commit = fields["last_commit_hash"];
  const merged =
    typeof commit === "string" &&
    (await resolveCommit(tree.git, commit)) !== null &&
    (await isAncestor(tree.git, commit, base.head));
  if (merged || typeof fields["note"] === "string") return "already";
  throw refused(`the branch ${branch} is gone, and its commit is not in ${base.name}`, {
    hint: `make it again: git branch ${branch} ${typeof commit === "string" ? commit : "<commit>"}; then call get_task`,
  });
}

/** A merge of this very branch that is under way is one that was killed; whatever else is under way is somebody's. */
async function endOwnMerge({ files, git }: WorkTree, head: string | null): Promise<void> {
  const operation = await operationInProgress(files.gitDir);
  if (operation === null) return;
  const merging = await readFile(join(files.gitDir, "MERGE_HEAD"), "utf8").catch(() => "");
  if (operation === "merge" && head !== null && merging.trim() === head) await git(["merge", "--abort"]);
  else
    throw refused(`a ${operation} is under way in ${files.path}`, {
      hint: `finish it, or \`git ${operation} --abort\`; then call get_task`,
    });
}
