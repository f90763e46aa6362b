/**
 * What a human takes over where the records of a task disagree: the state file as it stands, or, where it cannot be read, the
 * last phase on record. What its evidence is worth is told by records that nobody edited, never by the edited file.
 */
import { invalid, messageOf } from "../errors.js";
import type { Workflow } from "../workflow/types.js";
import { HISTORY_FILE, requireKnownPhase } from "./check-records.js";
import { hashEvent, type HistoryEvent, type WholeHistory } from "./history.js";
import { stateName } from "./paths.js";
import { evidenceFromHistory, unknownEvidence } from "./rebuild-evidence.js";
import {
  actorOf,
  freshState,
  hashState,
  newActor,
  overridesOf,
  stateFromJson,
  type Actor,
  type EvidenceRecord,
  type OverrideRecord,
  type TaskState,
} from "./state.js";
import { parseStrictJson } from "./strict-json.js";

/** With what a history begins of which nothing is missing. */
const BEGINNINGS = ["task.created", "task.imported"];

export interface TakenOver {
  state: TaskState;
  /** In words, for the record. */
  found: string;
  /** The phase that the file names; null where the file cannot be taken. */
  foundPhase: string | null;
  recordedPhase: string | null;
}

export function takeOver(content: Buffer | null, history: WholeHistory, workflow: Workflow, task: string): TakenOver {
  const sound = soundEvents(history);
  const recordedPhase = sound.findLast(({ to }) => to !== undefined)?.to ?? null;
  const found = readFound(content, workflow, task);
  const state = "state" in found ? found.state : freshState(workflow, requireRecorded(recordedPhase, workflow));
  const { putAway: _putAway, ...rest } = state;
  return {
    state: {
      ...rest,
      waiting: null,
      actors: actorsOf(state, sound),
      evidence: evidenceOf(state, history, workflow),
      fields: { ...state.fields, overrides: overridesIn(state, sound) },
    },
    found: "state" in found ? `the phase \`${state.phase}\`` : found.problem,
    foundPhase: "state" in found ? state.phase : null,
    recordedPhase,
  };
}

function readFound(
  content: Buffer | null,
  workflow: Workflow,
  task: string,
): { state: TaskState } | { problem: string } {
  const file = stateName(workflow);
  if (content === null) return { problem: `${file} is missing` };
  const parsed = parseStrictJson(content, file);
  if ("error" in parsed) return { problem: parsed.error.message };
  // Whoever wrote it meant something: an unknown phase is corrected by a human, not replaced.
  requireKnownPhase(parsed.value, workflow);
  try {
    return { state: stateFromJson(parsed.value, workflow, task) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function requireRecorded(phase: string | null, workflow: Workflow): string {
  const names = workflow.phases.map(({ name }) => name);
  if (phase === null) return workflow.initial;
  if (names.includes(phase)) return phase;
  const { field } = workflow.state;
  const file = stateName(workflow);
  const message = `the last phase on record, \`${phase}\`, is no phase of ${workflow.name}`;
  throw invalid(message, {
    findings: [{ message, file: HISTORY_FILE, expected: names.join(", "), found: phase }],
    hint: `say in ${file} where to go on, as {"${field}": "${workflow.initial}"}, and adopt that`,
  });
}

/** A number of a run is given out once: its directory is there. */
function actorsOf(state: TaskState, events: HistoryEvent[]): Record<string, Actor> {
  const current = actorOf(state, state.phase);
  const actors = { ...state.actors, [state.phase]: { ...current, visits: Math.max(1, current.visits) } };
  for (const { type, to, data } of events) {
    const run = data?.["run"];
    if ((type !== "run.started" && type !== "agent.starting") || to === undefined || !Number.isSafeInteger(run))
      continue;
    const actor = actors[to] ?? newActor();
    actors[to] = { ...actor, runs: Math.max(actor.runs, run as number) };
  }
  return actors;
}

/** The best witness there is. One who is missing makes verdicts count for less, never for more. */
function evidenceOf(state: TaskState, history: WholeHistory, workflow: Workflow): Record<string, EvidenceRecord> {
  // Then it is the history that was damaged.
  if (isUntouched(state)) return withoutVouching(state.evidence);
  const { events, lines, findings } = history;
  if (findings.length === 0 && BEGINNINGS.includes(events[0]?.type ?? "")) return evidenceFromHistory(events, workflow);
  // Something is missing, or was edited, before the last adoption: what came after it can be relied on.
  const adopted = events.findLastIndex(({ type }) => type === "task.adopted");
  const isCovered = findings.every(({ line = 0 }) => line < (lines[adopted] ?? 0));
  return evidenceFromHistory(isCovered ? events.slice(adopted + 1) : [], workflow, unknownEvidence(workflow));
}

function isUntouched(state: TaskState): boolean {
  const { lastEvent } = state;
  return lastEvent !== null && hashEvent(lastEvent) === lastEvent.hash && hashState(state) === lastEvent.state;
}

/** Reports of pawl's own are made again, and what was passed over has to be passed over again. */
function withoutVouching(records: Record<string, EvidenceRecord>): Record<string, EvidenceRecord> {
  return Object.fromEntries(
    Object.entries(records).map(([name, { written: _written, waived: _waived, ...record }]) => [name, record]),
  );
}

function soundEvents({ events, lines, findings }: WholeHistory): HistoryEvent[] {
  const wrong = new Set(findings.map(({ line }) => line));
  return events.filter((_event, index) => !wrong.has(lines[index]));
}

/** The longer list: neither record may hide what the other one knows. */
function overridesIn(state: TaskState, events: HistoryEvent[]): OverrideRecord[] {
  const recorded = events.flatMap(({ type, at, by, from, to = "", reason = "", data }) => {
    if (type === "override") return [{ at, by, from: from ?? "", to, reason }];
    return type === "task.adopted" ? [adoptionRecord(at, by, data?.["recordedPhase"], to, reason)] : [];
  });
  const known = overridesOf(state);
  return known.length >= recorded.length ? known : recorded;
}

/** An adoption is an override, and every later summary shows it. */
export function adoptionRecord(at: string, by: string, from: unknown, to: string, reason: string): OverrideRecord {
  return { at, by, from: typeof from === "string" ? from : "", to, reason: `adopted: ${reason}` };
}
