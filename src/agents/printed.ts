/**
 * What an agent printed, read for evidence: the one JSON document in it, and whether it says itself that it failed. Pure,
 * and never throws. Ambiguous evidence is none: two documents, or prose around one count for nothing.
 */
import { valueAt } from "../system/json-pointer.js";
import { documentIn, parseJson } from "./document.js";
import type { PresetResult, When } from "./preset.js";

/** The runner left out the middle of a long output; another document may have stood there. */
export function hasGap(stdout: string): boolean {
  return /^\[… .* …\]$/m.test(stdout);
}

/** It goes into the history; the log has all of it. */
const MAX_ERROR = 2000;

/** Without rules for it, one of the envelopes may fit: then what is in it is meant, not the envelope. */
export function printedArtifact(stdout: string, result?: PresetResult, envelopes: PresetResult[] = []): string | null {
  if (hasGap(stdout)) return null;
  if (result !== undefined) return artifactBy(result, stdout);
  const [unwrapped, ...others] = envelopes.flatMap((envelope) => artifactBy(envelope, stdout) ?? []);
  return others.length > 0 ? null : (unwrapped ?? documentIn([stdout]));
}

function artifactBy(result: PresetResult, stdout: string): string | null {
  if (result.format === "text") return documentIn([stdout]);
  const events = readEvents(stdout, result.format);
  if (events === null || result.text === undefined || failureIn(events, result) !== null) return null;
  if (!events.some((event) => matches(event, result.end))) return null;
  return documentIn(textsOf(events, result.text));
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
  const whole = parseJson(stdout);
  if (whole !== undefined) return [whole];
  if (format === "json") return null;
  const events: unknown[] = [];
  for (const line of stdout.split("\n")) {
    const text = line.trim();
    if (text === "") continue;
    const value = parseJson(text);
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
  if (typeof why !== "string" || why === "") return "the agent reports an error";
  return why.length > MAX_ERROR ? `${why.slice(0, MAX_ERROR)} […]` : why;
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
