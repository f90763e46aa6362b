/**
 * How an agent seems to be, by what it last printed. For people only: an agent may look as if it waited while it works, and
 * write whatever it likes where this is read.
 */
import { closeSync, constants, fstatSync, lstatSync, readSync } from "node:fs";
import { join } from "node:path";
import { plainText } from "../../process/plain-text.js";
import { NO_LINK, openPlainFile } from "../../task/plain-file.js";
import { SCREEN_FILE } from "./screen-file.js";

export interface Activity {
  /** `waiting`: for somebody to type something. `stalled`: it has said nothing for long, and asks nothing. */
  state: "working" | "waiting" | "stalled";
  /** In milliseconds since 1970; null where nothing is there. */
  lastOutput: number | null;
  /** The line by which it waits. */
  prompt: string | null;
}

export interface ActivityOptions {
  patterns: RegExp[];
  now: number;
  /** It may only be drawing its screen. */
  quietMs?: number;
  stalledMs?: number;
}

const QUIET_MS = 3000;
const STALLED_MS = 10 * 60_000;
/** A question stands near the end, with its choices and a line of help below it. */
const LINES = 15;
const LONGEST_LINE = 500;
const TAIL_BYTES = 16 * 1024;

/** `folder`: that of its run. */
export function activityOf(folder: string, options: ActivityOptions): Activity {
  const { patterns, now, quietMs = QUIET_MS, stalledMs = STALLED_MS } = options;
  const lastOutput = changedAt(join(folder, "output.log")) ?? changedAt(folder);
  const quiet = lastOutput === null ? 0 : now - lastOutput;
  if (quiet < quietMs) return { state: "working", lastOutput, prompt: null };
  const prompt = lastLines(folder).findLast((line) => patterns.some((pattern) => pattern.test(line))) ?? null;
  if (prompt !== null) return { state: "waiting", lastOutput, prompt: prompt.trim() };
  return { state: quiet < stalledMs ? "working" : "stalled", lastOutput, prompt };
}

function changedAt(path: string): number | null {
  try {
    return Math.round(lstatSync(path).mtimeMs);
  } catch {
    return null;
  }
}

/** Of its screen; without one, of what it printed. */
function lastLines(folder: string): string[] {
  const text = tailOf(join(folder, SCREEN_FILE)) ?? plainText(tailOf(join(folder, "output.log")) ?? "");
  const lines = text.split(/\r?\n|\r/).filter((line) => line.trim() !== "");
  return lines.slice(-LINES).map((line) => line.trimEnd().slice(0, LONGEST_LINE));
}

/** Null where no plain file is. */
function tailOf(path: string): string | null {
  let fd: number;
  try {
    fd = openPlainFile(path, constants.O_RDONLY | NO_LINK);
  } catch {
    return null;
  }
  try {
    const { size } = fstatSync(fd);
    const buffer = Buffer.alloc(TAIL_BYTES);
    return buffer.subarray(0, readSync(fd, buffer, 0, TAIL_BYTES, Math.max(0, size - TAIL_BYTES))).toString("utf8");
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}
