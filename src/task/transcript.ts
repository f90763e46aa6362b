/** transcript.jsonl: what was said and run, refusals and overrides included; secrets masked. It records, and decides nothing. */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../errors.js";
import { maskSecrets } from "./mask.js";

export const TRANSCRIPT_FILE = "transcript.jsonl";
const MAX_TEXT = 8 * 1024;

export interface TranscriptEntry {
  at: string;
  kind: "command" | "answer" | "refusal" | "transition" | "override" | "run" | "note";
  by: string;
  text: string;
  data?: Record<string, unknown>;
}

export function appendTranscript(
  directory: string,
  entry: TranscriptEntry,
  environment: Record<string, string | undefined>,
): void {
  const bounded = {
    ...entry,
    text: entry.text.length > MAX_TEXT ? `${entry.text.slice(0, MAX_TEXT)} […]` : entry.text,
  };
  // Text by text, `data` included: in the written line a secret may be escaped, and its mask might not end where the text does.
  const masked = JSON.stringify(bounded, (_key, value: unknown) =>
    typeof value === "string" ? maskSecrets(value, environment) : value,
  );
  appendFileSync(join(directory, TRANSCRIPT_FILE), `${masked}\n`);
}

export function readTranscript(directory: string): TranscriptEntry[] {
  let text: string;
  try {
    text = readFileSync(join(directory, TRANSCRIPT_FILE), "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
  // A line that a crash tore apart is left out; the others stand for themselves.
  return text.split("\n").flatMap((line) => {
    try {
      return line === "" ? [] : [JSON.parse(line) as TranscriptEntry];
    } catch {
      return [];
    }
  });
}
