/** The state of a task: what stands in its state file, and how that is read and written. */
import { invalid, type Finding } from "../errors.js";
import { canonicalJson, sha256 } from "../workflow/hash.js";
import type { Workflow } from "../workflow/types.js";
import type { Move } from "./archive.js";
import type { HistoryEvent } from "./history.js";
import type { ProcessIdentity } from "../process/identity.js";

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
  const { overrides } = state.fields;
  return Array.isArray(overrides) ? (overrides as OverrideRecord[]) : [];
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
 * keeps its other fields.
 */
export function stateFromJson(value: unknown, workflow: Workflow, file: string): TaskState {
  const wrong = (pointer: string, expected: string, found: unknown): never => {
    const shown = found === undefined ? "nothing" : JSON.stringify(found).slice(0, 80);
    const finding: Finding = {
      message: `${file}: ${pointer || "/"} expected ${expected}, found ${shown}`,
      file,
      pointer,
      expected,
      found: shown,
    };
    throw invalid(finding.message, {
      findings: [finding],
      hint: "mend the file by hand, or look at `pawl verify`; pawl leaves it as it is",
    });
  };
  if (!isObject(value)) return wrong("", "a JSON object", value);
  const { field } = workflow.state;
  const phase = value[field];
  if (typeof phase !== "string") return wrong(`/${field}`, "the name of a phase", phase);
  const fields = Object.fromEntries(Object.entries(value).filter(([key]) => key !== field && !RESERVED.includes(key)));
  if (!isObject(value["lastEvent"])) {
    if (value["actors"] !== undefined && !isObject(value["actors"]))
      return wrong("/actors", "an object", value["actors"]);
    const imported = freshState(workflow, phase);
    return { ...imported, fields };
  }
  for (const key of ["actors", "counters", "workflow", "evidence"])
    if (!isObject(value[key])) return wrong(`/${key}`, "an object", value[key]);
  if (!Number.isSafeInteger(value["revision"])) return wrong("/revision", "a whole number", value["revision"]);
  if (value["waiting"] !== null && !isObject(value["waiting"]))
    return wrong("/waiting", "null or an object", value["waiting"]);
  return {
    phase,
    waiting: value["waiting"] as Waiting | null,
    revision: value["revision"] as number,
    actors: value["actors"] as Record<string, Actor>,
    counters: value["counters"] as Record<string, number>,
    workflow: value["workflow"] as TaskState["workflow"],
    evidence: value["evidence"] as Record<string, EvidenceRecord>,
    ...(Array.isArray(value["putAway"]) ? { putAway: value["putAway"] as Move[] } : {}),
    fields,
    lastEvent: value["lastEvent"] as unknown as HistoryEvent,
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
