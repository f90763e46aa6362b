/** Undoes a task. A merged change is reverted by one commit on the base branch; an unmerged branch is put away. */
import { refused } from "../errors.js";
import { findBaseBranch, type BaseBranch } from "./base-branch.js";
import { acceptedChange } from "./evidence.js";
import { findMerge } from "./find-merge.js";
import { gitRecord, objectOf, type MergeRecord } from "./git-record.js";
import { commitTree, isAncestor, line, resolveCommit, treeOf } from "./git.js";
import { mergeTrees } from "./merge-trees.js";
import { oneLine, REVERT_TRAILER, taskMessage } from "./messages.js";
import { moveBaseBranch, oneAtATime } from "./move-base-branch.js";
import { ABOUT } from "./names.js";
import { putAway } from "./put-away.js";
import { branchHead, openRepository, type Repository } from "./repository.js";
import { rescueRefs } from "./rescue.js";
import type { Action, ActionContext, ActionResult } from "./types.js";

export const revertChange: Action = { name: "revert-change", about: ABOUT["revert-change"], outside: true, run };

interface Undone {
  commits: string[];
  impact: string;
  notes: string[];
  fields: Record<string, unknown>;
}

async function run(context: ActionContext): Promise<ActionResult> {
  const undone = await undo(context);
  const record = {
    reason: reasonOf(context),
    who: whoOf(context),
    when: context.now().toISOString(),
    commits: undone.commits,
    impact: undone.impact,
  };
  const git = { ...objectOf(context.fields["git"]), ...undone.fields };
  return {
    notes: [undone.impact, ...undone.notes],
    patch: { fields: { git } },
    artifacts: { revert_record: record },
  };
}

async function undo(context: ActionContext): Promise<Undone> {
  if (context.settings.repo === null) {
    return { commits: [], impact: "The task has no repository: there was nothing to undo.", notes: [], fields: {} };
  }
  const repository = await openRepository(context.settings, context.signal);
  const merged = await mergeToUndo(repository, context);
  return merged === null
    ? undoBranch(repository, context)
    : oneAtATime(repository, () => undoMerge(repository, context, merged));
}

/** The recorded merge; or one that an earlier run made and could not record any more. */
async function mergeToUndo(repository: Repository, context: ActionContext): Promise<MergeRecord | null> {
  const recorded = gitRecord(context.fields).merged;
  if (recorded !== undefined) return recorded;
  const change = acceptedChange(context.artifacts);
  const head = (await branchHead(repository, context.settings.branch)) ?? change?.head;
  if (head === undefined || (await resolveCommit(repository.git, head)) === null) return null;
  const base = await findBaseBranch(repository, context);
  const found = await findMerge(repository, head, base.head);
  return found === null ? null : { ...found, base: base.name };
}

async function undoMerge(repository: Repository, context: ActionContext, merged: MergeRecord): Promise<Undone> {
  const { settings } = context;
  // The recorded branch, also when the workspace is configured for another one since.
  const fields = { ...context.fields, git: { base: merged.base } };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const base = await findBaseBranch(repository, { settings, fields });
    if (!(await isAncestor(repository.git, merged.commit, base.head))) throw notThere(merged);
    const earlier = await findRevert(repository, merged, base);
    if (earlier !== null) return undoneBy(merged, earlier);
    const tree = await treeWithout(repository, context, merged, base);
    if (tree === (await treeOf(repository.git, base.head))) {
      const impact = `${merged.base} holds nothing of ${merged.commit} any more: it had been undone already.`;
      return { commits: [], impact, notes: [], fields: {} };
    }
    const message = revertMessage(context, merged);
    const commit = await commitTree(repository.git, { tree, parents: [base.head], message }, repository.env);
    const record: MergeRecord = { commit, base: base.name, before: base.head };
    if (await moveBaseBranch(repository, { ...record, what: "revert", again: AGAIN })) return undoneBy(merged, record);
    context.progress(`${base.name} was moved meanwhile; reverting again`);
  }
  throw refused(`the base branch was moved by somebody else ${ATTEMPTS} times while it was being reverted`, {
    hint: AGAIN,
  });
}

/**
 * The three-way merge of `git revert -m 1`: from the merge, to the base branch's head on one side and to what was before
 * the merge on the other. A commit made for the purpose has the merge as its parent, so that git finds just that ancestor.
 */
async function treeWithout(
  repository: Repository,
  context: ActionContext,
  merged: MergeRecord,
  base: BaseBranch,
): Promise<string> {
  const before = await treeOf(repository.git, merged.before);
  const content = { tree: before, parents: [merged.commit], message: revertMessage(context, merged) };
  const undoing = await commitTree(repository.git, content, repository.env);
  const result = await mergeTrees(repository, base.head, undoing);
  if (result.kind === "clean") return result.tree;
  const { files } = result;
  throw refused(`later commits on ${base.name} build on the change, in ${files.join(", ")}; nothing was reverted`, {
    hint: `undo it by hand with \`git revert ${await flagFor(repository, merged)}${merged.commit}\` on ${base.name}, then ${AGAIN}`,
    findings: files.map((file) => ({ message: `cannot be reverted without a conflict`, file })),
    data: { conflicts: files },
  });
}

/** A revert by an earlier run that died, or by a person who followed the hint of a refusal: git's own words say so. */
async function findRevert({ git }: Repository, merged: MergeRecord, base: BaseBranch): Promise<MergeRecord | null> {
  const log = (await git(["log", "--format=%H %P%n%B%x00", `${merged.commit}..${base.head}`])).stdout;
  const marks = [`\n${REVERT_TRAILER}: ${merged.commit}`, `This reverts commit ${merged.commit}`];
  for (const entry of log.split("\0")) {
    const [commit = "", before = ""] = (entry.trimStart().split("\n")[0] ?? "").split(" ");
    if (marks.some((mark) => entry.includes(mark))) return { commit, base: base.name, before };
  }
  return null;
}

async function undoBranch(repository: Repository, { settings }: ActionContext): Promise<Undone> {
  const { branch, id } = settings;
  const { notes, refs } = await putAway(repository, settings, null);
  const undone = (impact: string): Undone => ({ commits: [], impact, notes, fields: {} });
  if ((await branchHead(repository, branch)) !== null) {
    return undone(`Nothing had been merged; the branch ${branch} could not be put away and is still there.`);
  }
  // A run that died may have put it away already.
  const ref = refs.at(-1) ?? (await rescueRefs(repository, id)).at(-1)?.ref;
  if (ref === undefined) return undone("Nothing had been merged, and there was no branch to put away.");
  return undone(
    `Nothing had been merged; the branch ${branch} was put away. \`git branch ${branch} ${ref}\` brings it back.`,
  );
}

function undoneBy(merged: MergeRecord, reverted: MergeRecord): Undone {
  const impact =
    `The merge ${merged.commit} on ${merged.base} was undone by ${reverted.commit}. ` +
    `\`git revert ${reverted.commit}\` brings the change back.`;
  return { commits: [reverted.commit], impact, notes: [], fields: { reverted } };
}

function revertMessage(context: ActionContext, merged: MergeRecord): string {
  const { settings } = context;
  const subject = `Revert ${oneLine(settings.title) || settings.id}`;
  const message = taskMessage(subject, settings, { [REVERT_TRAILER]: merged.commit });
  return message.replace("\n\n", () => `\n\n${oneLine(reasonOf(context))}\n\n`);
}

function reasonOf({ event, reason }: ActionContext): string {
  const given = [event.payload.note, event.payload.reason, reason];
  return given.find((text) => typeof text === "string" && text.trim() !== "") ?? "no reason was given";
}

function whoOf({ event: { by } }: ActionContext): string {
  return by.kind === "human" ? by.name : by.kind === "agent" ? by.role : "pawl";
}

async function flagFor({ git }: Repository, merged: MergeRecord): Promise<string> {
  const parents = line(await git(["show", "--no-patch", "--format=%P", merged.commit])).split(" ");
  return parents.length > 1 ? "-m 1 " : "";
}

function notThere(merged: MergeRecord): Error {
  return refused(`${merged.base} does not contain the merge ${merged.commit} any more; nothing was reverted`, {
    hint: `look at \`git log ${merged.base}\`: somebody rewrote it`,
  });
}

const ATTEMPTS = 5;
const AGAIN = "`pawl answer revert` again";
