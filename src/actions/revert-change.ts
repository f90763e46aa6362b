/** Undoes a task. Each of its merges is reverted by one commit on the base branch; an unmerged branch is put away. */
import { findBaseBranch } from "./base-branch.js";
import { acceptedChange } from "./evidence.js";
import { findMerge } from "./find-merge.js";
import { gitRecord, withReverts, type MergeRecord } from "./git-record.js";
import { isAncestor, resolveCommit } from "./git.js";
import { ABOUT } from "./names.js";
import { putAway } from "./put-away.js";
import { branchHead, openRepository, type Repository } from "./repository.js";
import { inTurn } from "./repository-lock.js";
import { rescueRefs } from "./rescue.js";
import type { Action, ActionContext, ActionResult } from "./types.js";
import { undoMerges, type UndoneMerge } from "./undo-merges.js";

export const revertChange: Action = { name: "revert-change", about: ABOUT["revert-change"], outside: true, run };

interface Undone {
  commits: string[];
  impact: string;
  notes: string[];
  /** Commits that undid a merge, for the record. */
  reverted: MergeRecord[];
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
  return {
    notes: [undone.impact, ...undone.notes],
    patch: { fields: { git: withReverts(context.fields, undone.reverted) } },
    artifacts: { revert_record: record },
  };
}

async function undo(context: ActionContext): Promise<Undone> {
  const { settings } = context;
  if (settings.repo === null) {
    return { commits: [], impact: "The task has no repository: there was nothing to undo.", notes: [], reverted: [] };
  }
  const repository = await openRepository(settings, context.signal);
  const reason = reasonOf(context);
  const merges = await mergesToUndo(repository, context);
  if (merges.length === 0) return undoBranch(repository, context);
  // The recorded branch, also when the workspace is configured for another one since.
  const branches = [...new Set(merges.map(({ base }) => base))];
  const undone = await inTurn(repository, async () => {
    const all: UndoneMerge[] = [];
    for (const branch of branches) {
      // The newest first: it may build on those before.
      const onIt = merges.filter(({ base }) => base === branch).reverse();
      all.push(...(await undoMerges(repository, { ...context, reason }, branch, onIt)));
    }
    return all;
  });
  // What the task began anew after the merge.
  const { notes } = await putAway(repository, settings, await branchHead(repository, branches[0] ?? ""));
  return { ...describe(undone, gitRecord(context.fields).reverted), notes };
}

/** The recorded merges, oldest first; and one that an earlier run made and could not record any more. */
async function mergesToUndo(repository: Repository, context: ActionContext): Promise<MergeRecord[]> {
  const recorded = gitRecord(context.fields).merged;
  const change = acceptedChange(context.artifacts);
  const head = (await branchHead(repository, context.settings.branch)) ?? change?.head;
  if (head === undefined || (await resolveCommit(repository.git, head)) === null) return recorded;
  for (const { commit } of recorded) {
    const known = await resolveCommit(repository.git, commit);
    if (known !== null && (await isAncestor(repository.git, head, known))) return recorded;
  }
  const base = await findBaseBranch(repository, context);
  const found = await findMerge(repository, head, base.head);
  return found === null ? recorded : [...recorded, { ...found, base: base.name }];
}

async function undoBranch(repository: Repository, { settings }: ActionContext): Promise<Undone> {
  const { branch, id } = settings;
  const { notes, refs } = await putAway(repository, settings, null);
  const undone = (impact: string): Undone => ({ commits: [], impact, notes, reverted: [] });
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

/** Of what was undone now; where all of it had been undone and recorded before, of that. */
function describe(undone: readonly UndoneMerge[], known: readonly MergeRecord[]): Omit<Undone, "notes"> {
  const now = undone.filter(({ by }) => by !== null && !known.some(({ commit }) => commit === by.commit));
  const told = now.length > 0 ? now : undone;
  const reverted = told.flatMap(({ by }) => (by === null ? [] : [by]));
  return { commits: reverted.map(({ commit }) => commit), impact: told.map(impactOf).join(" "), reverted };
}

function impactOf({ merged, by }: UndoneMerge): string {
  if (by === null) return `${merged.base} holds nothing of ${merged.commit} any more: it had been undone already.`;
  return (
    `The merge ${merged.commit} on ${merged.base} was undone by ${by.commit}. ` +
    `\`git revert ${by.commit}\` brings the change back.`
  );
}

function reasonOf({ event, reason }: ActionContext): string {
  const given = [event.payload.note, event.payload.reason, reason];
  return given.find((text) => typeof text === "string" && text.trim() !== "") ?? "no reason was given";
}

function whoOf({ event: { by } }: ActionContext): string {
  return by.kind === "human" ? by.name : by.kind === "agent" ? by.role : "pawl";
}
