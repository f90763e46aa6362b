/**
 * Which new files are no part of a change: those that the project's own `.gitignore` files name, which are reviewed like any
 * file, and those that the user never wants anywhere. Not what the repository's own configuration or `info/exclude` say:
 * an agent can write there unseen.
 */
import { join } from "node:path";
import { records } from "./git.js";
import { kindOf } from "./paths.js";
import type { Files } from "./worktrees.js";

/** Arguments of `git ls-files`. */
export type Exclusions = readonly string[];

export async function exclusions(files: Pick<Files, "git" | "env">): Promise<Exclusions> {
  const file = await configuredByUser(files);
  const usable = file !== null && !["missing", "directory"].includes(await kindOf(file));
  return ["--exclude-per-directory=.gitignore", ...(usable ? [`--exclude-from=${file}`] : [])];
}

async function configuredByUser({ git, env }: Pick<Files, "git" | "env">): Promise<string | null> {
  const args = ["config", "-z", "--show-scope", "--type=path", "--get-all", "core.excludesFile"];
  const found = records(await git(args, { allow: [1] }));
  let file: string | null = null;
  for (let i = 0; i + 1 < found.length; i += 2) {
    if (found[i] !== "local" && found[i] !== "worktree") file = found[i + 1] ?? null;
  }
  if (file !== null) return file;
  const configuration = env["XDG_CONFIG_HOME"] || (env["HOME"] ? join(env["HOME"], ".config") : "");
  return configuration === "" ? null : join(configuration, "git", "ignore");
}
