/**
 * What an agent printed, read for evidence: the one JSON document in it, and whether it says itself that it failed. Pure,
 * and never throws. Ambiguous evidence is none: two documents, a piece of one, or prose around one count for nothing.
 */
import { valueAt } from "../system/json-pointer.js";
import type { PresetResult, When } from "./preset.js";

/** Where the runner left out the middle of a long output; another document may have stood there. */
const GAP = /^\[… .* …\]$/m;

export function printedArtifact(stdout: string, result?: PresetResult): { text: string } | null {
  if (GAP.test(stdout)) return null;
  if (result === undefined || result.format === "text") return documentIn(stdout);
  const events = readEvents(stdout, result.format);
  if (events === null || result.text === undefined || failureIn(events, result) !== null) return null;
  if (!events.some((event) => matches(event, result.end))) return null;
  const said = textsOf(events, result.text);
  const found = said.map(documentIn).filter((document) => document !== null);
  // A message that holds more than one document, or a broken one, makes the others doubtful too.
  if (found.length !== 1 || said.some(looksAmbiguous)) return null;
  return found[0] ?? null;
}

/** What the agent says about its own failure; null where it reports none. */
export function reportedError(stdout: string, result?: PresetResult): string | null {
  if (result === undefined || result.format === "text") return null;
  const events = readEvents(stdout, result.format, { lenient: true });
  return events === null ? null : failureIn(events, result);
}

/**
 * The JSON documents that it printed: the only one, or one on each line. Null when something is missing. Lenient, lines that
 * cannot be read are left out: enough for a total in the last line, not for evidence.
 */
export function readEvents(stdout: string, format: "json" | "jsonl", { lenient = false } = {}): unknown[] | null {
  if (format === "json") {
    const value = parse(stdout);
    return value === undefined ? null : [value];
  }
  const events: unknown[] = [];
  for (const line of stdout.split("\n")) {
    const text = line.trim();
    if (text === "") continue;
    const value = parse(text);
    if (value !== undefined) events.push(value);
    // A warning between the lines is none of the events; the beginning of one that does not end is.
    else if (!lenient && /^[{[]/.test(text)) return null;
  }
  return events;
}

export function matches(event: unknown, when: When = {}): boolean {
  return Object.entries(when).every(([pointer, value]) => valueAt(event, pointer) === value);
}

function failureIn(events: unknown[], result: PresetResult): string | null {
  const { error } = result;
  if (error === undefined) return null;
  const event = events.find((candidate) => matches(candidate, error.when));
  if (event === undefined) return null;
  const why = error.at === undefined ? undefined : valueAt(event, error.at);
  return typeof why === "string" && why !== "" ? why : "the agent reports an error";
}

/** What the agent said: a text for each message. */
function textsOf(events: unknown[], rule: NonNullable<PresetResult["text"]>): string[] {
  const texts: string[] = [];
  let open = false;
  for (const event of events) {
    const text = matches(event, rule.when) ? valueAt(event, rule.at) : undefined;
    if (typeof text !== "string") open = false;
    else if (open && rule.pieces === true) texts.push(`${texts.pop() ?? ""}${text}`);
    else {
      texts.push(text);
      open = true;
    }
  }
  return texts;
}

/** The document that is the whole text, or the only one in a code fence. */
function documentIn(text: string): { text: string } | null {
  if (isDocument(text)) return { text: text.trim() };
  const { fences, outside } = readFences(text);
  const [fence, ...others] = fences.filter(isCandidate);
  if (fence === undefined || others.length > 0 || looksAmbiguous(text)) return null;
  return outside.some(isDocument) ? null : { text: fence.content.trim() };
}

/** More than one document in fences, or one that is broken or does not end. */
function looksAmbiguous(text: string): boolean {
  const { fences } = readFences(text);
  if (fences.filter(isCandidate).length > 1) return true;
  return fences.some((fence) => !fence.closed || (fence.language === "json" && !isDocument(fence.content)));
}

interface Fence {
  /** The first word after the opening mark, in lower case. */
  language: string;
  content: string;
  closed: boolean;
}

function isCandidate(fence: Fence): boolean {
  return fence.closed && (fence.language === "json" || fence.language === "") && isDocument(fence.content);
}

const OPENING = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;

/** Fenced code blocks as CommonMark has them: closed by at least as many of the same mark. */
function readFences(text: string): { fences: Fence[]; outside: string[] } {
  const fences: Fence[] = [];
  const outside: string[] = [];
  let mark: string | undefined;
  let lines: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (mark === undefined) {
      const [, opening, language = ""] = OPENING.exec(line) ?? [];
      if (opening === undefined) {
        lines.push(line);
        continue;
      }
      outside.push(lines.join("\n"));
      fences.push({ language: language.toLowerCase(), content: "", closed: false });
      mark = opening;
      lines = [];
    } else if (closes(line, mark)) {
      Object.assign(fences.at(-1) as Fence, { content: lines.join("\n"), closed: true });
      mark = undefined;
      lines = [];
    } else lines.push(line);
  }
  if (mark === undefined) outside.push(lines.join("\n"));
  return { fences, outside };
}

function closes(line: string, mark: string): boolean {
  const text = line.trim();
  return /^ {0,3}[`~]/.test(line) && text.length >= mark.length && text === mark.charAt(0).repeat(text.length);
}

/** Artifacts are objects or lists; a number or a word that happens to be JSON is prose. */
function isDocument(text: string): boolean {
  const value = parse(text);
  return typeof value === "object" && value !== null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
