/**
 * Which of a user's files in a checkout would be overwritten when its branch moves. Git itself protects most of them;
 * not those that are ignored or marked "assume unchanged", and it names them only once it has been asked to move.
 */
import { readdir } from "node:fs/promises";
import { join, posix } from "node:path";
import { diffPaths } from "./diff.js";
import { records, type Git } from "./git.js";
import { exists, kindOf } from "./paths.js";

export interface Move {
  from: string;
  to: string;
}

export async function endangeredFiles(git: Git, checkout: string, { from, to }: Move): Promise<string[]> {
  const touched = await diffPaths(git, from, to);
  const paths = new Set(touched.map(({ path }) => path));
  const removed = new Set(touched.filter(({ status }) => status === "D").map(({ path }) => path));
  const endangered = new Set<string>();
  for (const path of await uncommittedPaths(git)) if (paths.has(path)) endangered.add(path);
  for (const path of await hiddenPaths(git)) {
    if (paths.has(path) && (await exists(join(checkout, path)))) endangered.add(path);
  }
  for (const { status, path } of touched) {
    if (status !== "A") continue;
    for (const found of await inTheWay(checkout, path)) if (!removed.has(found)) endangered.add(found);
  }
  return [...endangered].sort();
}

/** Staged and unstaged changes of tracked files. */
async function uncommittedPaths(git: Git): Promise<string[]> {
  const args = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=none"];
  return records(await git(args)).map((entry) => entry.slice(3));
}

/** Tracked files whose changes git was told not to look at. */
async function hiddenPaths(git: Git): Promise<string[]> {
  const entries = records(await git(["ls-files", "-v", "-z"]));
  return entries.filter((entry) => /^[a-zS]/.test(entry)).map((entry) => entry.slice(2));
}

/** What lies where a new file is to be: the file itself, all in a directory of its name, or a file that is to be its directory. */
async function inTheWay(checkout: string, path: string): Promise<string[]> {
  for (let parent = posix.dirname(path); parent !== "."; parent = posix.dirname(parent)) {
    const kind = await kindOf(join(checkout, parent));
    if (kind === "file" || kind === "other") return [parent];
  }
  const kind = await kindOf(join(checkout, path));
  if (kind === "missing") return [];
  return kind === "directory" ? filesBelow(checkout, path) : [path];
}

async function filesBelow(checkout: string, directory: string): Promise<string[]> {
  const entries = await readdir(join(checkout, directory), { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = posix.join(directory, entry.name);
      return entry.isDirectory() ? filesBelow(checkout, path) : [path];
    }),
  );
  return found.flat();
}
