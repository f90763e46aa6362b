/** What a merge of two commits would be, computed without any checkout. */
import { failed } from "../errors.js";
import { records } from "./git.js";
import type { Repository } from "./repository.js";

/** The tree of a conflict holds the files that could be merged as they would be; those named hold marks. */
export type MergedTrees = { kind: "clean"; tree: string } | { kind: "conflict"; tree: string; files: string[] };

export async function mergeTrees({ git }: Repository, ours: string, theirs: string): Promise<MergedTrees> {
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs];
  const result = await git(args, { allow: [CONFLICT] });
  const [tree, ...rest] = records(result);
  if (tree === undefined) throw failed(`git merge-tree named no tree for ${ours} and ${theirs}`);
  if (result.exitCode === 0) return { kind: "clean", tree };
  return { kind: "conflict", tree, files: [...new Set(rest.filter((file) => file !== ""))] };
}

const CONFLICT = 1;
