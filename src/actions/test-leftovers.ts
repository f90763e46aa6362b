/**
 * What a test run left in the worktree. The change that was reviewed must still be the one that is there afterwards, and
 * nothing is destroyed: new files are moved out, changes of known files are kept as a patch and then taken back.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { diffPatch, diffPaths } from "./diff.js";
import { line } from "./git.js";
import { list } from "./messages.js";
import { moveOut } from "./move-out.js";
import { withOwnIndex } from "./own-index.js";
import type { Repository } from "./repository.js";
import { readyWorktree, writeTree, type Snapshot } from "./snapshot.js";
import type { TaskSettings } from "./types.js";
import type { Worktree } from "./worktrees.js";

export interface Keep {
  /** Where leftovers go. */
  runDir: string;
  runPath: string;
}

export async function restoreWorktree(
  repository: Repository,
  settings: TaskSettings,
  before: Snapshot,
  keep: Keep,
): Promise<string[]> {
  const worktree = await readyWorktree(repository, settings);
  if ("message" in worktree) return [`After the test run, ${worktree.message}.`];
  const notes = await takeBack(worktree, before.tree, keep);
  if (notes.length === 0) return [];
  const restored = await writeTree(worktree);
  if (restored !== before.tree) {
    const different = (await diffPaths(worktree.git, before.tree, restored)).map(({ path }) => path);
    notes.push(`Not restored after the test run: ${list(different)}.`);
  }
  return notes;
}

function takeBack(worktree: Worktree, before: string, keep: Keep): Promise<string[]> {
  return withOwnIndex(worktree, async (git) => {
    const after = line(await git(["write-tree"]));
    const changes = await diffPaths(git, before, after);
    const added = changes.filter(({ status }) => status === "A").map(({ path }) => path);
    const changed = changes.filter(({ status }) => status !== "A").map(({ path }) => path);
    const notes: string[] = [];
    for (const path of added) await moveOut(worktree.path, path, join(keep.runDir, LEFT));
    if (added.length > 0) {
      notes.push(`The test run left new files; they were moved to ${keep.runPath}/${LEFT}: ${list(added)}.`);
    }
    if (changed.length > 0) {
      await writeFile(join(keep.runDir, PATCH), await diffPatch(git, before, after, WITHOUT_NEW_FILES));
      // From the state that the index holds: only what differs is written.
      await git(["read-tree", "--reset", "-u", before]);
      notes.push(
        `The test run changed files of the project: ${list(changed)}. ` +
          `They were restored; what it did is kept in ${keep.runPath}/${PATCH}.`,
      );
    }
    return notes;
  });
}

const LEFT = "left";
const PATCH = "changed-by-tests.patch";
const WITHOUT_NEW_FILES = ["--no-renames", "--diff-filter=a"];
