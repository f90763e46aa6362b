/** Was this commit merged already, by an earlier run that died before it could say so, or by a person? */
import { isAncestor, line } from "./git.js";
import type { Repository } from "./repository.js";

export interface FoundMerge {
  commit: string;
  /** Where the base branch stood before the merge. */
  before: string;
}

/** The merge commit below `base` that brought `head` in; null when there is none. */
export async function findMerge({ git }: Repository, head: string, base: string): Promise<FoundMerge | null> {
  if (!(await isAncestor(git, head, base))) return null;
  const listed = line(await git(["rev-list", "--merges", "--parents", "--ancestry-path", `${head}..${base}`]));
  // Oldest first: a later merge that has the same commit as parent brought nothing in.
  for (const entry of listed.split("\n").reverse()) {
    const [commit = "", before = "", ...others] = entry.split(" ");
    if (others.includes(head)) return { commit, before };
  }
  return null;
}
