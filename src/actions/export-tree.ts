/** Files of a commit or tree, written into a folder outside of any work tree, byte for byte. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { records } from "./git.js";
import type { Repository } from "./repository.js";

/** All files of a tree. */
export async function exportTree(repository: Repository, tree: string, folder: string): Promise<void> {
  await withIndex(repository, tree, folder, (index) =>
    repository.git(["checkout-index", "--all", "--force", `--prefix=${folder}/`], { index }),
  );
}

/** Only what differs from an earlier tree; gives the paths that are gone in the later one. */
export async function exportDifference(
  repository: Repository,
  earlier: string,
  later: string,
  folder: string,
): Promise<string[]> {
  const listed = records(await repository.git(["diff", "--name-status", "--no-renames", "-z", earlier, later]));
  const deleted: string[] = [];
  const written: string[] = [];
  for (let index = 0; index + 1 < listed.length; index += 2)
    (listed[index] === "D" ? deleted : written).push(listed[index + 1] ?? "");
  if (written.length > 0) {
    const input = written.map((path) => `${path}\0`).join("");
    await withIndex(repository, later, folder, (index) =>
      repository.git(["checkout-index", "--force", `--prefix=${folder}/`, "--stdin", "-z"], { index, input }),
    );
  }
  return deleted;
}

/** An index of our own: the repository's is the user's. */
async function withIndex(
  repository: Repository,
  tree: string,
  folder: string,
  use: (index: string) => Promise<unknown>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const index = join(folder, ".pawl-index");
  try {
    await repository.git(["read-tree", tree], { index });
    await use(index);
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}
