/**
 * The one JSON document in what somebody wrote: the whole text, or what stands in a code fence. One that is slightly wrong is
 * taken as it is when nothing else can be meant: its reader refuses it, and says what is wrong with it.
 */
import { readFences, type Fence } from "./fences.js";

/** Null for none, for two, and where something makes the only one doubtful. */
export function documentIn(texts: string[]): string | null {
  const found = texts.map(candidatesIn);
  if (found.includes(null)) return null;
  const candidates = found.flatMap((each) => each ?? []);
  const sure = candidates.filter(({ isSure }) => isSure);
  const [one, ...others] = sure.length > 0 ? sure : candidates;
  return one === undefined || others.length > 0 ? null : one.text;
}

interface Candidate {
  text: string;
  /** It is JSON, or says that it is; others only begin like it. */
  isSure: boolean;
}

function candidatesIn(text: string): Candidate[] | null {
  if (isDocument(text)) return [{ text: text.trim(), isSure: true }];
  const { fences, outside } = readFences(text);
  if (fences.some(isDoubtful)) return null;
  const fenced = fences.flatMap(candidateOf);
  if (fenced.length > 0) return outside.some(isDocument) ? null : fenced;
  return beginsLikeOne(text) && !isSeveral(text) ? [{ text: text.trim(), isSure: false }] : [];
}

/** After a fence that does not end another might have come, and one that says it is JSON and is a word says nothing. */
function isDoubtful(fence: Fence): boolean {
  if (fence.language === "json" && !/^\s*[{[]/.test(fence.content)) return true;
  return !fence.closed && (isDocument(fence.content) || candidateOf(fence).length === 0);
}

function candidateOf({ language, content }: Fence): Candidate[] {
  const text = content.trim();
  if (language === "json") return [{ text, isSure: true }];
  if (language !== "") return [];
  if (isDocument(text)) return [{ text, isSure: true }];
  return beginsLikeOne(text) ? [{ text, isSure: false }] : [];
}

function beginsLikeOne(text: string): boolean {
  return /^\s*\{/.test(text);
}

/** A document on each line, as a record of events has it. */
function isSeveral(text: string): boolean {
  return text.split("\n").filter((line) => line.startsWith("{") && isDocument(line)).length > 1;
}

/** Artifacts are objects or lists; a number or a word that happens to be JSON is prose. */
function isDocument(text: string): boolean {
  const value = parseJson(text);
  return typeof value === "object" && value !== null;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
