/**
 * history.jsonl: every event of a task, one a line, each sealed with the hash of the one before. Never rewritten, only
 * appended to; its end is read without reading the rest.
 */
import { closeSync, fstatSync, readSync } from "node:fs";
import { codeOf, type Finding } from "../errors.js";
import { canonicalJson, sha256 } from "../workflow/hash.js";
import { CRASH } from "./agent-mark.js";
import { NO_LINK, openPlainFile, readIfThere, unusable } from "./plain-file.js";
import { check, mapOf, optional, shape, showFound, text, type Misfit } from "./shape.js";
import { MAX_BYTES } from "./strict-json.js";

export interface HistoryEvent {
  seq: number;
  at: string;
  type: string;
  by: string;
  from?: string;
  to?: string;
  reason?: string;
  /** Hashes of the evidence that was accepted. */
  evidence?: Record<string, string>;
  /** Whatever else belongs to this kind of event. */
  data?: Record<string, unknown>;
  /** Hash of the state that this event led to. */
  state: string;
  /** Hash of the event before; empty for the first. */
  prev: string;
  hash: string;
}

const ordinal = check("a whole number from 1 on", (value) => Number.isSafeInteger(value) && Number(value) > 0);

export const PROCESS = shape({ pid: ordinal, started: text });

export const EVENT = shape({
  seq: ordinal,
  at: text,
  type: text,
  by: text,
  from: optional(text),
  to: optional(text),
  reason: optional(text),
  evidence: optional(mapOf(text)),
  data: optional(shape({ owner: optional(PROCESS) })),
  state: text,
  prev: text,
  hash: text,
});

export type NewEvent = Omit<HistoryEvent, "seq" | "at" | "state" | "prev" | "hash">;

export function sealEvent(event: Omit<HistoryEvent, "hash">): HistoryEvent {
  return { ...event, hash: hashEvent(event) };
}

export function hashEvent(event: Omit<HistoryEvent, "hash"> & { hash?: string }): string {
  const { hash: _hash, ...rest } = event;
  return sha256(canonicalJson(rest));
}

export function formatEvent(event: HistoryEvent): string {
  return `${JSON.stringify(event)}\n`;
}

/** What stands at the end of the file: the last whole line, and a torn one after it, if a crash left one. */
export interface HistoryTail {
  last: string | null;
  /** Bytes, because a crash may come in the middle of a character. */
  torn: Uint8Array;
}

const CHUNK = 16 * 1024;
const MOST_BYTES = 256 * 1024 * 1024;

export function readTail(file: string): HistoryTail {
  let fd: number;
  try {
    fd = openPlainFile(file, NO_LINK);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return { last: null, torn: Buffer.alloc(0) };
    throw unusable(file, error);
  }
  try {
    return readTailOf(fd, file);
  } finally {
    closeSync(fd);
  }
}

function readTailOf(fd: number, file: string): HistoryTail {
  let start = fstatSync(fd).size;
  let bytes: Buffer = Buffer.alloc(0);
  while (start > 0) {
    // Twice as much each time: a long line costs as much as it is long, and no more.
    const length = Math.min(Math.max(CHUNK, bytes.length), start);
    start -= length;
    const chunk = Buffer.alloc(length);
    readSync(fd, chunk, 0, length, start);
    bytes = Buffer.concat([chunk, bytes]);
    const end = bytes.lastIndexOf(0x0a);
    const before = end <= 0 ? -1 : bytes.lastIndexOf(0x0a, end - 1);
    if (before >= 0) break;
    // The state file holds its last event, and is no longer than that.
    if (bytes.length > 2 * MAX_BYTES) throw unusable(file, new Error(`its last line has more than ${MAX_BYTES} bytes`));
  }
  const end = bytes.lastIndexOf(0x0a);
  if (end < 0) return { last: null, torn: bytes };
  const begin = end === 0 ? 0 : bytes.lastIndexOf(0x0a, end - 1) + 1;
  return { last: bytes.subarray(begin, end).toString("utf8"), torn: bytes.subarray(end + 1) };
}

export interface WholeHistory {
  events: HistoryEvent[];
  lines: number[];
  findings: Finding[];
}

/**
 * All events, the line of each, and everything that is wrong with their chain. A torn line at the end is not among it: it is
 * completed, or refused, when the task is loaded.
 */
export function readHistory(file: string): WholeHistory {
  const text = readIfThere(file, MOST_BYTES, NO_LINK)?.toString("utf8") ?? "";
  const events: HistoryEvent[] = [];
  const lines: number[] = [];
  const findings: Finding[] = [];
  let previous: HistoryEvent | undefined;
  const whole = text.split("\n").slice(0, -1);
  whole.forEach((line, index) => {
    const parsed = parseEvent(line);
    const place = { file: "history.jsonl", line: index + 1 };
    if ("misfit" in parsed) {
      const { pointer, expected, found } = parsed.misfit;
      findings.push({
        message: `line ${index + 1} is not an event`,
        ...place,
        pointer,
        expected,
        found: showFound(found),
      });
      return;
    }
    const { event } = parsed;
    if (event.hash !== hashEvent(event)) {
      findings.push({
        message: `event ${event.seq} was changed after it was written`,
        ...place,
        expected: `hash ${hashEvent(event).slice(0, 12)}`,
        found: event.hash.slice(0, 12),
      });
    }
    const seq = (previous?.seq ?? 0) + 1;
    if (event.seq !== seq || event.prev !== (previous?.hash ?? "")) {
      findings.push({
        message: `event ${event.seq} does not follow the one before it`,
        ...place,
        expected: `event ${seq} after ${previous?.hash.slice(0, 12) ?? "the beginning"}`,
        found: `event ${event.seq} after ${event.prev.slice(0, 12) || "the beginning"}`,
      });
    }
    events.push(event);
    lines.push(index + 1);
    previous = event;
  });
  return { events, lines, findings };
}

export function parseEvent(line: string): { event: HistoryEvent } | { misfit: Misfit } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { misfit: { pointer: "", expected: "one JSON object", found: line } };
  }
  const [misfit] = EVENT(value, "");
  return misfit === undefined ? { event: value as HistoryEvent } : { misfit };
}

/** A step by a row of the table, whoever asked for it. */
export function isTransition({ type }: Pick<HistoryEvent, "type">): boolean {
  return type === "transition" || type === "auto.advanced" || type === CRASH;
}
