/** What submit_work answers: `{ status, output, instruction }`. */
import type { TaskState } from "../../task/state.js";
import type { Decision } from "../../workflow/types.js";
import type { TaskContext } from "../context.js";
import type { ToolAnswer } from "../tools/types.js";
import { fillBriefing } from "./briefing.js";
import type { Gathered } from "./gather.js";

export type SubmitStatus = "SUCCESS" | "FAILURE" | "NEEDS_ANALYSIS";

export function submitResult(
  status: SubmitStatus,
  output: string,
  instruction: string,
  more: Record<string, unknown> = {},
): Pick<ToolAnswer, "text" | "json"> {
  const json = { status, output, instruction, ...more };
  return { text: JSON.stringify(json, null, 2), json };
}

export function submitAnswer(
  context: TaskContext,
  { decision, facts, state }: { decision: Decision; facts: Gathered; state: TaskState },
  exitCode: number,
): ToolAnswer {
  const output = facts.output ?? facts.error ?? "";
  const log = typeof facts["log"] === "string" ? facts["log"] : "";
  const more = log === "" ? {} : { log };
  const isHalted = exitCode !== 0;
  const instruction = fillBriefing(context, isHalted ? "halted" : BRIEFINGS[statusOf(facts)], {
    reason: sentence(decision.reason),
    problem: sentence(facts.problem),
    doubt: doubtOf(facts),
    log,
    status: state.phase,
    halted: decision.reason,
    error: "",
  });
  const status = isHalted ? "FAILURE" : statusOf(facts);
  return { ...submitResult(status, output, instruction, more), isError: isHalted, exitCode };
}

const BRIEFINGS: Record<SubmitStatus, string> = {
  SUCCESS: "done",
  FAILURE: "failed",
  NEEDS_ANALYSIS: "needs-analysis",
};

function statusOf({ result }: Gathered): SubmitStatus {
  if (result === "red") return "NEEDS_ANALYSIS";
  return result === "failed" || result === "unexpected" || result === "denied" ? "FAILURE" : "SUCCESS";
}

function doubtOf(facts: Gathered): string {
  const reason = facts["wrongReason"];
  return typeof reason === "string" ? `Most likely it failed for the wrong reason: ${reason}.` : "";
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
