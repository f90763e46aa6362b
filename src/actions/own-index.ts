/**
 * A git index of pawl's own, that holds the files of a worktree as they are. Whoever works there may write to its index and
 * configuration as well, and could have git believe that a file is something else than the tests see. So of the worktree's
 * index only the names of the tracked files are taken; every file is read and hashed anew.
 */
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, refused } from "../errors.js";
import { fileSystemSettings } from "./file-system.js";
import { line, records, type Git, type GitResult } from "./git.js";
import { exclusions, type Exclusions } from "./exclusions.js";
import { isEmptyDirectory } from "./paths.js";
import type { Files } from "./worktrees.js";

/** Git with that index, for as long as `use` takes. */
export async function withOwnIndex<T>(files: Files, use: (git: Git, excluded: Exclusions) => Promise<T>): Promise<T> {
  // Beside the index, so that what the file system can do is found out about the right one.
  const directory = await mkdtemp(join(files.gitDir, "pawl-index-"));
  try {
    const settings = [...HONEST, ...(await fileSystemSettings(directory))].flatMap((setting) => ["-c", setting]);
    const index = join(directory, "index");
    const git: Git = (args, options) => files.git([...settings, ...args], { index, ...options });
    const excluded = await exclusions(files);
    const tracked = await trackedTree(git, files, join(directory, "tracked"));
    if (tracked !== null) await git(["read-tree", tracked]);
    await dropEmptyShells(git, files);
    await addAll(git, files, excluded);
    return await use(git, excluded);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Configuration that could keep git from looking at a file. */
const HONEST = [
  "core.trustctime=true",
  "core.checkStat=default",
  "core.ignoreStat=false",
  "core.sparseCheckout=false",
  "add.ignoreErrors=false",
];

/**
 * A tree with the names of the files that are tracked. What else it says of them is overwritten, because an index that is read
 * from a tree knows no time stamps and no flags: git has to look at each file.
 */
async function trackedTree(git: Git, { gitDir }: Files, copy: string): Promise<string | null> {
  if (await copied(join(gitDir, "index"), copy)) {
    // A conflict has no tree; what is tracked is then what was before.
    const written = await git(["write-tree", "--missing-ok"], { index: copy, allow: [FATAL] });
    if (written.exitCode === 0) return line(written);
  }
  const head = await git(["rev-parse", "--verify", "--quiet", "HEAD^{tree}"], { allow: [1] });
  return head.exitCode === 0 ? line(head) : null;
}

async function copied(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/**
 * Git looks at nothing below the name of a submodule. Where it is not checked out, its commit stands in for it; where something
 * else lies in its place, these are files like any other.
 */
async function dropEmptyShells(git: Git, { path }: Files): Promise<void> {
  const shells: string[] = [];
  for (const submodule of await submodules(git)) {
    if (submodule.includes("\ufffd")) {
      throw refused(`cannot judge the submodule ${submodule} in ${path}: its name is no UTF-8`, {
        hint: "rename the submodule",
      });
    }
    const place = join(path, submodule);
    if (!(await isEmptyDirectory(place)) && !(await hasCommit(git, place))) shells.push(submodule);
  }
  const input = shells.map((shell) => `${shell}\0`).join("");
  if (input !== "") await git(["update-index", "--force-remove", "-z", "--stdin"], { input });
}

/** Submodules and other repositories inside the worktree, as the index has them. */
export async function submodules(git: Git): Promise<string[]> {
  const staged = records(await git(["ls-files", "--stage", "-z"])).filter((entry) => entry.startsWith("160000 "));
  return staged.map((entry) => entry.slice(entry.indexOf("\t") + 1));
}

/** Files that are not in the index though nothing that counts excludes them; a repository has a slash at its end. */
export async function others(git: Git, excluded: Exclusions): Promise<string[]> {
  return records(await git(["ls-files", "--others", "-z", ...excluded]));
}

async function addAll(git: Git, { path }: Files, excluded: Exclusions): Promise<void> {
  const all = ["-c", "advice.addEmbeddedRepo=false", "add", "--all", "--", "."];
  const result = await git(all, { allow: [FATAL] });
  if (result.exitCode !== 0) {
    if (!isRepositoryWithoutCommit(result)) await git(all); // Fails again, with its own message.
    // It has nothing that a tree could hold.
    const nested = (await others(git, excluded)).filter((one) => one.endsWith("/"));
    await git([...all, ...nested.map((one) => `:(exclude,literal,top)${one.slice(0, -1)}`)]);
  }
  await addHidden(git, path, await others(git, excluded));
}

/** `git add` also obeys lists outside of the project's files, which nobody reviews. */
async function addHidden(git: Git, path: string, hidden: string[]): Promise<void> {
  let input = "";
  for (const one of hidden) {
    const nested = one.endsWith("/");
    if (!nested || (await hasCommit(git, join(path, one)))) input += `${nested ? one.slice(0, -1) : one}\0`;
  }
  if (input === "") return;
  const add = ["-c", "advice.addEmbeddedRepo=false", "--literal-pathspecs", "add", "--force"];
  await git([...add, "--pathspec-from-file=-", "--pathspec-file-nul"], { input });
}

async function hasCommit(git: Git, place: string): Promise<boolean> {
  const args = ["-C", place, "--git-dir=.git", "rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
  return (await git(args, { allow: [1, FATAL] })).exitCode === 0;
}

function isRepositoryWithoutCommit(result: GitResult): boolean {
  return result.stderr.includes("does not have a commit checked out");
}

const FATAL = 128;
