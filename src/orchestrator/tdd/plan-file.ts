/**
 * ACTIVE_PR.json, held against the plan that pawl accepted. An agent writes it when it is asked to; at any other time only
 * pawl does, or a human who then steps in. The state says what the file has to be: it is written once that is on record.
 */
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { planHash } from "../../actions/tdd/plan-actions.js";
import { refused, type Finding } from "../../errors.js";
import { tddRecord } from "../../tdd/record.js";
import type { ActivePr } from "../../tdd/active-pr.js";
import { writeFileDurably } from "../../task/atomic-file.js";
import { NO_LINK, readIfThere } from "../../task/plain-file.js";
import type { TaskState } from "../../task/state.js";
import { MAX_BYTES, parseStrictJson } from "../../task/strict-json.js";
import type { Workflow } from "../../workflow/types.js";
import type { TaskContext } from "../context.js";

export const PLAN_FILE = "ACTIVE_PR.json";
/** What an agent has to write, and what a plan by somebody's hand must be at least. */
export const PLAN_SCHEMA = "active-pr.schema.json";
const FOUND_SCHEMA = "active-pr-found.schema.json";

export type FoundPlan = { kind: "none" } | { kind: "invalid"; findings: Finding[] } | { kind: "found"; pr: ActivePr };

export async function readPlan(context: TaskContext, schema: string = FOUND_SCHEMA): Promise<FoundPlan> {
  const bytes = readIfThere(planPath(context), MAX_BYTES, NO_LINK);
  if (bytes === null) return { kind: "none" };
  const parsed = parseStrictJson(bytes, PLAN_FILE);
  const findings =
    "error" in parsed ? [parsed.error] : await context.validate(schema, structuredClone(parsed.value), PLAN_FILE);
  if (findings.length > 0) return { kind: "invalid", findings };
  return { kind: "found", pr: (parsed as { value: ActivePr }).value };
}

/** The plan as it counts. What a pawl that died did not write any more is written now; a change by the agent is refused. */
export async function settlePlan(context: TaskContext, state: TaskState): Promise<FoundPlan> {
  const record = tddRecord(state.fields);
  const found = await readPlan(context);
  const hash = found.kind === "found" ? planHash(found.pr) : null;
  if (hash !== null && hash === record.putAway) {
    rmSync(planPath(context), { force: true });
    return { kind: "none" };
  }
  const { plan } = record;
  if (plan === undefined || mayBeWritten(context.workflow, state)) return found;
  if (hash === planHash(plan)) return found;
  if (found.kind === "none" || (hash !== null && hash === record.planBefore)) {
    await writePlan(context, plan);
    return { kind: "found", pr: plan };
  }
  const kept = keepAside(context, state);
  await writePlan(context, plan);
  throw refused(`${PLAN_FILE} was changed, though only pawl marks what is done; it was put back as it was`, {
    findings: [
      {
        message: `${PLAN_FILE} is not the plan that was accepted`,
        file: PLAN_FILE,
        expected: planHash(plan).slice(0, 12),
        found: hash?.slice(0, 12) ?? "something that is no plan",
      },
    ],
    hint: `call get_task and go on with the plan; the other version is ${kept}`,
  });
}

/** After a commit: the file becomes what the state says. */
export async function projectPlan(context: TaskContext, state: TaskState): Promise<void> {
  const { plan, putAway } = tddRecord(state.fields);
  if (plan === undefined && putAway === undefined) return;
  const found = await readPlan(context);
  const hash = found.kind === "found" ? planHash(found.pr) : null;
  if (plan === undefined) {
    if (hash === putAway) rmSync(planPath(context), { force: true });
  } else if (hash !== planHash(plan)) await writePlan(context, plan);
}

/** Phases in which an agent's plan is taken, a human's phase, and right after a human stepped in. */
function mayBeWritten({ phases, transitions }: Workflow, state: TaskState): boolean {
  const { phase } = state;
  if (transitions.some(({ from, actions }) => from === phase && actions.some(({ name }) => name === "accept-plan")))
    return true;
  return phases.find(({ name }) => name === phase)?.who.kind === "human" || steppedIn(state);
}

/** Was the last word a human's? Then the plan that lies there is theirs. */
export function steppedIn({ lastEvent }: TaskState): boolean {
  const type = lastEvent?.type;
  if (type === "override" || type === "redo" || type === "task.adopted") return true;
  return type === "transition" && lastEvent?.data?.["event"] === "resume";
}

function writePlan(context: TaskContext, plan: ActivePr): Promise<void> {
  return writeFileDurably(planPath(context), `${JSON.stringify(plan, null, 2)}\n`);
}

function keepAside(context: TaskContext, state: TaskState): string {
  const name = `ACTIVE_PR.changed-${state.revision}.json`;
  renameSync(planPath(context), join(context.dir, name));
  return join(context.dir, name);
}

function planPath({ workspace }: TaskContext): string {
  return join(workspace.root, PLAN_FILE);
}
