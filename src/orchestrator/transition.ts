/**
 * Carrying out a decision: its actions, then state and event in one write. The only place where the phase of a task changes.
 *
 * Actions come first and are safe to repeat; whatever fails before the write leaves the task where it was.
 */
import { join } from "node:path";
import { actions } from "../actions/registry.js";
import type { ActionContext, ActionResult, StatePatch } from "../actions/types.js";
import { invalid } from "../errors.js";
import { archiveArtifact, planArchive } from "../task/archive.js";
import { writeFileDurably } from "../task/atomic-file.js";
import { inputHashes } from "../task/evidence.js";
import type { HistoryEvent } from "../task/history.js";
import {
  actorOf,
  newActor,
  withOverride,
  type ActorStatus,
  type EvidenceRecord,
  type TaskState,
} from "../task/state.js";
import type { OpenTask } from "../task/store.js";
import { sha256 } from "../workflow/hash.js";
import { describeSender } from "../workflow/decide.js";
import type { ArtifactStatus, Decision, Event, Evidence } from "../workflow/types.js";
import { record, type TaskContext } from "./context.js";
import { evidenceFor } from "./look.js";
import { notify } from "./notify.js";
import { phaseOf } from "./suggest.js";

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
  const results = await runActions(context, task.state, decision, event, evidence);
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
    await writeFileDurably(join(context.dir, path), text as string);
  next = applyPatch(context, next, decision, patch);
  next = await enter(context, next, decision, event);

  const human = event.by.kind === "human";
  const committed = await task.commit(next, {
    type: decision.row === null ? decision.event : "transition",
    by: human ? context.user : describeSender(event.by),
    from: decision.from,
    to: decision.to,
    reason: decision.reason,
    evidence: acceptedHashes(decision, evidence),
    data: { ...eventData(decision, event, notes, next), ...data },
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
  await notify(context, step);
  return step;
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
      counters: state.counters,
      now: context.now,
      progress: context.progress,
      ...(context.signal === undefined ? {} : { signal: context.signal }),
    };
    results.push(await action.run(given, call));
  }
  return results;
}

/** The hashes of what opened the gate are remembered: a later change of it is noticed. */
function accept(context: TaskContext, state: TaskState, decision: Decision, evidence: Evidence): TaskState {
  const records: Record<string, EvidenceRecord> = { ...state.evidence };
  for (const name of acceptedNames(context, decision, evidence)) {
    const status = evidence.artifacts[name];
    const artifact = context.workflow.artifacts.find((candidate) => candidate.name === name);
    if (status?.hash === undefined || artifact === undefined) continue;
    const known = records[name] ?? { inputs: inputHashes(artifact, evidence.artifacts) };
    records[name] = { ...known, accepted: status.hash };
  }
  if (decision.event === "override") Object.assign(records, waivers(context, decision, evidence));
  return { ...state, evidence: records };
}

function acceptedNames(context: TaskContext, decision: Decision, evidence: Evidence): string[] {
  if (decision.row === null) return [];
  const leaves = decision.event === "next" ? phaseOf(context.workflow, decision.from).leaves : [];
  return [...new Set([...decision.relied, ...leaves])].filter((name) => evidence.artifacts[name]?.condition === "ok");
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

/** What an override passes over (the look has to cover all of it) counts as given from now on, though it opens nothing by itself. */
function waivers(context: TaskContext, decision: Decision, evidence: Evidence): Record<string, EvidenceRecord> {
  const { phases, artifacts } = context.workflow;
  const target = phases.findIndex(({ name }) => name === decision.to);
  const earlier = phases.slice(0, target).flatMap(({ leaves }) => leaves);
  const passedOver = artifacts.filter(
    ({ name }) => earlier.includes(name) && evidence.artifacts[name]?.condition !== "ok",
  );
  return Object.fromEntries(
    passedOver.map((artifact) => [artifact.name, { inputs: inputHashes(artifact, evidence.artifacts), waived: true }]),
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

/** Writes an artifact that pawl makes itself, and remembers its hash: any other content of that file is not pawl's. */
export async function writeArtifact(
  context: TaskContext,
  state: TaskState,
  name: string,
  data: unknown,
  statuses: Record<string, ArtifactStatus>,
): Promise<TaskState> {
  const artifact = context.workflow.artifacts.find((candidate) => candidate.name === name);
  if (artifact === undefined) throw new TypeError(`writeArtifact: ${name} is no artifact of ${context.workflow.name}`);
  const text = formatArtifact(data);
  const archived = await archiveArtifact(context.dir, artifact, state.phase, actorOf(state, state.phase).runs);
  await writeFileDurably(join(context.dir, artifact.file), text);
  const previous = state.evidence[name];
  const kept = previous?.archived ?? archived;
  const entry: EvidenceRecord = {
    inputs: inputHashes(artifact, statuses),
    written: sha256(text),
    ...(kept === null || kept === undefined ? {} : { archived: kept }),
  };
  return { ...state, evidence: { ...state.evidence, [name]: entry } };
}

export function formatArtifact(data: unknown): string {
  return `${JSON.stringify(data, null, 2)}\n`;
}

function applyPatch(context: TaskContext, state: TaskState, decision: Decision, patch: StatePatch): TaskState {
  let next = state;
  if (patch.resetVisits === true) next = resetVisits(next, decision);
  if (patch.waiting !== undefined) {
    next = {
      ...next,
      waiting: patch.waiting === null ? null : { reason: patch.waiting, since: context.now().toISOString() },
    };
  }
  if (patch.counters !== undefined) next = { ...next, counters: { ...next.counters, ...patch.counters } };
  if (patch.fields !== undefined) {
    const fields = { ...next.fields, ...patch.fields };
    next = { ...next, fields: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) };
  }
  if (patch.archive !== undefined) {
    const { leaves } = phaseOf(context.workflow, decision.from);
    next = putAway(context, next, decision.from, patch.archive.includes("*") ? leaves : patch.archive);
  }
  return next;
}

/** A human stepped in: every loop starts counting anew. A phase that is left counts again when it is entered. */
function resetVisits(state: TaskState, { from, to }: Decision): TaskState {
  const actors = Object.fromEntries(
    Object.entries(state.actors).map(([phase, { fingerprint: _fingerprint, ...actor }]) => [
      phase,
      { ...actor, visits: from === to && phase === to ? 1 : 0, failures: 0 },
    ]),
  );
  return { ...state, actors };
}

async function enter(context: TaskContext, state: TaskState, decision: Decision, event: Event): Promise<TaskState> {
  const byHuman = decision.row === null;
  const leaving = decision.to !== decision.from || byHuman;
  let next = byHuman ? resetVisits({ ...state, waiting: null, workflow: currentDocument(context) }, decision) : state;
  const from = {
    ...actorOf(next, decision.from),
    status: leaving ? ("completed" as const) : statusOfStaying(next, decision, event),
  };
  next = { ...next, phase: decision.to, actors: { ...next.actors, [decision.from]: from } };
  const note = event.payload.note ?? event.payload.reason;
  if (decision.event === "override") {
    const { from, to, reason } = decision;
    next = withOverride(next, { at: context.now().toISOString(), by: context.user, from, to, reason });
  }
  if (event.by.kind === "human" && note !== undefined && note.trim() !== "") {
    next = { ...next, fields: { ...next.fields, note: note.trim() } };
  } else if (leaving) next = { ...next, fields: without(next.fields, "note") }; // It was for the phase that is done now.
  if (!leaving) return next;
  if (next.waiting !== null && decision.to !== decision.from) next = { ...next, waiting: null };
  const actor = actorOf(next, decision.to);
  const cause = { from: decision.from, reason: decision.reason, artifacts: decision.relied };
  next = {
    ...next,
    actors: {
      ...next.actors,
      [decision.to]: {
        ...newActor(actor.visits + (decision.to === decision.from ? 0 : 1)),
        runs: actor.runs,
        attempts: actor.attempts,
        cause,
      },
    },
  };
  const { leaves } = phaseOf(context.workflow, decision.to);
  return bindInputs(context, putAway(context, next, decision.to, leaves), leaves);
}

/** A failed attempt stays one until somebody acts on it. */
function statusOfStaying(state: TaskState, { from }: Decision, event: Event): ActorStatus {
  if (state.waiting !== null) return "blocked";
  return event.by.kind === "pawl" ? actorOf(state, from).status : "idle";
}

/** Earlier versions of the artifacts are put away: what was there before a phase began says nothing about it. */
export function putAway(context: TaskContext, state: TaskState, phase: string, names: string[]): TaskState {
  const records = { ...state.evidence };
  const moves = [...(state.putAway ?? [])];
  for (const artifact of context.workflow.artifacts.filter(({ name }) => names.includes(name))) {
    const before = records[artifact.name];
    const move = planArchive(context.dir, artifact, phase, actorOf(state, phase).runs, moves);
    if (move !== null && !moves.includes(move)) moves.push(move);
    const archived = move?.to;
    // The last accepted version stays known, to tell whether anything new came after it.
    const kept = before?.accepted === undefined ? before?.archived : (archived ?? before.archived);
    records[artifact.name] = { inputs: {}, ...(kept === undefined ? {} : { archived: kept }) };
  }
  return { ...state, evidence: records, putAway: moves };
}

/** From here on the named artifacts are verdicts on what there is now. */
export async function bindInputs(context: TaskContext, state: TaskState, names: string[]): Promise<TaskState> {
  const artifacts = context.workflow.artifacts.filter(({ name }) => names.includes(name));
  const judged = [...new Set(artifacts.flatMap(({ judges }) => judges))];
  const statuses = await evidenceFor(context, state, judged);
  const records = { ...state.evidence };
  for (const artifact of artifacts)
    records[artifact.name] = { ...records[artifact.name], inputs: inputHashes(artifact, statuses) };
  return { ...state, evidence: records };
}

function without(fields: Record<string, unknown>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
}

function currentDocument(context: TaskContext): TaskState["workflow"] {
  const { name, version, hash } = context.workflow;
  return { name, version, hash };
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
