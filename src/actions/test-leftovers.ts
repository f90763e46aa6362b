/**
 * What a test run left in the worktree. The change that was reviewed must still be the one that is there afterwards, and
 * nothing is destroyed: new files are moved out, changes of known files are kept as a patch and then taken back.
 */
import { cp, mkdir, mkdtemp, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { codeOf } from "../errors.js";
import { diffPatch, diffPaths } from "./diff.js";
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
  const after = await writeTree(worktree);
  if (after === before.tree) return [];
  const notes: string[] = [];
  const changes = await diffPaths(worktree.git, before.tree, after);
  const added = changes.filter(({ status }) => status === "A").map(({ path }) => path);
  const changed = changes.filter(({ status }) => status !== "A").map(({ path }) => path);
  if (changed.length > 0) {
    // Kept first: moving files out of the way below must not be part of the patch.
    await writeFile(join(keep.runDir, PATCH), await diffPatch(worktree.git, before.tree, after, changed));
  }
  for (const path of added) await moveOut(worktree.path, path, join(keep.runDir, LEFT));
  if (added.length > 0) {
    notes.push(`The test run left new files; they were moved to ${keep.runPath}/${LEFT}: ${list(added)}.`);
  }
  if (changed.length > 0) {
    await checkOut(worktree, before.tree, changed);
    notes.push(
      `The test run changed files of the project: ${list(changed)}. ` +
        `They were restored; what it did is kept in ${keep.runPath}/${PATCH}.`,
    );
  }
  const restored = await writeTree(worktree);
  if (restored !== before.tree) {
    const different = (await diffPaths(worktree.git, before.tree, restored)).map(({ path }) => path);
    notes.push(`Not restored after the test run: ${list(different)}.`);
  }
  return notes;
}

async function moveOut(root: string, path: string, to: string): Promise<void> {
  const target = join(to, path);
  await mkdir(dirname(target), { recursive: true });
  await moveAcross(join(root, path), target);
  // Git knows no directories; one that is empty now was made for what is gone from it.
  for (let parent = dirname(path); parent !== "."; parent = dirname(parent)) {
    const removed = await rmdir(join(root, parent)).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}

async function moveAcross(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (codeOf(error) !== "EXDEV") throw error;
    await cp(from, to, { recursive: true, verbatimSymlinks: true });
    await rm(from, { recursive: true, force: true });
  }
}

/** Through an index of its own, so that nothing becomes staged in the worktree's. */
async function checkOut({ git }: Worktree, tree: string, paths: string[]): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "pawl-index-"));
  try {
    const index = join(directory, "index");
    await git(["read-tree", tree], { index });
    const input = paths.map((path) => `${path}\0`).join("");
    await git(["checkout-index", "--force", "-z", "--stdin"], { index, input });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function list(paths: string[]): string {
  const more = paths.length > 10 ? ` and ${paths.length - 10} more` : "";
  return `${paths.slice(0, 10).join(", ")}${more}`;
}

const LEFT = "left";
const PATCH = "changed-by-tests.patch";
