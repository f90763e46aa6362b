/** Refs that keep what would otherwise be lost: `refs/pawl/rescue/<task>/<n>`. */
import { commitTree, line, resolveCommit, treeOf } from "./git.js";
import { taskMessage } from "./messages.js";
import type { Repository } from "./repository.js";
import type { Worktree } from "./worktrees.js";

export interface RescueRef {
  ref: string;
  commit: string;
  tree: string;
  parent: string;
}

/** Keeps a commit; a commit that is kept already gets no second ref, so that a repeated action adds nothing. */
export async function rescueCommit(repository: Repository, id: string, commit: string): Promise<string> {
  const kept = await rescueRefs(repository, id);
  const same = kept.find((one) => one.commit === commit);
  if (same !== undefined) return same.ref;
  const last = Math.max(0, ...kept.map(({ ref }) => numberOf(ref)));
  const ref = `${prefix(id)}${last + 1}`;
  // An empty old value: the ref must not exist yet.
  await repository.git(["update-ref", "-m", "pawl: rescue", ref, commit, ""]);
  return ref;
}

/** Keeps a tree that no commit holds, on top of the commit it grew from. */
export async function rescueTree(
  repository: Repository,
  id: string,
  content: { tree: string; parent: string; what: string },
): Promise<string> {
  const { tree, parent } = content;
  const same = (await rescueRefs(repository, id)).find((one) => one.tree === tree && one.parent === parent);
  if (same !== undefined) return same.ref;
  const message = taskMessage(content.what, { id });
  const commit = await commitTree(repository.git, { tree, parents: [parent], message }, repository.env);
  return rescueCommit(repository, id, commit);
}

/** Keeps what a worktree's index holds, where that differs from its commit; null when it does not. */
export async function rescueIndex(
  repository: Repository,
  id: string,
  { gitDir, head }: Pick<Worktree, "gitDir"> & { head: string },
): Promise<string | null> {
  const index = `${gitDir}/index`;
  const written = await repository.git(["write-tree"], { index, allow: [128] });
  if (written.exitCode !== 0 || (await resolveCommit(repository.git, head)) === null) return null;
  const tree = line(written);
  const empty = (await repository.git(["ls-files", "-z"], { index })).stdout === "";
  if (empty || tree === (await treeOf(repository.git, head))) return null;
  return rescueTree(repository, id, { tree, parent: head, what: "Staged in a worktree that was lost" });
}

/** Oldest first. */
export async function rescueRefs({ git }: Pick<Repository, "git">, id: string): Promise<RescueRef[]> {
  const format = "--format=%(refname) %(objectname) %(tree) %(parent)";
  const listed = line(await git(["for-each-ref", format, prefix(id)]));
  if (listed === "") return [];
  const refs = listed.split("\n").map((entry) => {
    const [ref = "", commit = "", tree = "", parent = ""] = entry.split(" ");
    return { ref, commit, tree, parent };
  });
  return refs.sort((one, other) => numberOf(one.ref) - numberOf(other.ref));
}

function numberOf(ref: string): number {
  return Number(ref.split("/").at(-1));
}

function prefix(id: string): string {
  return `refs/pawl/rescue/${id}/`;
}
