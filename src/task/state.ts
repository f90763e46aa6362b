/** The state of a task: what stands in its state file, and how that is read and written. */
import { invalid } from "../errors.js";
import { canonicalJson, sha256 } from "../workflow/hash.js";
import type { Workflow } from "../workflow/types.js";
import type { Move } from "./archive.js";
import type { HistoryEvent } from "./history.js";
import type { ProcessIdentity } from "../process/identity.js";
import { stateName } from "./paths.js";
import { showFound, type Misfit } from "./shape.js";
import { checkStateFile, isStored } from "./state-shape.js";

export type ActorStatus = "idle" | "running" | "completed" | "failed" | "blocked";

/** How far a phase is. */
export interface Actor {
  status: ActorStatus;
  /** Entries since a human last stepped in. */
  visits: number;
  /** Runs ever started; numbers the directories `<phase>/runs/<n>`. */
  runs: number;
  /** Runs that came to an end, well or not; one that was lost or interrupted is none. */
  attempts: number;
  /** Runs started during the present visit. */
  tried: number;
  /** Failed runs of the present visit. */
  failures: number;
  /** The run under way. */
  run?: RunMark;
  /** The last failure, for the next attempt's prompt. */
  lastFailure?: string;
  /** Tells whether the next failure is the same again. */
  fingerprint?: string;
  /** What led into the phase, for the prompt: which evidence to look at. */
  cause?: { from: string; reason: string; artifacts: string[] };
}

export interface RunMark {
  number: number;
  /** The pawl process that drives it. */
  owner: ProcessIdentity;
  since: string;
  /** Hash of the token that the agent was given. */
  token?: string;
}

/** What is remembered of an artifact, to tell later whether it is still what it was. */
export interface EvidenceRecord {
  /** Hashes of what it judges, at the time when it was asked for. */
  inputs: Record<string, string>;
  /** Hash of what pawl itself wrote. */
  written?: string;
  /** Hash with which it opened a gate. */
  accepted?: string;
  /** A human passed over it. */
  waived?: boolean;
  /** Of a section: the hashes of all sections of its name when its phase began. */
  before?: string[];
  /** Where the version accepted before this one was put, relative to the task directory. */
  archived?: string;
}

export interface Waiting {
  reason: string;
  since: string;
}

export interface TaskState {
  phase: string;
  waiting: Waiting | null;
  revision: number;
  actors: Record<string, Actor>;
  counters: Record<string, number>;
  workflow: { name: string; version: number; hash: string };
  evidence: Record<string, EvidenceRecord>;
  /** What the last event puts away: done right after it, or, when a crash comes between, by the next writer. */
  putAway?: Move[];
  /** Further fields, kept at the top of the file. */
  fields: Record<string, unknown>;
  /** The event that led here: it reaches the history at the latest with the next read. */
  lastEvent: HistoryEvent | null;
}

/** Records of what pawl itself did: a file that it did not write says nothing about that. */
const VOUCHED_FOR = ["git", "tdd", "overrides", "note", "faces", "agents", "due", "rules"];
const MOST_FINDINGS = 20;
const RESERVED = ["waiting", "revision", "actors", "counters", "workflow", "evidence", "putAway", "lastEvent"];

export function freshState(workflow: Workflow, phase: string = workflow.initial): TaskState {
  return {
    phase,
    waiting: null,
    revision: 0,
    actors: { [phase]: newActor(1) },
    counters: {},
    workflow: { name: workflow.name, version: workflow.version, hash: workflow.hash },
    evidence: {},
    fields: {},
    lastEvent: null,
  };
}

export function newActor(visits = 0): Actor {
  return { status: "idle", visits, runs: 0, attempts: 0, tried: 0, failures: 0 };
}

export function actorOf(state: TaskState, phase: string): Actor {
  return state.actors[phase] ?? newActor();
}

type ActorChange = { [K in keyof Actor]?: Actor[K] | undefined };

/** The state with something changed about a phase; `undefined` removes a field. */
export function withActor(state: TaskState, phase: string, change: ActorChange): TaskState {
  const merged = Object.entries({ ...actorOf(state, phase), ...change }).filter(([, value]) => value !== undefined);
  return { ...state, actors: { ...state.actors, [phase]: Object.fromEntries(merged) as unknown as Actor } };
}

export interface OverrideRecord {
  at: string;
  by: string;
  from: string;
  to: string;
  reason: string;
}

/** Every override of a task's life is kept in its state, so that every later summary shows it without reading the history. */
export function overridesOf(state: TaskState): OverrideRecord[] {
  return (state.fields["overrides"] ?? []) as OverrideRecord[];
}

export function withOverride(state: TaskState, override: OverrideRecord): TaskState {
  return { ...state, fields: { ...state.fields, overrides: [...overridesOf(state), override] } };
}

/** The hash that the history records: everything but the event itself, which contains it. */
export function hashState(state: TaskState): string {
  const { lastEvent: _lastEvent, ...rest } = state;
  return sha256(canonicalJson(rest));
}

export function formatState(state: TaskState, workflow: Workflow): string {
  const { phase, fields, lastEvent, ...rest } = state;
  return `${JSON.stringify({ [workflow.state.field]: phase, ...rest, ...fields, lastEvent }, null, 2)}\n`;
}

/**
 * The state that a parsed state file means. One that pawl did not write (no `lastEvent`) needs no more than its phase, and
 * keeps its other fields, but not those that only pawl can vouch for.
 */
export function stateFromJson(value: unknown, workflow: Workflow, task: string): TaskState {
  const { field } = workflow.state;
  const file = stateName(workflow);
  const misfits = checkStateFile(value, field);
  if (misfits.length > 0) throw misshapen(misfits, file, task);
  const { [field]: phase, ...rest } = value as Record<string, unknown> & { [field: string]: string };
  const entries = Object.entries(rest).filter(([key]) => !RESERVED.includes(key));
  if (!isStored(rest)) {
    const fields = Object.fromEntries(entries.filter(([key]) => !VOUCHED_FOR.includes(key)));
    return { ...freshState(workflow, phase), fields };
  }
  const {
    waiting,
    revision,
    actors,
    counters,
    workflow: document,
    evidence,
    putAway,
    lastEvent,
  } = rest as unknown as TaskState;
  return {
    phase: phase ?? "",
    waiting,
    revision,
    actors,
    counters,
    workflow: document,
    evidence,
    ...(putAway === undefined ? {} : { putAway }),
    fields: Object.fromEntries(entries),
    lastEvent,
  };
}

function misshapen(misfits: Misfit[], file: string, task: string): Error {
  const findings = misfits.slice(0, MOST_FINDINGS).map(({ pointer, expected, found }) => ({
    message: `${file}: ${pointer || "/"} expected ${expected}, found ${showFound(found)}`,
    file,
    pointer,
    expected,
    found: showFound(found),
  }));
  return invalid(findings[0]?.message ?? "", {
    findings,
    hint: `mend the file by hand, or look at \`pawl verify ${task}\`; pawl leaves it as it is`,
  });
}
