/** All actions and makers by name. Each is loaded only when it is used. */
import { ABOUT } from "./names.js";
import type { Action, Maker } from "./types.js";

export interface Entry<T> {
  name: string;
  about: string;
  load: () => Promise<T>;
}

export interface RegisteredName {
  name: string;
  about: string;
  kind: "action" | "maker";
  /** Artifacts that an action leaves: a document may name it in `Made by`, like a maker. */
  leaves?: string[];
}

export const actions: ReadonlyMap<string, Entry<Action>> = entries<Action>({
  "accept-plan": () => import("./tdd/plan-actions.js").then((module) => module.acceptPlan),
  "add-findings": () => import("./tdd/plan-actions.js").then((module) => module.addFindings),
  "approve-change": () => import("./tdd/step-actions.js").then((module) => module.approveChange),
  "archive-plan": () => import("./tdd/plan-actions.js").then((module) => module.archivePlan),
  "ask-checkpoint": () => import("./tdd/step-actions.js").then((module) => module.askCheckpoint),
  "await-analysis": () => import("./tdd/step-actions.js").then((module) => module.awaitAnalysis),
  "commit-plan": () => import("./tdd/commit-plan.js").then((module) => module.commitPlan),
  "count-failure": () => import("./tdd/step-actions.js").then((module) => module.countFailure),
  "create-branch": () => import("./tdd/create-branch.js").then((module) => module.createBranch),
  "finish-step": () => import("./tdd/plan-actions.js").then((module) => module.finishStep),
  "go-on": () => import("./tdd/step-actions.js").then((module) => module.goOn),
  halt: () => import("./tdd/step-actions.js").then((module) => module.halt),
  "leave-debugging": () => import("./tdd/step-actions.js").then((module) => module.leaveDebugging),
  "merge-branch": () => import("./tdd/merge-branch.js").then((module) => module.mergeBranch),
  "note-failure": () => import("./tdd/step-actions.js").then((module) => module.noteFailure),
  "reset-work": () => import("./tdd/reset-work.js").then((module) => module.resetWork),
  "save-commit": () => import("./tdd/step-actions.js").then((module) => module.saveCommit),
  "take-up": () => import("./tdd/step-actions.js").then((module) => module.takeUp),
  "amend-plan": () => import("./question-actions.js").then((module) => module.amendPlan),
  answered: () => import("./question-actions.js").then((module) => module.answered),
  "ask-human": () => import("./question-actions.js").then((module) => module.askHuman),
  "bring-base": () => import("./bring-base.js").then((module) => module.bringBase),
  "describe-now": () => import("./describe-now.js").then((module) => module.describeNow),
  "finish-branch": () => import("./finish-branch.js").then((module) => module.finishBranch),
  "note-conflict": () => import("./bring-base.js").then((module) => module.noteConflict),
  "archive-evidence": () => import("./state-actions.js").then((module) => module.archiveEvidence),
  clear: () => import("./state-actions.js").then((module) => module.clear),
  count: () => import("./state-actions.js").then((module) => module.count),
  dismiss: () => import("./agent-actions.js").then((module) => module.dismiss),
  merge: () => import("./merge.js").then((module) => module.merge),
  "prepare-worktree": () => import("./prepare-worktree.js").then((module) => module.prepareWorktree),
  "put-away-work": () => import("./put-away-work.js").then((module) => module.putAwayWork),
  "render-plan": () => import("./render-plan.js").then((module) => module.renderPlan),
  "reset-rounds": () => import("./state-actions.js").then((module) => module.resetRounds),
  "revert-change": () => import("./revert-change.js").then((module) => module.revertChange),
  "set-summary": () => import("./state-actions.js").then((module) => module.setSummary),
  spawn: () => import("./agent-actions.js").then((module) => module.spawn),
  "wait-for-human": () => import("./state-actions.js").then((module) => module.waitForHuman),
});

export const makers: ReadonlyMap<string, Entry<Maker>> = entries<Maker>({
  "derive-change": () => import("./derive-change.js").then((module) => module.deriveChange),
  "describe-work": () => import("./describe-work.js").then((module) => module.describeWork),
  "merge-change": () => import("./merge-change.js").then((module) => module.mergeChange),
  "set-up": () => import("./set-up.js").then((module) => module.setUp),
  "run-tests": () => import("./run-tests.js").then((module) => module.runTests),
});

/** For the check of a document, which loads none of them. */
export const registeredNames: readonly RegisteredName[] = [
  ...[...actions.values()].map(({ name, about }): RegisteredName => {
    return { name, about, kind: "action", ...(name === "revert-change" ? { leaves: ["revert_record"] } : {}) };
  }),
  ...[...makers.values()].map(({ name, about }): RegisteredName => ({ name, about, kind: "maker" })),
];

function entries<T>(loaders: Partial<Record<keyof typeof ABOUT, () => Promise<T>>>): Map<string, Entry<T>> {
  const map = new Map<string, Entry<T>>();
  for (const [name, load] of Object.entries(loaders)) {
    map.set(name, { name, about: ABOUT[name as keyof typeof ABOUT], load });
  }
  return map;
}
