/** The task's repository: found, and known to be the one that is meant. */
import { refused } from "../errors.js";
import { git, gitIn, line, resolveCommit, type Git } from "./git.js";
import { exists } from "./paths.js";
import type { TaskSettings } from "./types.js";

export interface Repository {
  path: string;
  /** Where all worktrees of the repository meet; holds refs, objects and `info/exclude`. */
  commonDir: string;
  bare: boolean;
  env: Record<string, string>;
  git: Git;
}

type Place = Pick<TaskSettings, "repo" | "env">;

export async function openRepository({ repo, env }: Place, signal?: AbortSignal): Promise<Repository> {
  if (repo === null) {
    throw refused("this task has no git repository", {
      hint: "run `git init` in the workspace, or name a repository with --repo",
    });
  }
  if (!(await exists(repo))) {
    throw refused(`the repository ${repo} does not exist`, { hint: "name an existing repository with --repo" });
  }
  // One call: three answers, of which only the last may hold a newline. A bare repository has no second one.
  const args = ["rev-parse", "--is-bare-repository", "--show-cdup", "--path-format=absolute", "--git-common-dir"];
  const answer = await git(args, { cwd: repo, env, allow: [NOT_A_REPOSITORY], signal });
  if (answer.exitCode !== 0) {
    if (!/not a git repository/i.test(answer.stderr)) await git(args, { cwd: repo, env, signal });
    throw refused(`${repo} is not a git repository`, {
      hint: `run \`git init\` there, or name another one with --repo`,
    });
  }
  const [first = "", ...rest] = line(answer).split("\n");
  const bare = first === "true";
  // Work done in some repository further up would be done to files that nobody meant.
  if (!bare && rest[0] !== "") {
    throw refused(`${repo} is not the top directory of a git repository; that is ${rest[0]} from there`, {
      hint: "name the repository's top directory with --repo, or run `git init` there",
    });
  }
  return { path: repo, commonDir: (bare ? rest : rest.slice(1)).join("\n"), bare, env, git: gitIn(repo, env, signal) };
}

export function branchHead(repository: Repository, branch: string): Promise<string | null> {
  return resolveCommit(repository.git, `refs/heads/${branch}`);
}

const NOT_A_REPOSITORY = 128;
