/**
 * Files of a worktree that git ignores are in no commit, and may have been written by hand. Whole directories that are ignored
 * can be made again (installed packages, what was built); single files are kept.
 */
import { join } from "node:path";
import { excludeFromGit } from "./exclude.js";
import { records } from "./git.js";
import { list } from "./messages.js";
import { moveOut } from "./move-out.js";
import { withOwnIndex } from "./own-index.js";
import { freePath } from "./paths.js";
import type { Repository } from "./repository.js";
import type { TaskSettings } from "./types.js";
import type { Files } from "./worktrees.js";

/** Moves them to `<workspace>/.pawl/kept/<task>/<n>/`, and says so; also what is left to go with the worktree. */
export async function keepIgnored(repository: Repository, settings: TaskSettings, worktree: Files): Promise<string[]> {
  const ignored = await ignoredPaths(worktree);
  const files = ignored.filter((path) => !path.endsWith("/"));
  // Git also lists a directory of which only the files are ignored, one by one.
  const directories = ignored.filter((path) => path.endsWith("/") && !files.some((file) => file.startsWith(path)));
  const notes: string[] = [];
  if (files.length > 0) {
    const kept = join(settings.workspace, ".pawl", "kept", settings.id);
    await excludeFromGit(repository, kept);
    const place = await freePath(kept, "/");
    for (const path of files) await moveOut(worktree.path, path, place);
    notes.push(`Ignored files of the worktree are kept in ${place}: ${list(files)}.`);
  }
  if (directories.length > 0) notes.push(`Ignored directories go with the worktree: ${list(directories)}.`);
  return notes;
}

function ignoredPaths(worktree: Files): Promise<string[]> {
  const args = ["ls-files", "--others", "--ignored", "--directory", "-z"];
  return withOwnIndex(worktree, async (git, excluded) => records(await git([...args, ...excluded])));
}
