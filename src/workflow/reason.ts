/**
 * The reason of a row: the text of its Why cell. `{expression}` in it stands for what the evidence says when the row is
 * taken, so that a question comes with its text and a refusal with its reasons.
 */

export interface Slot {
  source: string;
  /** Offset of the expression in the text. */
  start: number;
}

/** A map of CEL's has braces of its own; nobody needs one in a sentence. */
const SLOT = /\{([^{}]*)\}/g;
const LONGEST = 300;
const UNKNOWN = "(unknown)";
const NOTHING = "(nothing)";

export function slotsOf(why: string): Slot[] {
  return [...why.matchAll(SLOT)].map((match) => ({ source: match[1] ?? "", start: match.index + 1 }));
}

/** Offset of a brace without its other half, if there is one. */
export function strayBrace(why: string): number | undefined {
  const at = why.replace(SLOT, (slot) => " ".repeat(slot.length)).search(/[{}]/);
  return at === -1 ? undefined : at;
}

/** `valueOf` gives undefined for what cannot be known. */
export function fillSlots(why: string, valueOf: (source: string) => unknown): string {
  return why.replace(SLOT, (_slot, source: string) => say(valueOf(source)));
}

/** The text before any row is taken: what is not known yet is left open. */
export function withoutSlots(why: string): string {
  return why.replace(SLOT, "…");
}

function say(value: unknown): string {
  if (value === undefined) return UNKNOWN;
  const text = Array.isArray(value) ? value.map(sayOne).join("; ") : sayOne(value);
  // It comes from agents and goes to terminals: one line, no control characters.
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  if (line === "") return NOTHING;
  const characters = Array.from(line);
  return characters.length <= LONGEST ? line : `${characters.slice(0, LONGEST - 1).join("")}…`;
}

function sayOne(value: unknown): string {
  // A sentence that becomes part of another one.
  if (typeof value === "string") return value.trim().replace(/(?<!\.)\.$/, "");
  return (
    JSON.stringify(value, (_key, entry: unknown) => (typeof entry === "bigint" ? Number(entry) : entry)) ?? UNKNOWN
  );
}
