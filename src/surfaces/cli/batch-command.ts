/** `batch`: a live view in a terminal, plain lines without one. */
import { runBatch, type TaskResult } from "../../orchestrator/batch/batch.js";
import { planBatch } from "../../orchestrator/batch/plan.js";
import { reportOf, toJUnit, type BatchReport } from "../../orchestrator/batch/report.js";
import { writeFileDurably } from "../../task/atomic-file.js";
import { milliseconds } from "../../workspace/config.js";
import type { Style } from "../style.js";
import { BatchView } from "./batch-view.js";
import { formatTable } from "./format.js";
import type { Invocation, Report } from "./invocation.js";
import { prepareReportFile } from "./report-file.js";

const JOBS = 2;
const REFUSED = 1;
const HUMAN_NEEDED = 10;
const INTERRUPTED = 130;

export async function batchCommand(call: Invocation): Promise<Report> {
  const until = call.text("until");
  const tasks = await planBatch(call.engine, call.args as string[], until);
  const reportFile = prepareReportFile(call, "report");
  const junitFile = prepareReportFile(call, "junit");
  const view = new BatchView(call.io, call.json, tasks.length);
  const budget = call.text("budgetTime");
  const runs = call.options["budgetRuns"];
  // What eight agents print at once is nobody's to read; each has its log.
  const results = await runBatch({ ...call.engine, progress: () => undefined }, tasks, {
    jobs: typeof call.options["jobs"] === "number" ? call.options["jobs"] : JOBS,
    failFast: call.flag("failFast"),
    ...(until === undefined ? {} : { until }),
    ...(budget === undefined ? {} : { budgetMs: milliseconds(budget) }),
    ...(typeof runs === "number" ? { budgetRuns: runs } : {}),
    onStart: (id) => view.started(id),
    onStep: (id, step) => view.stepped(id, step),
    onResult: (result) => view.finished(result),
  });
  view.close();
  const report = reportOf(results);
  if (reportFile !== undefined) await writeFileDurably(reportFile, `${JSON.stringify(report, null, 2)}\n`);
  if (junitFile !== undefined) await writeFileDurably(junitFile, toJUnit(report));
  return { json: report, text: () => formatReport(report, call.style), exitCode: codeOf(report, call) };
}

function codeOf(report: BatchReport, call: Invocation): number {
  if (report.ok) return 0;
  if (call.engine.signal?.aborted === true) return INTERRUPTED;
  const { totals } = report;
  return totals.refused + totals.failed + totals.blocked + totals.stopped > 0 ? REFUSED : HUMAN_NEEDED;
}

function formatReport(report: BatchReport, style: Style): string {
  const open = report.tasks.filter(({ outcome }) => outcome !== "arrived");
  const rows = open.map(({ id, outcome, phase, reason }: TaskResult) => [
    id,
    outcome,
    phase,
    reason.split("\n")[0] ?? "",
  ]);
  const totals = Object.entries(report.totals).filter(([, count]) => count > 0);
  const line = totals.map(([outcome, count]) => `${count} ${outcome}`).join(", ");
  return [
    ...(rows.length === 0 ? [] : [formatTable(["task", "outcome", "phase", "why"], rows, style)]),
    report.ok ? style.green(line) : style.yellow(line),
  ].join("\n");
}
