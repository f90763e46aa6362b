/**
 * A conflict with the base branch, laid before whoever mends it: the branch gets the base branch merged into it as far as that
 * goes, and the files that conflict hold marks. Safe to repeat: a branch that has the base branch in it is left alone.
 */
import { refused } from "../errors.js";
import { objectOf } from "./git-record.js";
import { commitTree, isAncestor, resolveCommit, treeOf } from "./git.js";
import { mergeTrees } from "./merge-trees.js";
import { list, taskMessage } from "./messages.js";
import { ABOUT } from "./names.js";
import { openRepository } from "./repository.js";
import { takeSnapshot } from "./snapshot.js";
import type { Action, ActionContext, ActionResult } from "./types.js";

/** Remembers which commit could not be merged, until it is brought in. */
export const noteConflict: Action = {
  name: "note-conflict",
  about: ABOUT["note-conflict"],
  outside: false,
  run: async ({ artifacts }) => {
    const { base, files } = objectOf(artifacts["merge_report"]?.data);
    return { patch: { fields: { conflict: { base, files } } } };
  },
};

export const bringBase: Action = { name: "bring-base", about: ABOUT["bring-base"], outside: true, run };

async function run(context: ActionContext): Promise<ActionResult> {
  const { settings, fields, signal } = context;
  const { base } = objectOf(fields["conflict"]);
  const done = { patch: { fields: { conflict: undefined } } };
  if (typeof base !== "string") return done;
  const repository = await openRepository(settings, signal);
  const { worktree, tree } = await takeSnapshot(repository, settings, signal);
  const head = await resolveCommit(worktree.git, "HEAD");
  if (head === null) throw refused(`the branch ${settings.branch} has no commit`);
  if (await isAncestor(repository.git, base, head)) return { ...done, notes: [`${base} is in ${settings.branch}.`] };
  if (tree !== (await treeOf(worktree.git, head)))
    throw refused(`there is work in ${settings.worktree} that is not committed; the base branch cannot be brought in`, {
      hint: `commit it there, or put it elsewhere; then pawl next ${settings.id}`,
    });
  const merged = await mergeTrees(repository, head, base);
  const message = taskMessage(`Merge the base branch into ${settings.branch}`, settings);
  const commit = await commitTree(
    repository.git,
    { tree: merged.tree, parents: [head, base], message },
    repository.env,
  );
  await worktree.git(["reset", "--quiet", "--hard", commit]);
  const files = merged.kind === "conflict" ? merged.files : [];
  return { ...done, notes: [`Merged ${base} into ${settings.branch}; to be mended: ${list(files)}.`] };
}
