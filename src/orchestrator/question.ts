/** The question that a task stands before: what was asked, which answers fit, and what somebody who decides should know. */
import type { Question } from "../actions/question-actions.js";
import { readEnd } from "./read-end.js";
import type { HistoryEvent } from "../task/history.js";
import { answerChoices } from "../workflow/choices.js";
import { decide } from "../workflow/decide.js";
import type { Evidence, Event, Workflow } from "../workflow/types.js";
import type { TaskContext } from "./context.js";

export type { Question } from "../actions/question-actions.js";

export function questionIn(fields: Readonly<Record<string, unknown>>): Question | null {
  return (fields["question"] ?? null) as Question | null;
}

/** Of the answers that a phase knows, those that fit what is asked now; all of them where none does. */
export function openAnswers(workflow: Workflow, evidence: Evidence): string[] {
  const choices = answerChoices(workflow, evidence.phase);
  const open = choices.filter((choice) => {
    const event: Event = { name: "answer", by: { kind: "human", name: "" }, payload: { choice, note: "…" } };
    return decide(workflow, evidence, event).kind === "decision";
  });
  return open.length === 0 ? choices : open;
}

/** How the work went that led to the question. */
export interface Background {
  phase: string;
  runs: number;
  /** Rounds that led back to the same work: runs that failed, tests that failed, reviews that asked for changes. */
  failed: number;
  /** Why, the last time; and was it the same the time before? */
  lastFailure: string | null;
  repeats: boolean;
  /** What came of the last run, in its own words. */
  lastRun: string | null;
  /** Files of the change, as it was last described. */
  files: string[];
}

export function backgroundOf(
  context: TaskContext,
  { origin }: Question,
  events: HistoryEvent[],
  change: unknown,
): Background {
  const runs = events.filter(({ type, from }) => type === "run.started" && from === origin);
  const failures = events.filter((event) => isSetback(event, origin)).map(({ reason = "" }) => reason);
  const number = Number(runs.at(-1)?.data?.["run"] ?? 0);
  const files = (change as { files?: { path: string }[] } | undefined)?.files ?? [];
  return {
    phase: origin,
    runs: runs.length,
    failed: failures.length,
    lastFailure: failures.at(-1) ?? null,
    repeats: failures.length > 1 && failures.at(-1) === failures.at(-2),
    lastRun: number > 0 ? (readEnd(context, { phase: origin, number })?.summary ?? null) : null,
    files: files.map(({ path }) => path),
  };
}

/** Into the phase again from a later one, or a failure within it. */
function isSetback({ type, from, to, data }: HistoryEvent, origin: string): boolean {
  if (to !== origin || from === undefined) return false;
  if (type === "run.failed" || data?.["event"] === "fail") return true;
  return type === "transition" && data?.["event"] === "next";
}
