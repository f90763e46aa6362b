/** A batch's results for machines: JSON, and JUnit for whatever reads that. Pure. */
import type { BatchOutcome, TaskResult } from "./batch.js";

export interface BatchReport {
  ok: boolean;
  totals: Record<BatchOutcome, number>;
  tasks: TaskResult[];
}

const OUTCOMES: BatchOutcome[] = ["arrived", "waiting", "refused", "failed", "blocked", "stopped"];

export function reportOf(results: TaskResult[]): BatchReport {
  const count = (outcome: BatchOutcome): number => results.filter((result) => result.outcome === outcome).length;
  const totals = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, count(outcome)])) as Record<
    BatchOutcome,
    number
  >;
  return { ok: results.every(({ outcome }) => outcome === "arrived"), totals, tasks: results };
}

export function toJUnit({ tasks, totals }: BatchReport): string {
  const seconds = (ms: number): string => (ms / 1000).toFixed(3);
  const skipped = totals.waiting + totals.blocked + totals.stopped;
  const failures = totals.refused;
  const cases = tasks.map((task) => {
    const open = `    <testcase classname="pawl" name="${escape(task.id)}" time="${seconds(task.durationMs)}"`;
    const element = { refused: "failure", failed: "error", waiting: "skipped", blocked: "skipped", stopped: "skipped" }[
      task.outcome as string
    ];
    if (element === undefined) return `${open}/>`;
    const type = element === "skipped" ? "" : ` type="${task.outcome}"`;
    return `${open}>\n      <${element} message="${escape(`${task.phase === "" ? "" : `${task.phase}: `}${task.reason}`)}"${type}/>\n    </testcase>`;
  });
  const total = tasks.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const counts = `tests="${tasks.length}" failures="${failures}" errors="${totals.failed}" skipped="${skipped}" time="${seconds(total)}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n  <testsuite name="pawl batch" ${counts}>\n${cases.join("\n")}\n  </testsuite>\n</testsuites>\n`;
}

/** Characters that XML 1.0 does not know at all are left out. */
function escape(text: string): string {
  const legal = text.replace(
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    "",
  );
  return legal
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "&#10;");
}
