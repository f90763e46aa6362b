/** The mark in the master plan is committed on the branch, so that the merge begins with a clean work tree. */
import { identity } from "../git.js";
import { tddAction } from "./define.js";
import { changesIn, openWorkTree } from "./work-tree.js";

export const commitPlan = tddAction("commit-plan", true, async ({ settings, facts, signal }) => {
  const { planFile, pr } = facts;
  if (planFile === undefined || settings.repo === null) return { notes: ["There is no master plan to commit."] };
  const tree = await openWorkTree(settings, signal);
  const { tracked, untracked } = await changesIn(tree);
  if (![...tracked, ...untracked].includes(planFile)) return {};
  const env = await identity(tree.git, settings.env);
  const message = `docs: mark ${JSON.stringify(pr?.prTitle ?? "the pull request")} as done`;
  await tree.git(["add", "--", planFile], { env });
  await tree.git(["commit", "--quiet", "--no-gpg-sign", "-m", message, "--", planFile], { env });
  return { notes: [`${planFile} was committed on ${tree.branch ?? "a detached HEAD"}.`] };
});
