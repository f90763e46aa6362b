/**
 * The face of a task: the front matter of a Markdown file that agents and people edit, such as TASK.md. It shows where the task
 * stands; pawl's own records are what counts. Pure: text in, text out.
 */
import { countersOf } from "../workflow/counters.js";
import { sha256 } from "../workflow/hash.js";
import type { Workflow } from "../workflow/types.js";
import type { TaskState } from "./state.js";

/** What pawl shows, in order: the phase under the document's own name for it, then the counters. */
export type Shown = Record<string, string>;

/** What stands there for people: nobody goes by it, so that it is never held against anything. */
export interface Display {
  branch?: string;
  summary?: string;
}

export type FaceText =
  | { kind: "none" }
  /** Begun, but never closed: an editor is at work, or something was cut off. */
  | { kind: "unclosed" }
  | { kind: "front matter"; start: number; end: number; lines: string[] };

export function shownBy(state: Pick<TaskState, "phase" | "counters">, workflow: Workflow): Shown {
  const counters = countersOf(workflow).map((name) => [name, String(state.counters[name] ?? 0)]);
  return Object.fromEntries([[workflow.state.field, state.phase], ...counters]) as Shown;
}

/** Tells whether a face is one that pawl showed before. */
export function hashOfShown(shown: Shown): string {
  return sha256(JSON.stringify(shown)).slice(0, 16);
}

/** Where the lines of the front matter are: `start` and `end` are offsets of characters, without the marks around them. */
export function findFrontMatter(text: string): FaceText {
  const opening = /^\uFEFF?---[ \t]*\r?\n/.exec(text);
  if (opening === null) return { kind: /^\uFEFF?---?-?$/.test(text) ? "unclosed" : "none" };
  const start = opening[0].length;
  const closing = /^---[ \t]*$/m.exec(text.slice(start).replaceAll("\r", " "));
  if (closing === null) return { kind: "unclosed" };
  const end = start + closing.index;
  return { kind: "front matter", start, end, lines: text.slice(start, end).split(/\r?\n/).slice(0, -1) };
}

/** What the front matter says of what pawl shows there; what it does not mention, or says twice, is said so. */
export function readShown(lines: string[], workflow: Workflow): { shown: Partial<Shown>; twice: string[] } {
  const shown: Partial<Shown> = {};
  const twice: string[] = [];
  for (const key of [workflow.state.field, ...countersOf(workflow)]) {
    const values = lines.flatMap((line) => valueIn(line, key));
    if (values[0] !== undefined) shown[key] = values[0];
    if (values.length > 1) twice.push(key);
  }
  return { shown, twice };
}

/** The text with what pawl shows in it; all else stays as it is, to the byte. */
export function withShown(text: string, shown: Shown, workflow: Workflow): string {
  const found = findFrontMatter(text);
  if (found.kind !== "front matter")
    return `---\n${linesOf(shown, workflow).join("\n")}\n---\n${text === "" ? "" : `\n${text}`}`;
  const newline = text.slice(0, found.start).includes("\r\n") ? "\r\n" : "\n";
  return `${text.slice(0, found.start)}${replaceLines(found.lines, shown, workflow).join(newline)}${newline}${text.slice(found.end)}`;
}

function replaceLines(lines: string[], shown: Shown, workflow: Workflow): string[] {
  const missing = new Set(Object.keys(shown));
  const kept = lines.flatMap((line) => {
    const key = Object.keys(shown).find((name) => valueIn(line, name).length > 0);
    if (key === undefined) return [line];
    // A key that stands there twice is read in two ways: the first line stays.
    return missing.delete(key) ? [lineOf(key, shown, workflow)] : [];
  });
  return [...kept, ...[...missing].map((key) => lineOf(key, shown, workflow))];
}

/** The text with a line for each of what is for people. A value may have gone over several lines: they go with it. */
export function withDisplay(text: string, display: Display): string {
  const found = findFrontMatter(text);
  if (found.kind !== "front matter") return text;
  const newline = text.slice(0, found.start).includes("\r\n") ? "\r\n" : "\n";
  const lines = Object.entries(display).reduce(
    (all, [key, value]) => replaceValue(all, key, value as string),
    found.lines,
  );
  return `${text.slice(0, found.start)}${lines.join(newline)}${newline}${text.slice(found.end)}`;
}

function replaceValue(lines: string[], key: string, value: string): string[] {
  const own = `${key}: ${JSON.stringify(value)}`;
  const kept: string[] = [];
  let isInside = false;
  let isWritten = false;
  for (const line of lines) {
    isInside = valueIn(line, key).length > 0 || (isInside && /^[ \t]/.test(line));
    if (!isInside) kept.push(line);
    else if (!isWritten) kept.push(own);
    isWritten ||= isInside;
  }
  return isWritten ? kept : [...kept, own];
}

function linesOf(shown: Shown, workflow: Workflow): string[] {
  return Object.keys(shown).map((key) => lineOf(key, shown, workflow));
}

/**
 * Always of the same length: then a change of status touches no other byte of the file, and whoever writes below it at the
 * same moment loses nothing.
 */
function lineOf(key: string, shown: Shown, workflow: Workflow): string {
  const width =
    key === workflow.state.field ? Math.max(...workflow.phases.map(({ name }) => name.length)) : COUNTER_WIDTH;
  return `${key}: ${(shown[key] ?? "").padEnd(width)}`;
}

const COUNTER_WIDTH = 4;

/** The value of the key in a line of the front matter, as a list of none or one. Only at the beginning of a line is it a key. */
function valueIn(line: string, key: string): string[] {
  if (!line.startsWith(key)) return [];
  const match = /^[ \t]*:(?:[ \t]+(.*))?$/.exec(line.slice(key.length));
  if (match === null) return [];
  const value = (match[1] ?? "").replace(/[ \t]#.*$/, "").trim();
  return [/^(["'])(.*)\1$/.exec(value)?.[2] ?? value];
}
