/** Keeps pawl's own directories out of `git status` and `git add -A`, without touching the user's `.gitignore`. */
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { codeOf } from "../errors.js";
import { realPath } from "./paths.js";
import type { Repository } from "./repository.js";

/** Adds the pattern for a worktree that lies inside the repository's own work tree; once. */
export async function excludeFromGit(repository: Repository, worktree: string): Promise<void> {
  if (repository.bare) return;
  const inside = relative(await realPath(repository.path), await realPath(worktree));
  if (inside === "" || inside === ".." || inside.startsWith(`..${sep}`)) return;
  await excludePatterns(repository, [patternFor(inside.split(sep))]);
}

/** Each pattern once, in `info/exclude`. */
export async function excludePatterns(
  repository: Pick<Repository, "commonDir">,
  patterns: readonly string[],
): Promise<void> {
  const file = join(repository.commonDir, "info", "exclude");
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return "";
    throw error;
  });
  const known = text.split(/\r?\n/);
  const missing = patterns.filter((pattern) => !known.includes(pattern));
  if (missing.length === 0) return;
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, `${text === "" || text.endsWith("\n") ? "" : "\n"}${missing.join("\n")}\n`);
}

function patternFor(parts: string[]): string {
  const own = parts.indexOf(".pawl");
  const path = own === -1 ? parts : parts.slice(0, own + 1);
  return `/${path.map((part) => part.replace(/[\\*?[\]]/g, "\\$&")).join("/")}/`;
}
