/** Back to the last checkpoint: everything that would be lost is kept under a rescue ref first. */
import { rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { refused } from "../../errors.js";
import { currentOf, goalOf } from "../../tdd/active-pr.js";
import { treeOf } from "../git.js";
import { rescueIndex, rescueTree } from "../rescue.js";
import { writeTree } from "../snapshot.js";
import { remember, tddAction } from "./define.js";
import { changesIn, openWorkTree } from "./work-tree.js";

export const resetWork = tddAction("reset-work", true, async ({ settings, facts, record, signal }) => {
  const { repository, files, git, head } = await openWorkTree(settings, signal);
  if (head === null)
    throw refused("there is no commit to go back to", { hint: "commit something first, then call the tool again" });
  const notes: string[] = [];
  const tree = await writeTree(files);
  if (tree !== (await treeOf(git, head))) {
    const what = "What was there before the scope was reduced";
    const ref = await rescueTree(repository, settings.id, { tree, parent: head, what });
    notes.push(`The work was kept as ${ref}; \`git checkout ${ref} -- .\` brings it back.`);
  }
  const staged = await rescueIndex(repository, settings.id, { gitDir: files.gitDir, head });
  if (staged !== null) notes.push(`What was staged was kept as ${staged}.`);
  await git(["reset", "--quiet", "--hard", "HEAD"]);
  const { untracked } = await changesIn({ git });
  for (const path of untracked.filter((each) => record.untracked?.includes(each) !== true))
    await removeFile(settings.worktree, path);
  const current = facts.pr === undefined ? null : currentOf(facts.pr);
  const goal = current === null ? "(the task is not known)" : `${current.task.taskName ?? ""}: ${goalOf(current)}`;
  return {
    ...remember(record, { replanning: { goal }, pending: undefined, red: undefined, checkpoint: undefined }),
    notes,
  };
});

/** With the directories that it leaves empty. */
async function removeFile(top: string, path: string): Promise<void> {
  await rm(join(top, path), { force: true });
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    try {
      await rmdir(join(top, folder));
    } catch {
      return; // There is something else in it.
    }
  }
}
