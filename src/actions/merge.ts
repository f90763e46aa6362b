/** Merges a task's branch into the base branch, as one merge commit, and puts worktree and branch away. */
import { refused } from "../errors.js";
import { findBaseBranch } from "./base-branch.js";
import { diffPaths } from "./diff.js";
import { acceptedChange, type AcceptedChange } from "./evidence.js";
import { findMerge } from "./find-merge.js";
import { objectOf, withMerge, type MergeRecord } from "./git-record.js";
import { commitTree, isAncestor, treeOf } from "./git.js";
import { mergeTrees } from "./merge-trees.js";
import { list, taskMessage } from "./messages.js";
import { moveBaseBranch } from "./move-base-branch.js";
import { ABOUT } from "./names.js";
import { putAway } from "./put-away.js";
import { branchHead, openRepository, type Repository } from "./repository.js";
import { inTurn } from "./repository-lock.js";
import { readyWorktree, writeTree } from "./snapshot.js";
import type { Action, ActionContext, ActionResult } from "./types.js";

export const merge: Action = { name: "merge", about: ABOUT.merge, outside: true, run };

async function run(context: ActionContext): Promise<ActionResult> {
  const { settings, signal } = context;
  if (settings.repo === null) return { notes: ["There is no repository to merge into."] };
  const repository = await openRepository(settings, signal);
  const judged = judgedChange(context);
  const tested = testedTree(context);
  const head = await headToMerge(repository, context, judged);
  await refuseUntested(repository, context, head, { judged, tested });
  const { merged, note } = await inTurn(repository, () => mergeOnce(repository, context, head, judged));
  const notes = [note];
  if (judged === null) notes.push("The change was waived by a human: nothing says that it was reviewed and tested.");
  if (merged !== null && tested !== null && (await treeOf(repository.git, merged.commit)) !== tested) {
    notes.push(`${merged.base} went on since the tests ran; what was merged with it was not tested together.`);
  }
  const base = await findBaseBranch(repository, context);
  notes.push(...(await putAway(repository, settings, base.head)).notes);
  return { notes, patch: { fields: { git: withMerge(context.fields, merged) } } };
}

async function mergeOnce(
  repository: Repository,
  context: ActionContext,
  head: string,
  judged: AcceptedChange | null,
): Promise<{ merged: MergeRecord | null; note: string }> {
  const { settings } = context;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const base = await findBaseBranch(repository, context);
    const isIn = await isAncestor(repository.git, head, base.head);
    // What came in after a merge that was not recorded is kept when the worktree is put away. Nobody says of a waived change
    // that it was ever complete.
    if (!isIn || judged === null) await refuseDifferentWorktree(repository, context, head, judged);
    if (isIn) return alreadyIn(repository, base, head, judged);
    const merged = await mergeTrees(repository, base.head, head);
    if (merged.kind === "conflict") throw conflict(context, base.name, merged.files);
    const message = taskMessage(`Merge ${settings.title || settings.id}`, settings);
    const content = { tree: merged.tree, parents: [base.head, head], message };
    const commit = await commitTree(repository.git, content, repository.env);
    const record: MergeRecord = { commit, base: base.name, before: base.head };
    if (await moveBaseBranch(repository, { ...record, what: "merge", again: context.again })) {
      return { merged: record, note: `Merged ${settings.branch} into ${base.name} as ${commit}.` };
    }
    context.progress(`${base.name} was moved meanwhile; merging again\n`);
  }
  throw refused(`the base branch was moved by somebody else ${ATTEMPTS} times while it was being merged into`, {
    hint: context.again,
  });
}

/** An earlier run died after it had merged, or a person merged: never a second time. */
async function alreadyIn(
  repository: Repository,
  base: { name: string; head: string },
  head: string,
  judged: AcceptedChange | null,
): Promise<{ merged: MergeRecord | null; note: string }> {
  const found = await findMerge(repository, head, base.head);
  if (found !== null) {
    return { merged: { ...found, base: base.name }, note: `Already merged into ${base.name} as ${found.commit}.` };
  }
  if (judged === null || judged.base === head)
    return { merged: null, note: `There is nothing to merge into ${base.name}.` };
  // Fast-forwarded by hand: there is no merge commit, but the change can still be undone as a whole.
  return {
    merged: { commit: head, base: base.name, before: judged.base },
    note: `${base.name} contains ${head} already, without a merge commit.`,
  };
}

/** What was reviewed and tested; null when a human waived it. Anything else opens nothing. */
function judgedChange({ artifacts, back }: ActionContext): AcceptedChange | null {
  const status = artifacts["change"];
  if (status?.condition === "waived") return null;
  const change = acceptedChange(artifacts);
  if (status?.condition !== "ok" || change === null) {
    throw refused(
      `the change to merge is ${status?.condition ?? "missing"}, expected one that was reviewed and tested`,
      {
        hint: back,
        findings: status?.findings ?? [],
      },
    );
  }
  return change;
}

/** What the tests ran on; null where no sound report says so. */
function testedTree({ artifacts }: ActionContext): string | null {
  const tests = artifacts["tests"];
  const tree = tests?.condition === "ok" ? objectOf(tests.data)["tree"] : undefined;
  return typeof tree === "string" ? tree : null;
}

/** Whatever was waived: tests speak for what they ran on and for nothing else. */
async function refuseUntested(
  repository: Repository,
  context: ActionContext,
  head: string,
  { judged, tested }: { judged: AcceptedChange | null; tested: string | null },
): Promise<void> {
  const tree = await treeOf(repository.git, head);
  if (tested === null || tested === tree) return;
  throw refused(`what was tested (${tested}) is not what would be merged (${tree}, of the commit ${head})`, {
    hint: judged === null ? commitThere(context) : context.back,
    data: { tested, tree, head },
  });
}

async function headToMerge(
  repository: Repository,
  context: ActionContext,
  judged: AcceptedChange | null,
): Promise<string> {
  const { settings } = context;
  const head = await branchHead(repository, settings.branch);
  if (judged === null) {
    if (head !== null) return head;
    throw refused(`there is no branch ${settings.branch} to merge`, { hint: context.back });
  }
  if (head === null) {
    // Gone after a merge that was not recorded; then the base branch has it.
    const base = await findBaseBranch(repository, context);
    if (await isAncestor(repository.git, judged.head, base.head)) return judged.head;
    throw refused(`there is no branch ${settings.branch} to merge`, {
      hint: `git branch ${settings.branch} ${judged.head} brings back what was reviewed and tested`,
    });
  }
  const tree = await treeOf(repository.git, head);
  if (head === judged.head && tree === judged.tree) return head;
  throw refused(
    `the branch ${settings.branch} is not what was reviewed and tested: expected ${judged.head}, found ${head}`,
    {
      hint: context.back,
      data: { expected: { head: judged.head, tree: judged.tree }, found: { head, tree } },
    },
  );
}

/** Nothing in the worktree is silently left out of the merge. */
async function refuseDifferentWorktree(
  repository: Repository,
  context: ActionContext,
  head: string,
  judged: AcceptedChange | null,
): Promise<void> {
  const { settings, signal } = context;
  const worktree = await readyWorktree(repository, settings, signal);
  if ("message" in worktree) {
    // Without its worktree, the branch alone is what was judged.
    if (worktree.found === "nothing") return;
    throw refused(worktree.message, { findings: [worktree], ...(worktree.hint ? { hint: worktree.hint } : {}) });
  }
  const expected = await treeOf(repository.git, head);
  const tree = await writeTree(worktree);
  if (tree === expected) return;
  const files = (await diffPaths(repository.git, expected, tree)).map(({ path }) => path);
  const what = judged === null ? "holds what its branch does not" : "was changed after the review and the tests";
  throw refused(
    `the worktree ${settings.worktree} ${what}: expected tree ${expected}, found ${tree}; they differ in ${list(files)}`,
    {
      hint: judged === null ? commitThere(context) : context.back,
      data: { files },
    },
  );
}

function commitThere({ settings: { worktree }, again, back }: ActionContext): string {
  const commit = `commit what is to be merged (\`git -C ${worktree} add -A && git -C ${worktree} commit\`)`;
  return `${commit}, then ${again}; or \`${back}\``;
}

function conflict({ settings, back }: ActionContext, base: string, files: string[]): Error {
  return refused(`${settings.branch} conflicts with ${base} in ${files.join(", ")}; nothing was merged`, {
    hint:
      `\`${back.replace("…", () => `conflicts with ${base}`)}\`, then \`git merge ${base}\` in the task's worktree ` +
      "and resolve the conflicts there",
    findings: files.map((file) => ({ message: `conflicts with ${base}`, file })),
    data: { conflicts: files },
  });
}

const ATTEMPTS = 5;
