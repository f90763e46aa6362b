/** transcript.jsonl: what was said and run, refusals and overrides included; secrets masked. It records, and decides nothing. */
import { appendFileSync, closeSync, constants, lstatSync } from "node:fs";
import { join } from "node:path";
import { maskTexts } from "./mask.js";
import { isUnfit, NO_LINK, openPlainFile, readIfThere, unusable } from "./plain-file.js";
import { anObject, optional, shape, text } from "./shape.js";

export const TRANSCRIPT_FILE = "transcript.jsonl";
const MAX_TEXT = 8 * 1024;
const MOST_BYTES = 256 * 1024 * 1024;

export interface TranscriptEntry {
  at: string;
  kind: "command" | "answer" | "refusal" | "transition" | "override" | "run" | "note";
  by: string;
  text: string;
  data?: Record<string, unknown>;
}

const ENTRY = shape({ at: text, kind: text, by: text, text, data: optional(anObject) });

export function appendTranscript(
  directory: string,
  entry: TranscriptEntry,
  environment: Record<string, string | undefined>,
): void {
  const bounded = {
    ...entry,
    text: entry.text.length > MAX_TEXT ? `${entry.text.slice(0, MAX_TEXT)} […]` : entry.text,
  };
  const fd = openForAppending(join(directory, TRANSCRIPT_FILE));
  try {
    appendFileSync(fd, `${JSON.stringify(maskTexts(bounded, environment))}\n`);
  } finally {
    closeSync(fd);
  }
}

/** Asked before a task is changed: what cannot be written down afterwards should not happen. */
export function requireTranscript(directory: string): void {
  const path = join(directory, TRANSCRIPT_FILE);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isFile()) closeSync(openForAppending(path));
}

export function readTranscript(directory: string): TranscriptEntry[] {
  const bytes = readIfThere(join(directory, TRANSCRIPT_FILE), MOST_BYTES, NO_LINK);
  return bytes?.toString("utf8").split("\n").flatMap(parseEntry) ?? [];
}

/** A line that a crash tore apart, or that is no entry, is left out; the others stand for themselves. */
function parseEntry(line: string): TranscriptEntry[] {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return [];
  }
  return ENTRY(value, "").length === 0 ? [value as TranscriptEntry] : [];
}

function openForAppending(path: string): number {
  try {
    return openPlainFile(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | NO_LINK);
  } catch (error) {
    throw isUnfit(error) ? unusable(path, error) : error;
  }
}
