/** What pawl finds out by itself when a tool is called; the table decides on nothing else. */
import { existsSync, readFileSync } from "node:fs";
import { attemptsIn } from "../../actions/tdd/step-actions.js";
import { probeMerge } from "../../actions/tdd/merge-branch.js";
import { baseOf, branchOf, openWorkTree, requireCommitted, uncommitted } from "../../actions/tdd/work-tree.js";
import { line, treeOf } from "../../actions/git.js";
import { invalid, refused, usage } from "../../errors.js";
import {
  currentOf,
  isReviewFix,
  lastFinished,
  needsCheckpoint,
  standingOf,
  withCurrentDone,
} from "../../tdd/active-pr.js";
import { NO_FACTS, type Facts, type Material } from "../../tdd/facts.js";
import { checkFirstPlan, checkNewPlan } from "../../tdd/new-plan.js";
import { checkMark } from "../../tdd/plan-mark.js";
import { tddRecord } from "../../tdd/record.js";
import { resolveInside } from "../../task/paths.js";
import type { TaskContext } from "../context.js";
import { duringWork } from "../long-work.js";
import type { Session } from "../session.js";
import type { ToolName } from "../tools/definitions.js";
import { PLAN_FILE, PLAN_SCHEMA, readPlan, type FoundPlan } from "./plan-file.js";
import { reviewChange } from "./review.js";
import { runSubmission } from "./run-submission.js";

export interface ToolInput {
  summary?: string;
  test_command?: string;
  expectation?: "PASS" | "FAIL";
  analysis_decision?: "SUCCESS" | "FAILURE";
  commit_hash?: string;
  markdown_report?: string;
}

export interface Call {
  context: TaskContext;
  session: Session;
  tool: ToolName;
  input: ToolInput;
  found: FoundPlan;
}

export type Gathered = Facts & Material;
type Findings = Partial<Gathered>;

export async function gather(call: Call): Promise<Gathered> {
  const { session, found } = call;
  const { state, origin } = session.task;
  const base: Gathered = {
    ...NO_FACTS,
    fresh: origin === "fresh",
    plan: found.kind === "found" ? standingOf(found.pr) : found.kind,
    attempts: attemptsIn(state.fields),
    ...(found.kind === "found" ? { pr: found.pr } : {}),
  };
  return { ...base, ...(await more(call)) };
}

function more(call: Call): Promise<Findings> | Findings {
  const { tool, input, session } = call;
  const gatherer = GATHERERS[`${session.task.state.phase} ${tool}`];
  if (gatherer !== undefined) return gatherer(call);
  return tool === "escalate_for_external_help" ? { report: input.markdown_report ?? "" } : {};
}

/** Those of the phases in which more has to be found out than what stands in the plan. */
const GATHERERS: Record<string, (call: Call) => Promise<Findings>> = {
  "INITIALIZING submit_work": firstPlan,
  "EXECUTING_TDD get_task": async (call) => ({ checkpoint: await checkpointOf(call, true) }),
  "EXECUTING_TDD submit_work": submitted,
  "DEBUGGING submit_work": submitted,
  "REPLANNING submit_work": newPlan,
  "CODE_REVIEW get_task": async (call) => {
    const checkpoint = await checkpointOf(call, false);
    return checkpoint === "due" ? { checkpoint } : { checkpoint, ...(await reviewed(call)) };
  },
  "AWAITING_FINALIZATION submit_work": squashed,
  "FINALIZE_COMPLETE submit_work": marked,
  "MERGING_BRANCH get_task": merging,
};

/** Malformed: the table halts. Anything else that is wrong with it, the agent can mend. */
async function firstPlan({ context }: Call): Promise<Findings> {
  const found = await readPlan(context, PLAN_SCHEMA);
  if (found.kind === "none") throw noPlan();
  if (found.kind === "invalid") {
    const problem = found.findings.map(({ message }) => message).join("; ");
    return { result: "malformed", problem, error: `${PLAN_FILE} failed its schema validation: ${problem}` };
  }
  const findings = checkFirstPlan(found.pr);
  if (findings.length > 0) throw invalid(findings[0]?.message ?? "", { findings, hint: MEND });
  return { result: "accepted", plan: standingOf(found.pr), pr: found.pr };
}

async function newPlan({ context, session }: Call): Promise<Findings> {
  const found = await readPlan(context, PLAN_SCHEMA);
  if (found.kind === "none") throw noPlan();
  const findings =
    found.kind === "invalid" ? found.findings : checkNewPlan(found.pr, tddRecord(session.task.state.fields).plan);
  if (found.kind === "invalid" || findings.length > 0)
    throw invalid(findings[0]?.message ?? "", { findings, hint: MEND });
  return { result: "accepted", plan: standingOf(found.pr), pr: found.pr };
}

/** Git's own short names. */
const SHORTEST_HASH = 7;
const MEND = `mend ${PLAN_FILE}, then call submit_work again`;

function noPlan(): Error {
  return refused(`there is no ${PLAN_FILE}`, {
    findings: [{ message: `${PLAN_FILE} is missing`, file: PLAN_FILE, expected: "the plan", found: "nothing" }],
    hint: "call get_task: it says what has to stand in the file",
  });
}

/** `byHand`: a plan that pawl has not seen the last step of tells by itself that a checkpoint is due. */
async function checkpointOf({ context, session, found }: Call, byHand: boolean): Promise<Facts["checkpoint"]> {
  const { fields, lastEvent } = session.task.state;
  const { checkpoint } = tddRecord(fields);
  if (checkpoint === undefined) {
    const isNew = lastEvent === null || lastEvent.type === "task.imported";
    return byHand && isNew && found.kind === "found" && needsCheckpoint(lastFinished(found.pr)) ? "found" : "none";
  }
  const settings = await context.settings();
  if (settings.repo === null) return "due";
  const tree = await openWorkTree(settings);
  const isMade = tree.head !== checkpoint.head && (await uncommitted(tree, fields)).length === 0;
  return isMade ? "made" : "due";
}

async function submitted({ context, session, input, found }: Call): Promise<Findings> {
  const { phase, fields } = session.task.state;
  const isDebugging = phase === "DEBUGGING";
  const record = tddRecord(fields);
  if (found.kind === "invalid")
    throw invalid(found.findings[0]?.message ?? "", { findings: found.findings, hint: MEND });
  if (found.kind === "none" && !isDebugging) throw noPlan();
  const current = found.kind === "found" ? currentOf(found.pr) : null;
  const { test_command: command, expectation, analysis_decision: decision } = input;
  if (decision !== undefined) {
    if (command !== undefined || expectation !== undefined)
      throw usage("either a test or an `analysis_decision`, not both", { hint: "call submit_work with one of them" });
    const { pending } = record;
    if (pending === undefined)
      throw refused("there is no test result that waits for an `analysis_decision`", {
        hint: "call submit_work with `test_command` and `expectation` first",
      });
    const material = { command: pending.command, expectation: "FAIL" as const, output: pending.output };
    if (decision === "SUCCESS") return { ...material, result: "confirmed" };
    return {
      ...material,
      result: "denied",
      problem: `the test failed for another reason than intended: \`${pending.command}\``,
    };
  }
  if (command === undefined || expectation === undefined || command.trim() === "") {
    const missing = command === undefined || command.trim() === "" ? "test_command" : "expectation";
    throw usage(`\`${missing}\` is missing`, {
      findings: [{ message: `${missing} is missing`, pointer: `/${missing}`, expected: "text", found: "nothing" }],
      hint: 'call submit_work with "test_command" and "expectation": "PASS" or "FAIL"',
    });
  }
  if (current === null && !isDebugging)
    throw refused("no step is open, so there is nothing to submit", { hint: "call get_task" });
  requireFit(current?.step?.type, expectation, isDebugging);
  const outcome = await duringWork(context, session, (run) =>
    runSubmission(context, run, { command, expectation, current, record, isDebugging }),
  );
  const isLast = found.kind === "found" && standingOf(withCurrentDone(found.pr)) === "done";
  return { ...outcome, fix: outcome.result === "passed" && current !== null && isReviewFix(current.task) && isLast };
}

/** A RED step is about a failure, any other one about success. While debugging, a RED step may also get the rest to pass again. */
function requireFit(type: string | undefined, expectation: string, isDebugging: boolean): void {
  const expected = type === "RED" ? "FAIL" : "PASS";
  if (expectation === expected || (isDebugging && type === "RED")) return;
  throw refused(
    `a ${type ?? "step without a type"} step needs the expectation ${expected}, found ${expectation}; nothing was run`,
    {
      findings: [
        { message: "the expectation does not fit the step", pointer: "/expectation", expected, found: expectation },
      ],
      hint: `do what the step asks for, then call submit_work with "expectation": "${expected}"`,
    },
  );
}

async function reviewed(call: Call): Promise<Findings> {
  const { context, session, found } = call;
  const { fields } = session.task.state;
  const review = await duringWork(context, session, (run) =>
    reviewChange(context, run, fields, found.kind === "found" ? found.pr : {}),
  );
  return { ...review };
}

async function squashed({ context, session, input, found }: Call): Promise<Findings> {
  const { fields } = session.task.state;
  const settings = await context.settings();
  const tree = await openWorkTree(settings, context.signal);
  requireCommitted(await uncommitted(tree, fields), "the branch is to be finished");
  const branch = branchOf(fields);
  if (branch !== undefined && tree.branch !== branch)
    throw refused(`${tree.branch ?? "a detached HEAD"} is checked out, not the pull request's branch ${branch}`, {
      hint: `git checkout ${branch}, then call submit_work again`,
    });
  const base = await baseOf(tree, settings, fields);
  const commits = Number(line(await tree.git(["rev-list", "--count", `${base.head}..HEAD`])));
  const again = "call get_task for the commands, then submit_work again";
  if (commits !== 1 || tree.head === null)
    throw refused(`expected exactly 1 commit between ${base.name} and HEAD, found ${commits}`, {
      findings: [{ message: "the branch is not squashed", expected: "1 commit", found: `${commits} commits` }],
      hint: again,
    });
  const { commit_hash: named } = input;
  if (named !== undefined && (named.length < SHORTEST_HASH || !tree.head.startsWith(named)))
    throw refused(`commit_hash is ${named}, but HEAD is ${tree.head}`, {
      findings: [{ message: "another commit", pointer: "/commit_hash", expected: tree.head, found: named }],
      hint: "call submit_work with the hash that `git rev-parse HEAD` prints",
    });
  const { reviewed: approved } = tddRecord(fields);
  if (approved !== undefined && (await treeOf(tree.git, tree.head)) !== approved.tree)
    throw refused("what the commit holds is not what the reviewer approved", {
      findings: [{ message: "the content changed after the review", expected: approved.commit, found: tree.head }],
      hint: `make it the same again (\`git diff ${approved.commit} HEAD\` shows the difference), then call submit_work`,
    });
  return { result: "squashed", commits, commit: tree.head, ...(found.kind === "found" ? { pr: found.pr } : {}) };
}

async function marked({ context, session, found }: Call): Promise<Findings> {
  const { fields } = session.task.state;
  const settings = await context.settings();
  const named = found.kind === "found" ? found.pr.masterPlanPath : undefined;
  const planFile = named ?? settings.masterPlan;
  const place = resolveInside(settings.worktree, planFile);
  if ("error" in place)
    throw refused(`the master plan is not a file of this directory: ${place.error.message}`, {
      findings: [place.error],
      hint: 'a human has to say which file it is: pawl override PLAN_UPDATED --reason "…"',
    });
  const commit = fields["last_commit_hash"];
  if (!existsSync(place.path)) {
    // Nothing is known of a plan: a run that somebody set up by hand.
    if (named === undefined && commit === undefined) return { result: "marked" };
    throw refused(`the master plan ${planFile} is not there`, {
      findings: [{ message: "no master plan", file: planFile, expected: "the file, marked", found: "nothing" }],
      hint: "call get_task",
    });
  }
  const findings = checkMark(
    readFileSync(place.path, "utf8"),
    planFile,
    typeof commit === "string" ? commit : undefined,
  );
  if (findings.length > 0)
    throw refused(findings[0]?.message ?? "", {
      findings,
      hint: `mark it in ${planFile}, then call submit_work again`,
    });
  if (settings.repo !== null) {
    const others = (await uncommitted(await openWorkTree(settings), fields)).filter((path) => path !== planFile);
    requireCommitted(others, `only ${planFile} is to be committed`);
  }
  return { result: "marked", planFile };
}

async function merging({ context, session }: Call): Promise<Findings> {
  const { branch, base, standing } = await probeMerge(
    await context.settings(),
    session.task.state.fields,
    context.signal,
  );
  if (standing !== "conflict") return { merge: standing };
  const problem =
    `ERROR: Automated merge failed due to a conflict. Please resolve the conflict in branch '${branch}' and merge it to ` +
    `${base.name} manually. Then, delete the branch and the '${PLAN_FILE}' file before restarting the agent to continue with the next PR.`;
  return { merge: standing, problem, error: problem };
}
