/** After its merge a task needs no worktree and no branch any more; what only they hold is kept. */
import { findBaseBranch } from "./base-branch.js";
import { withMerge, objectOf, type MergeRecord } from "./git-record.js";
import { ABOUT } from "./names.js";
import { putAway } from "./put-away.js";
import { openRepository } from "./repository.js";
import type { Action } from "./types.js";

export const finishBranch: Action = {
  name: "finish-branch",
  about: ABOUT["finish-branch"],
  outside: true,
  run: async (context) => {
    const { settings, artifacts, signal } = context;
    if (settings.repo === null) return {};
    const repository = await openRepository(settings, signal);
    const base = await findBaseBranch(repository, context);
    const { notes } = await putAway(repository, settings, base.head);
    const { commit, base: name, before } = objectOf(artifacts["merge_report"]?.data);
    const isWhole = typeof commit === "string" && typeof name === "string" && typeof before === "string";
    const merged: MergeRecord | null = isWhole ? { commit, base: name, before } : null;
    return { notes, patch: { fields: { git: withMerge(context.fields, merged) } } };
  },
};
