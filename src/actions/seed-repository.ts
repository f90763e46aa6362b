/** Makes the repository of a task that brings its own files to begin with. */
import { cp, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { invalid } from "../errors.js";
import { commitTree, gitIn, line } from "./git.js";
import { taskMessage } from "./messages.js";
import { exists, isEmptyDirectory, kindOf } from "./paths.js";
import type { TaskSettings } from "./types.js";

/** Does nothing where there is a repository, or anything else, already. */
export async function seedRepository(settings: TaskSettings, signal?: AbortSignal): Promise<string[]> {
  const { repo, seed, env } = settings;
  if (repo === null || seed === null) return [];
  if ((await exists(repo)) && !(await isEmptyDirectory(repo))) return [];
  if ((await kindOf(seed)) !== "directory") {
    throw invalid(`the files to begin with are missing: expected a directory, found none at ${seed}`);
  }
  await mkdir(dirname(repo), { recursive: true });
  // Made beside its place and then renamed: a crash leaves no half-made repository there.
  const draft = await mkdtemp(join(dirname(repo), `.${basename(repo)}.new-`));
  try {
    const filter = (source: string): boolean => basename(source) !== ".git";
    await cp(seed, draft, { recursive: true, verbatimSymlinks: true, filter });
    const git = gitIn(draft, env, signal);
    const branch = settings.baseBranch ?? "main";
    await git(["init", "--quiet", `--initial-branch=${branch}`]);
    await git(["add", "--all", "--", "."]);
    const tree = line(await git(["write-tree"]));
    const message = taskMessage("Start", settings);
    const commit = await commitTree(git, { tree, parents: [], message }, env);
    await git(["update-ref", `refs/heads/${branch}`, commit]);
    await rename(draft, repo);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return [`Made the repository ${repo} from ${seed}.`];
}
