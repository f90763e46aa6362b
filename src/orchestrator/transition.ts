/**
 * Carrying out a decision: its actions, then state and event in one write. The only place where the phase of a task changes.
 *
 * Actions come first and are safe to repeat; whatever fails before the write leaves the task where it was.
 */
import { actions } from "../actions/registry.js";
import type { ActionContext, ActionResult, StatePatch } from "../actions/types.js";
import { invalid } from "../errors.js";
import { writeFileDurably } from "../task/atomic-file.js";
import { agentMarks, CRASH } from "../task/agent-mark.js";
import type { HistoryEvent } from "../task/history.js";
import type { TaskState } from "../task/state.js";
import type { OpenTask } from "../task/store.js";
import { describeSender } from "../workflow/blockers.js";
import { CRASHED, EXIT, UPDATE } from "../workflow/exits.js";
import type { ArtifactStatus, Decision, Event, Evidence } from "../workflow/types.js";
import { inTaskDirectory, writeArtifact } from "./artifacts.js";
import { record, type TaskContext } from "./context.js";
import { accept, applyPatch, enter } from "./next-state.js";
import { phaseOf } from "./suggest.js";
import { wayBack } from "./way-back.js";

export interface Step {
  from: string;
  to: string;
  reason: string;
  notes: string[];
  event: HistoryEvent;
  waiting: string | null;
}

/** An artifact that comes with the event itself, such as a human's decision; written only if the decision stands. */
export interface Brought {
  name: string;
  data: unknown;
}

export async function carryOut(
  context: TaskContext,
  task: OpenTask,
  decision: Decision,
  event: Event,
  evidence: Evidence,
  { brought = [], base, data = {} }: { brought?: Brought[]; base?: TaskState; data?: Record<string, unknown> } = {},
): Promise<Step> {
  await endAgentsBefore(context, task, decision);
  const results = await runActions(context, base ?? task.state, decision, event, evidence);
  const notes = results.flatMap((result) => result.notes ?? []);
  const patch = mergePatches(results);
  const made = {
    ...Object.fromEntries(brought.map(({ name, data }) => [name, data])),
    ...mergeRecords(results, "artifacts"),
  };
  await task.begin(context.user);

  let next = accept(context, base ?? task.state, decision, evidence);
  next = await writeMade(context, next, made, evidence.artifacts);
  for (const [path, text] of Object.entries(mergeRecords(results, "files")))
    await writeFileDurably(inTaskDirectory(context, path), text as string);
  next = await applyPatch(context, next, decision, patch);
  next = await enter(context, next, decision, event);

  const human = event.by.kind === "human";
  const type = typeOf(decision, event);
  const committed = await task.commit(next, {
    type,
    by: human ? context.user : describeSender(event.by),
    from: decision.from,
    to: decision.to,
    reason: decision.reason,
    evidence: acceptedHashes(decision, evidence),
    data: {
      ...eventData(decision, event, notes, next),
      ...(type === CRASH ? crashData(decision, task, next) : {}),
      ...data,
    },
  });
  record(context, {
    kind: decision.event === "override" ? "override" : "transition",
    text: `${decision.from} → ${decision.to}: ${decision.reason}`,
    data: {
      seq: committed.seq,
      notes,
      ...(decision.skipped.length > 0 ? { skipped: decision.skipped.map(({ message }) => message) } : {}),
    },
  });
  const step: Step = {
    from: decision.from,
    to: decision.to,
    reason: decision.reason,
    notes,
    event: committed,
    waiting: next.waiting?.reason ?? null,
  };
  context.notices.push(step);
  return step;
}

/** Nobody works on a task that is over, nor in a worktree that is about to be removed. */
async function endAgentsBefore(context: TaskContext, task: OpenTask, { to }: Decision): Promise<void> {
  if (phaseOf(context.workflow, to).who.kind !== "nobody" || agentMarks(task.state.fields).length === 0) return;
  const { endAgents } = await import("./tending/dismissal.js");
  await endAgents(context, task);
}

/** What pawl itself takes because an agent has ended is told apart: nobody asked for it. */
function typeOf({ row, from, to, event: name }: Decision, { by }: Event): string {
  if (row === null) return name;
  if (by.kind !== "pawl" || (name !== EXIT && name !== CRASHED)) return "transition";
  return from === to ? CRASH : "auto.advanced";
}

/** With the counters that it raised. */
function crashData({ from }: Decision, { state }: OpenTask, next: TaskState): Record<string, unknown> {
  const raised = Object.entries(next.counters).filter(([name, value]) => state.counters[name] !== value);
  return { status: from, ...Object.fromEntries(raised) };
}

async function runActions(
  context: TaskContext,
  state: TaskState,
  decision: Decision,
  event: Event,
  evidence: Evidence,
): Promise<ActionResult[]> {
  const results: ActionResult[] = [];
  for (const call of decision.actions) {
    const action = await actions.get(call.name)?.load();
    if (action === undefined)
      throw invalid(`${context.workflow.file}: the action \`${call.name}\` is not known`, {
        hint: `run \`pawl spec check ${context.workflow.name}\``,
      });
    const given: ActionContext = {
      settings: await context.settings(),
      artifacts: evidence.artifacts,
      event: event.by.kind === "human" ? { ...event, by: { kind: "human", name: context.user } } : event,
      reason: decision.reason,
      from: decision.from,
      to: decision.to,
      fields: {
        ...state.fields,
        ...mergeRecords(
          results.map(({ patch }) => patch ?? {}),
          "fields",
        ),
      },
      counters: {
        ...state.counters,
        ...(mergeRecords(
          results.map(({ patch }) => patch ?? {}),
          "counters",
        ) as Record<string, number>),
      },
      back: wayBack(context.workflow, decision.from, changingPhase(context), context.id),
      again: `\`${askedAgain(context, event)}\` again`,
      now: context.now,
      progress: context.progress,
      ...(context.signal === undefined ? {} : { signal: context.signal }),
    };
    results.push(await action.run(given, call));
  }
  return results;
}

/** Where the change comes from. */
function changingPhase({ workflow }: TaskContext): string {
  return workflow.phases.find(({ leaves }) => leaves.includes("change"))?.name ?? workflow.initial;
}

function askedAgain({ id }: TaskContext, { name, payload }: Event): string {
  if (name === "answer") return `pawl answer ${payload.choice ?? "<choice>"}`;
  return name === UPDATE ? `pawl task update ${id} --status ${String(payload["status"])}` : `pawl ${name} ${id}`;
}

function acceptedHashes(decision: Decision, evidence: Evidence): Record<string, string> {
  const names = decision.row === null ? [] : Object.keys(evidence.artifacts);
  return Object.fromEntries(
    names.flatMap((name) => {
      const status = evidence.artifacts[name];
      return status?.condition === "ok" && status.hash !== undefined ? [[name, status.hash]] : [];
    }),
  );
}

async function writeMade(
  context: TaskContext,
  state: TaskState,
  made: Record<string, unknown>,
  statuses: Record<string, ArtifactStatus>,
): Promise<TaskState> {
  let next = state;
  for (const [name, data] of Object.entries(made)) next = await writeArtifact(context, next, name, data, statuses);
  return next;
}

function eventData(decision: Decision, event: Event, notes: string[], next: TaskState): Record<string, unknown> {
  const { choice, note, to } = event.payload;
  return {
    event: decision.event,
    ...(decision.row === null ? {} : { row: decision.row.line }),
    ...(notes.length > 0 ? { notes } : {}),
    ...(decision.skipped.length > 0 ? { skipped: decision.skipped.map(({ message }) => message) } : {}),
    ...(next.waiting === null ? {} : { waiting: next.waiting.reason }),
    ...(choice === undefined ? {} : { choice }),
    ...(note === undefined ? {} : { note }),
    ...(to === undefined || decision.row === null ? {} : { target: to }),
  };
}

function mergePatches(results: ActionResult[]): StatePatch {
  const patches = results.map(({ patch }) => patch ?? {});
  return {
    ...Object.assign({}, ...patches),
    counters: mergeRecords(patches, "counters") as Record<string, number>,
    fields: mergeRecords(patches, "fields"),
  } as StatePatch;
}

function mergeRecords<K extends string>(items: Partial<Record<K, unknown>>[], key: K): Record<string, unknown> {
  return Object.assign({}, ...items.map((item) => item[key] ?? {})) as Record<string, unknown>;
}
