/** A tool call in the test-driven workflow: find out, decide, carry out, and tell the agent what comes next. */
import { excludeOwnFiles } from "../../actions/tdd/create-branch.js";
import { halted, PawlError } from "../../errors.js";
import { tddRecord } from "../../tdd/record.js";
import type { TaskState } from "../../task/state.js";
import { decide } from "../../workflow/decide.js";
import type { Decision, Event, Refusal } from "../../workflow/types.js";
import { record, type TaskContext } from "../context.js";
import { dropRun, withoutRun } from "../long-work.js";
import { lookAt } from "../look.js";
import { senderOf } from "../sender.js";
import { inSession, recoverLost, requireIdle, requireSameDocument, type Session } from "../session.js";
import { refusalError } from "../advance.js";
import { phaseOf } from "../suggest.js";
import type { ToolName } from "../tools/definitions.js";
import type { ToolAnswer } from "../tools/types.js";
import { carryOut } from "../transition.js";
import { brief } from "./briefing.js";
import { gather, type Gathered, type ToolInput } from "./gather.js";
import { projectPlan, settlePlan, steppedIn, type FoundPlan } from "./plan-file.js";
import { submitAnswer } from "./submit-answer.js";

interface Done {
  decision: Decision;
  facts: Gathered;
  state: TaskState;
  /** What was done besides, such as where something was kept. */
  notes: string[];
}

export function callTdd(context: TaskContext, tool: ToolName, input: ToolInput): Promise<ToolAnswer> {
  return inSession(context, async (session) => {
    if (tool !== "get_task") record(context, { kind: "command", text: `tool ${tool}`, data: { input } });
    let done = await once(context, session, tool, input);
    // Pawl's own phase follows from an agent's question: the agent would only have to ask again.
    if (tool === "get_task" && isAgents(context, done.decision.from) && isPawls(context, done.decision.to))
      done = await once(context, session, tool, input);
    return answerOf(context, tool, input, done);
  });
}

async function once(context: TaskContext, session: Session, tool: ToolName, input: ToolInput): Promise<Done> {
  const look = await lookAt(context, { state: session.task.state, origin: "stored" });
  requireSameDocument(context, look);
  requireIdle(context, look);
  if (look.running === "gone") await recoverLost(context, session.task);
  requireNotHalted(context, session.task.state);
  if (session.task.state.lastEvent === null) await excludeOwnFiles(await context.settings());
  const found = await settlePlan(context, session.task.state);
  const isHumans = steppedIn(session.task.state);
  let facts: Gathered;
  try {
    facts = await gather({ context, session, tool, input, found });
  } catch (error) {
    await dropRun(session, error instanceof PawlError ? error.message : String(error));
    throw error;
  }
  const { state } = session.task;
  const event: Event = { name: tool, by: senderOf(context, state), payload: facts };
  const { evidence } = await lookAt(context, { state, origin: "stored" });
  const decision = decide(context.workflow, evidence, event);
  if (decision.kind === "refusal") {
    await dropRun(session, decision.reason);
    throw refusalOf(context, decision, tool, facts);
  }
  if (isQuestion(decision) && state.lastEvent !== null && !(isHumans && found.kind === "found"))
    return { decision, facts, state, notes: [] };
  let notes: string[] = [];
  if (isQuestion(decision) && session.task.origin === "fresh") await session.task.begin(context.user);
  else {
    const data = { tool, ...(input.summary === undefined ? {} : { summary: input.summary }), result: facts.result };
    const base = withPlan(withoutRun(state), isHumans, found);
    ({ notes } = await carryOut(context, session.task, decision, event, evidence, { base, data }));
  }
  await projectPlan(context, session.task.state);
  return { decision, facts, state: session.task.state, notes };
}

/** Nothing changes by asking. */
function isQuestion({ from, to, actions }: Decision): boolean {
  return from === to && actions.length === 0;
}

/** The plan that this call rests on is on record with it, also one that a human changed; except where the agent may still write it. */
function withPlan(state: TaskState, isHumans: boolean, found: FoundPlan): TaskState {
  const own = tddRecord(state.fields);
  if (found.kind !== "found" || (own.plan !== undefined && !isHumans)) return state;
  if (state.phase === "INITIALIZING" || state.phase === "REPLANNING") return state;
  // A test of the plan before says nothing about another one.
  const { pending, ...rest } = own;
  const kept = isHumans || pending === undefined ? rest : own;
  return { ...state, fields: { ...state.fields, tdd: { ...kept, plan: found.pr } } };
}

function isAgents({ workflow }: TaskContext, phase: string): boolean {
  return phaseOf(workflow, phase).who.kind === "agent";
}

function isPawls({ workflow }: TaskContext, phase: string): boolean {
  return phaseOf(workflow, phase).who.kind === "orchestrator";
}

function requireNotHalted(context: TaskContext, { phase, fields }: TaskState): void {
  if (phaseOf(context.workflow, phase).who.kind !== "human") return;
  const error = typeof fields["last_error"] === "string" ? fields["last_error"] : "";
  const reason = tddRecord(fields).halted?.reason ?? error;
  const more = error === "" || error === reason ? "" : `\n\n${error}`;
  throw halted(`${phase}: a human is needed: ${reason}${more}`, {
    hint: 'stop, and call no further tool; a human goes on with: pawl resume --note "…"',
  });
}

const LOCKS: Partial<Record<ToolName, string>> = {
  request_scope_reduction: "scope_reduction",
  escalate_for_external_help: "escalation",
};

function refusalOf(context: TaskContext, refusal: Refusal, tool: ToolName, facts: Gathered): Error {
  const limit = LOCKS[tool];
  const blockers = refusal.ways.filter(({ event }) => event === tool).flatMap((way) => way.blockers);
  if (limit !== undefined) {
    const why =
      blockers.length === 0
        ? `it is for debugging, and this is ${refusal.phase}`
        : `it unlocks after more failed attempts; there were ${facts.attempts} (\`${blockers[0]?.expected ?? limit}\`)`;
    return new PawlError("refused", `${tool} is locked: ${why}`, {
      findings: blockers,
      hint: "call get_task, and go on as it says",
      data: { refusal },
    });
  }
  const error = refusalError(context, refusal) as PawlError;
  return new PawlError("refused", error.message, {
    findings: error.findings,
    hint: "call get_task",
    data: { refusal },
  });
}

async function answerOf(context: TaskContext, tool: ToolName, input: ToolInput, done: Done): Promise<ToolAnswer> {
  const { decision, facts, state, notes } = done;
  const isHalted = phaseOf(context.workflow, state.phase).who.kind === "human";
  const exitCode = isHalted ? 10 : 0;
  if (tool === "submit_work") return submitAnswer(context, done, exitCode);
  if (tool === "escalate_for_external_help") {
    const report = input.markdown_report ?? "";
    return { text: report, isError: false, exitCode, json: { status: state.phase, report } };
  }
  const told = notes.map((note) => `${note}\n`).join("");
  const text = `${told}${told === "" ? "" : "\n"}${await brief(context, state, facts, decision.reason)}`;
  // A review that failed is no answer to what was asked.
  const isFailed = facts.review === "failed" && !isHalted;
  return {
    text,
    isError: isHalted || isFailed,
    exitCode: isFailed ? 4 : exitCode,
    json: { status: state.phase, briefing: text },
  };
}
