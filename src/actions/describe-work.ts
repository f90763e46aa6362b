/**
 * What a reviewer is about to judge: the change as it is now, which may be none, in a task that may have no repository. Nobody
 * planned it, so that nothing of it is out of scope.
 */
import { check as checkChange, describeChange, type ChangeReport } from "./derive-change.js";
import { resolveCommit, treeOf } from "./git.js";
import { ABOUT } from "./names.js";
import { openRepository } from "./repository.js";
import { readyWorktree, writeTree } from "./snapshot.js";
import type { Maker } from "./types.js";

export const NO_REPOSITORY: Omit<ChangeReport, "patch"> = { base: "", head: "", tree: "", files: [], out_of_scope: [] };

/** What pawl itself committed, such as a merge to be mended, is nobody's work. */
async function hasNewWork({ settings, signal }: Parameters<NonNullable<Maker["ready"]>>[0]): Promise<boolean> {
  const worktree = await readyWorktree(await openRepository(settings, signal), settings, signal);
  if ("message" in worktree) return false;
  const head = await resolveCommit(worktree.git, "HEAD");
  return head !== null && (await writeTree(worktree)) !== (await treeOf(worktree.git, head));
}

export const describeWork: Maker = {
  name: "describe-work",
  about: ABOUT["describe-work"],
  make: async (context) => (context.settings.repo === null ? { data: NO_REPOSITORY } : describeChange(context)),
  ready: async (context) => context.settings.repo === null || hasNewWork(context),
  check: async (context, data) => (context.settings.repo === null ? null : checkChange(context, data)),
};
