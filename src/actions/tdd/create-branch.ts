/** A branch of its own for the pull request, from the newest state of the base branch. */
import { refused } from "../../errors.js";
import { branchName } from "../../tdd/branch-name.js";
import { excludePatterns } from "../exclude.js";
import { isAncestor, resolveCommit } from "../git.js";
import { inTurn } from "../repository-lock.js";
import { branchHead } from "../repository.js";
import type { TaskSettings } from "../types.js";
import { remember, tddAction } from "./define.js";
import { baseOf, changesIn, fetchUpstream, openWorkTree, requireCommitted, type WorkTree } from "./work-tree.js";

/** What pawl and the agent keep beside the code: no `git add -A`, reset or clean may touch it. */
const OWN_FILES = ["/ACTIVE_PR.json", "/ORCHESTRATION_STATE.json", "/.pawl/"];

export async function excludeOwnFiles(settings: TaskSettings): Promise<void> {
  if (settings.repo === null) return;
  await excludePatterns((await openWorkTree(settings)).repository, OWN_FILES);
}

export const createBranch = tddAction("create-branch", true, async ({ settings, facts, record, signal }) => {
  await excludeOwnFiles(settings);
  const title = facts.pr?.prTitle ?? "";
  if (title.trim() === "")
    throw refused("ACTIVE_PR.json has no prTitle, from which the branch gets its name", {
      hint: 'write "prTitle" into ACTIVE_PR.json, then call get_task',
    });
  const tree = await openWorkTree(settings, signal);
  return inTurn(tree.repository, async () => {
    const { tracked, untracked } = await changesIn(tree);
    requireCommitted(tracked, "a branch is to be checked out");
    const base = await baseOf({ ...tree, branch: null }, settings, {});
    const head = await newestBase(tree, base);
    const { name, exists } = await freeName(tree, branchName(title), head);
    if (!exists) await tree.git(["branch", "--no-track", name, head]);
    if (tree.branch !== name) await tree.git(["checkout", "--quiet", name]);
    await tree.git(["merge", "--quiet", "--ff-only", "--no-stat", head]);
    const own = remember(
      record,
      { base: base.name, untracked, checkpoint: undefined, reviewed: undefined },
      { current_pr_branch: name, last_commit_hash: undefined },
    );
    return { ...own, notes: [`The branch ${name} begins at ${head.slice(0, 12)} of ${base.name}.`] };
  });
});

/** As after `git pull`, without a merge that nobody asked for. */
async function newestBase(tree: WorkTree, base: { name: string; head: string }): Promise<string> {
  const upstream = await fetchUpstream(tree, base.name);
  if (upstream === null || (await isAncestor(tree.git, upstream, base.head))) return base.head;
  if (!(await isAncestor(tree.git, base.head, upstream)))
    throw refused(`${base.name} and its remote branch have different commits, so neither is the newest`, {
      hint: `bring them together by hand (git checkout ${base.name} && git pull), then call get_task`,
    });
  if (tree.branch === base.name) await tree.git(["merge", "--quiet", "--ff-only", "--no-stat", upstream]);
  else await tree.git(["update-ref", `refs/heads/${base.name}`, upstream, base.head]);
  return upstream;
}

/** A branch of that name without a commit of its own is what a killed pawl left; any other one is somebody's work. */
async function freeName(
  { git, repository }: WorkTree,
  wanted: string,
  base: string,
): Promise<{ name: string; exists: boolean }> {
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}-${n}`;
    const head = await branchHead(repository, name);
    if (head === null) {
      // `feat` and `feat/x` cannot both be branches.
      const blocked = await resolveCommit(git, `refs/heads/${name.split("/")[0] ?? ""}`);
      if (blocked === null || !name.includes("/")) return { name, exists: false };
      wanted = wanted.replaceAll("/", "-");
      n = 0;
    } else if (await isAncestor(git, head, base)) return { name, exists: true };
  }
}
