import { exitCode, usage } from "../../errors.js";
import type { TaskContext } from "../../orchestrator/context.js";
import type { RunLog } from "../../orchestrator/logs.js";
import { historyOf, statusOf } from "../../orchestrator/status.js";
import { suggest } from "../../orchestrator/suggest.js";
import { listTasks, type TaskSummary } from "../../orchestrator/tasks.js";
import { lookAfter } from "../../orchestrator/tending/look-after.js";
import type { HistoryEvent } from "../../task/history.js";
import { readTranscript } from "../../task/transcript.js";
import { formatFinding } from "./format-error.js";
import { formatStatus, formatSuggestion, formatTable, formatWays } from "./format.js";
import type { Invocation, Report } from "./invocation.js";

const INVALID = 3;
const INTERRUPTED = exitCode("interrupted");
const STATUS_WIDTH = 72;
const LOG_END_BYTES = 64 * 1024;

export async function tasksCommand(call: Invocation): Promise<Report> {
  const tasks = await listTasks(call.engine);
  return {
    json: { workspace: call.engine.workspace.root, tasks },
    text: () =>
      tasks.length === 0
        ? 'no task yet; make one: pawl new "<title>"'
        : formatTable(
            ["task", "phase", "status", "title"],
            tasks.map((task) => [
              task.id,
              task.phase,
              cut(statusCell(task)),
              task.title + (task.overrides > 0 ? ` (${task.overrides} overridden)` : ""),
            ]),
            call.style,
          ),
  };
}

function statusCell({ status, untrusted, waiting }: TaskSummary): string {
  if (untrusted !== null) return `${status}: ${untrusted}`;
  return waiting === null ? status : `waits: ${waiting}`;
}

/** One long reason would widen every row; `status` tells the whole of it. */
function cut(text: string): string {
  const line = text.replaceAll("\n", " ");
  return line.length <= STATUS_WIDTH ? line : `${line.slice(0, STATUS_WIDTH - 1)}…`;
}

export async function statusCommand(call: Invocation): Promise<Report> {
  const status = await statusOf(await call.task(call.args[0]));
  return { json: status, text: () => formatStatus(status, call.style) };
}

export async function suggestCommand(call: Invocation): Promise<Report> {
  const suggestion = await suggest(await call.task(call.args[0]));
  return { json: suggestion, text: () => formatSuggestion(suggestion, call.style) };
}

export async function whyCommand(call: Invocation): Promise<Report> {
  const context = await call.task(call.args[0]);
  await lookAfter(context);
  const suggestion = await suggest(context);
  return {
    json: suggestion,
    text: () => `${formatSuggestion(suggestion, call.style)}\n\n${formatWays(suggestion.ways, call.style)}`,
  };
}

export async function historyCommand(call: Invocation): Promise<Report> {
  const context = await call.task(call.args[0]);
  const events = historyOf(context);
  return {
    json: { task: context.id, events },
    text: () =>
      formatTable(
        ["#", "when", "what", "from → to", "by", "why"],
        events.map((event) => {
          const { seq, at, type, from, to, by } = event;
          const way = from === undefined || from === to ? (to ?? "") : `${from} → ${to ?? ""}`;
          return [String(seq), at.slice(0, 19).replace("T", " "), type, way, by, whyOf(event)];
        }),
        call.style,
      ),
  };
}

/** The reason, and what a human said besides. */
function whyOf({ reason = "", data }: HistoryEvent): string {
  const note = data?.["note"];
  if (typeof note !== "string" || note === "" || reason.includes(note)) return reason;
  return reason === "" ? note : `${reason}: ${note}`;
}

export async function transcriptCommand(call: Invocation): Promise<Report> {
  const context = await call.task(call.args[0]);
  const entries = readTranscript(context.dir);
  return {
    json: { task: context.id, entries },
    text: () =>
      entries
        .map(
          ({ at, kind, by, text }) =>
            `${call.style.dim(at.slice(0, 19).replace("T", " "))} ${kind.padEnd(10)} ${by}: ${text}`,
        )
        .join("\n"),
  };
}

/** The whole log as text; in JSON only its end, which is what a script can hold. */
export async function logCommand(call: Invocation): Promise<Report> {
  const { findLog, readLog } = await import("../../orchestrator/logs.js");
  const context = await call.task(call.args[0]);
  const phase = call.text("phase");
  const { run } = call.options;
  const log = findLog(context, {
    ...(phase === undefined ? {} : { phase }),
    ...(typeof run === "number" ? { run } : {}),
  });
  if (call.flag("follow")) return followCommand(call, context, log);
  if (call.json) {
    const text = [...readLog(context, log, LOG_END_BYTES)].join("");
    return { json: { task: context.id, ...log, text }, text: () => "" };
  }
  let printed = false;
  for (const piece of readLog(context, log)) {
    call.io.out(piece);
    printed ||= piece !== "";
  }
  if (!printed) call.io.err(`run ${log.run} of ${log.phase} printed nothing\n`);
  return { json: undefined, text: () => "" };
}

/** As it is written, until the run has ended; for a file or a program without what is for terminals. */
async function followCommand(call: Invocation, context: TaskContext, log: RunLog): Promise<Report> {
  if (call.json) throw usage("a log that is followed is no JSON document", { hint: "leave out --json or --follow" });
  const { followLog } = await import("../../orchestrator/follow-log.js");
  const { PlainText } = await import("../../process/plain-text.js");
  const { io } = call;
  const { signal } = call.engine;
  const plain = io.outIsTerminal ? null : new PlainText();
  for await (const piece of followLog(context, log, signal === undefined ? {} : { signal }))
    io.out(plain === null ? piece : plain.add(piece));
  io.out(plain?.end() ?? "");
  return { json: undefined, text: () => "", exitCode: signal?.aborted === true ? INTERRUPTED : 0 };
}

export async function verifyCommand(call: Invocation): Promise<Report> {
  const { adopt, verify } = await import("../../orchestrator/verify.js");
  const reason = call.options["adopt"];
  const context = await call.task(
    call.args[0],
    typeof reason === "string" ? `verify --adopt ${JSON.stringify(reason)}` : undefined,
  );
  const result = typeof reason === "string" ? await adopt(context, reason) : verify(context);
  const { style } = call;
  return {
    json: result,
    text: () =>
      [
        result.ok
          ? `${style.green("ok:")} ${result.events} events, all in order`
          : `${style.red("not in order:")} ${result.findings.length} findings`,
        ...result.findings.map((finding) => `  - ${formatFinding(finding)}`),
        ...result.notes.map((note) => `  note: ${note}`),
        ...(result.ok
          ? []
          : [
              `  ${style.cyan("next:")} undo the edit, or take it over with a reason: pawl verify --adopt "why" ${context.id}`,
            ]),
      ].join("\n"),
    exitCode: result.ok ? 0 : INVALID,
  };
}
