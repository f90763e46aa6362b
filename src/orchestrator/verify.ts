/** The records of a task held against each other, against the document, and against what is on the disk. */
import { join } from "node:path";
import { invalid, messageOf, PawlError, refused, usage, type Finding } from "../errors.js";
import { livenessOf, type ProcessIdentity } from "../process/identity.js";
import { isTransition, readHistory, type HistoryEvent } from "../task/history.js";
import { adoptTask, HISTORY_FILE, loadTask } from "../task/store.js";
import type { Workflow } from "../workflow/types.js";
import { record, type TaskContext } from "./context.js";
import { isAgent } from "./sender.js";

export interface Verification {
  task: string;
  ok: boolean;
  events: number;
  findings: Finding[];
  /** True things that somebody who relies on the records should know. */
  notes: string[];
}

export function verify(context: TaskContext): Verification {
  const { events, lines, findings } = readHistory(join(context.dir, HISTORY_FILE));
  const notes: string[] = [];
  try {
    const { state, origin, unrecorded } = loadTask(context.dir, context.workflow);
    if (origin !== "stored")
      notes.push(
        origin === "fresh" ? "nothing is on record yet" : "the state file was written by hand and is not on record yet",
      );
    if (unrecorded !== "")
      notes.push("the last event is in the state file and not yet in the history; the next command adds it");
    if (state.lastEvent !== null && state.workflow.hash !== context.workflow.hash)
      notes.push(`${context.workflow.file} changed since the task's last step under it`);
  } catch (error) {
    findings.push(
      ...(error instanceof PawlError && error.findings.length > 0 ? error.findings : [{ message: messageOf(error) }]),
    );
  }
  findings.push(...checkTransitions(events, lines, context.workflow));
  const adopted = lines[events.findLastIndex(({ type }) => type === "task.adopted")] ?? 0;
  // A finding without a line is about the records as they are now: no earlier adoption covers it.
  const open = findings.filter(({ file, line }) => file !== HISTORY_FILE || line === undefined || line > adopted);
  if (open.length < findings.length) notes.push(`${findings.length - open.length} earlier findings were adopted`);
  for (const { type, at, by, from, to, reason } of events) {
    if (type === "override") notes.push(`override ${from ?? ""} → ${to ?? ""} by ${by} at ${at}: ${reason ?? ""}`);
    if (type === "task.adopted") notes.push(`adopted at ${to ?? ""} by ${by} at ${at}: ${reason ?? ""}`);
  }
  return { task: context.id, ok: open.length === 0, events: events.length, findings: open, notes };
}

export async function adopt(context: TaskContext, reason: string): Promise<Verification> {
  if (reason.trim() === "")
    throw usage("adopting needs a reason that is not blank", { hint: 'pawl verify --adopt "why"' });
  if (isAgent(context))
    throw refused("only a human may adopt a state file, not an agent", { hint: "leave it to the human who runs pawl" });
  requireNoRun(context);
  if (verify(context).ok)
    throw usage(`there is nothing to adopt: the records of ${context.id} agree`, { hint: `pawl next ${context.id}` });
  const { state, kept } = await adoptTask(context.dir, context.workflow, {
    by: context.user,
    reason,
    now: context.now,
    environment: context.workspace.env,
  });
  record(context, { kind: "override", text: `adopted the state file at ${state.phase}: ${reason}`, data: { kept } });
  const after = verify(context);
  if (!after.ok)
    throw invalid(`the records still disagree: ${after.findings[0]?.message ?? ""}`, {
      findings: after.findings,
      hint: `see \`pawl verify ${context.id}\``,
    });
  return after;
}

/** Whoever edits the state while an agent is at work may be that agent: the history, not the edited file, says who is. */
function requireNoRun(context: TaskContext): void {
  const { events } = readHistory(join(context.dir, HISTORY_FILE));
  const last = events.at(-1);
  const owner = last?.type === "run.started" ? (last.data?.["owner"] as ProcessIdentity | undefined) : undefined;
  if (owner !== undefined && livenessOf(owner) !== "gone")
    throw refused(`another pawl (process ${owner.pid}) is at work on ${last?.to ?? ""} of ${context.id}`, {
      hint: "wait for it, or end that process; then look again with `pawl verify`",
    });
  const hosts = events.flatMap(({ type, data, to }) =>
    type === "agent.starting" ? [{ host: data?.["host"] as ProcessIdentity, phase: to ?? "" }] : [],
  );
  const busy = hosts.find(({ host }) => livenessOf(host) !== "gone");
  if (busy === undefined) return;
  throw refused(`an agent (held by process ${busy.host.pid}) is at work on ${busy.phase} of ${context.id}`, {
    hint: "wait for it, or end that process; then look again with `pawl verify`",
  });
}

/** Every transition on record has to follow from the one before; whether it is a row is known only for the document at hand. */
function checkTransitions(events: HistoryEvent[], lines: number[], workflow: Workflow): Finding[] {
  const findings: Finding[] = [];
  let phase: string | undefined;
  events.forEach((event, index) => {
    const place = { file: HISTORY_FILE, line: lines[index] ?? 0 };
    if (isTransition(event) || event.type === "override" || event.type === "redo") {
      if (phase !== undefined && event.from !== phase) {
        findings.push({
          message: `event ${event.seq} leaves ${event.from ?? ""}, but the task was in ${phase}`,
          ...place,
          expected: phase,
          found: event.from ?? "nothing",
        });
      }
      const isRow = workflow.transitions.some(
        (row) => row.from === event.from && row.to === event.to && row.event === event.data?.["event"],
      );
      if (isTransition(event) && !isRow) {
        findings.push({
          message: `event ${event.seq} went from ${event.from ?? ""} to ${event.to ?? ""}, which is no row of ${workflow.file}`,
          ...place,
          expected: "a row of the table",
          found: `${event.from ?? ""} → ${event.to ?? ""}`,
        });
      }
    }
    phase = event.to ?? phase;
  });
  return findings;
}
