/** What must stand in a state file: in one that pawl wrote, and in one that it did not. */
import { EVENT, PROCESS } from "./history.js";
import {
  anObject,
  check,
  count,
  flag,
  isObject,
  listOf,
  mapOf,
  nullOr,
  oneOf,
  optional,
  shape,
  text,
  whole,
  type Check,
  type Misfit,
} from "./shape.js";

/** Whether links lead out of the task directory is looked at where the path is used; that it names a place inside, here. */
const pathInside = check(
  "a path inside the task directory",
  (value) => typeof value === "string" && !value.startsWith("/") && !value.split(/[/\\]/).includes(".."),
);

const phaseName = check("the name of a phase", (value) => typeof value === "string");

const RUN = shape({ number: count, owner: PROCESS, since: text, token: optional(text) });

const ACTOR = shape({
  status: oneOf("idle", "running", "completed", "failed", "blocked"),
  visits: count,
  runs: count,
  attempts: count,
  tried: count,
  failures: count,
  run: optional(RUN),
  lastFailure: optional(text),
  fingerprint: optional(text),
  cause: optional(shape({ from: text, reason: text, artifacts: listOf(text) })),
});

const RECORD = shape({
  inputs: mapOf(text),
  written: optional(text),
  accepted: optional(text),
  waived: optional(flag),
  before: optional(listOf(text)),
  archived: optional(pathInside),
});

const AGENT = shape({
  role: text,
  phase: text,
  number: count,
  serves: listOf(text),
  token: text,
  since: text,
  terminal: flag,
  socket: text,
  host: PROCESS,
  agent: optional(PROCESS),
  dismissed: optional(flag),
});

const STORED: Record<string, Check> = {
  lastEvent: EVENT,
  waiting: nullOr(shape({ reason: text, since: text })),
  revision: count,
  actors: mapOf(ACTOR),
  counters: mapOf(whole),
  workflow: shape({ name: text, version: whole, hash: text }),
  evidence: mapOf(RECORD),
  putAway: optional(listOf(shape({ from: pathInside, to: pathInside }))),
  overrides: optional(listOf(shape({ at: text, by: text, from: text, to: text, reason: text }))),
  git: optional(anObject),
  note: optional(text),
  faces: optional(listOf(text)),
  agents: optional(listOf(AGENT)),
  due: optional(text),
  rules: optional(mapOf(text)),
};

/** Nothing of it but the phase is relied on; what would be read in two ways is refused all the same. */
const IMPORTED: Record<string, Check> = {
  actors: optional(anObject),
  workflow: optional(shape({ name: text })),
};

export function checkStateFile(value: unknown, phaseField: string): Misfit[] {
  if (!isObject(value)) return [{ pointer: "", expected: "a JSON object", found: value }];
  const fields = shape(isStored(value) ? STORED : IMPORTED);
  return [...phaseName(value[phaseField], `/${phaseField}`), ...fields(value, "")];
}

/** Did pawl write it, or does it say so? */
export function isStored(value: Record<string, unknown>): boolean {
  return value["lastEvent"] !== undefined && value["lastEvent"] !== null;
}
