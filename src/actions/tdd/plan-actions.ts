/** Actions on the plan of the pull request. ACTIVE_PR.json itself is written once the state that says so is. */
import { canonicalJson, sha256 } from "../../workflow/hash.js";
import {
  currentOf,
  needsCheckpoint,
  standingOf,
  withCurrentDone,
  withFindings,
  type ActivePr,
} from "../../tdd/active-pr.js";
import type { ActionResult } from "../types.js";
import { remember, tddAction } from "./define.js";
import { headOf } from "./work-tree.js";

export function planHash(pr: ActivePr): string {
  return sha256(canonicalJson(pr));
}

export const acceptPlan = tddAction("accept-plan", false, ({ facts, record }) =>
  remember(
    record,
    { plan: facts.pr, planBefore: undefined, putAway: undefined, red: undefined, pending: undefined },
    { last_error: undefined },
  ),
);

export const archivePlan = tddAction("archive-plan", false, ({ facts, record }) => {
  const { hash, ...away } = putPlanAway(facts.pr);
  return { ...away, ...remember(record, { plan: undefined, planBefore: undefined, putAway: hash }) };
});

/** Nothing is lost: the plan is kept with the records; where it lay, it is removed once the state says so. */
export function putPlanAway(pr: ActivePr | undefined): Pick<ActionResult, "files" | "notes"> & { hash?: string } {
  if (pr === undefined) return {};
  const hash = planHash(pr);
  const file = `plans/${hash.slice(0, 12)}.json`;
  return { hash, files: { [file]: `${JSON.stringify(pr, null, 2)}\n` }, notes: [`The plan was put away: ${file}`] };
}

/** After a GREEN or REFACTOR step the work is saved: the commit that is there now is not that checkpoint. */
export const finishStep = tddAction("finish-step", false, async ({ settings, facts, record }) => {
  const { pr } = facts;
  if (pr === undefined) return {};
  const current = currentOf(pr);
  const done = withCurrentDone(pr);
  const confirmed = facts.result === "confirmed" && record.pending !== undefined ? record.pending : undefined;
  const checkpoint = needsCheckpoint(current?.step ?? null) ? { head: await headOf(settings) } : undefined;
  const isLast =
    current?.task !== undefined && standingOf({ tasks: [done.tasks?.[current.taskIndex] ?? {}] }) === "done";
  const red =
    confirmed === undefined
      ? isLast
        ? undefined
        : record.red
      : { ...confirmed, output: "", task: current?.task.taskName ?? "" };
  return remember(record, { plan: done, planBefore: planHash(pr), pending: undefined, checkpoint, red });
});

export const addFindings = tddAction("add-findings", false, ({ facts, record }) => {
  const pr = facts.pr ?? {};
  const plan = withFindings(pr, facts.findings ?? []);
  return remember(record, { plan, planBefore: planHash(pr) });
});
