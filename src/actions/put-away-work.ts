/** A task that is given up: its worktree goes, with everything in it that is not committed kept; its branch stays, unless told. */
import { removeTaskBranch, putAwayWorktree } from "./put-away.js";
import { ABOUT } from "./names.js";
import { openRepository } from "./repository.js";
import type { Action } from "./types.js";

export const putAwayWork: Action = {
  name: "put-away-work",
  about: ABOUT["put-away-work"],
  outside: true,
  run: async ({ settings, event, fields, signal }) => {
    // Nobody has worked on it yet.
    if (settings.repo === null || fields["git"] === undefined) return {};
    const repository = await openRepository(settings, signal);
    const { notes, refs } = await putAwayWorktree(repository, settings);
    if (event.payload["deleteBranch"] === true)
      notes.push(...(await removeTaskBranch(repository, settings, null, refs)).notes);
    else notes.push(`The branch ${settings.branch} is kept.`);
    return { notes };
  },
};
