/**
 * The verdict of a review that is written as prose. A line that says `Verdict: PASS` or `FAIL` counts before any other; without
 * one, the first line that has one of the words, as a verdict has it: at its beginning, or in capitals. Lines that contradict
 * each other, or themselves, are no verdict, nor are those that deny or only mention one.
 */
import type { Nodes } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";

export type Verdict = "pass" | "fail" | "none";

/** What is quoted or shown as code or comment is somebody else's word. */
const NOT_SAID = [
  "code",
  "inlineCode",
  "html",
  "blockquote",
  "definition",
  "thematicBreak",
  "link",
  "linkReference",
  "image",
];

export function readVerdict(section: string): Verdict {
  const lines = linesOf(fromMarkdown(section)).filter((line) => !UNSAID.test(line));
  const explicit = lines.flatMap((line) => /^\W*verdict\s*(?:[:=\u2013\u2014-]|is\b)(.*)$/iu.exec(line)?.[1] ?? []);
  if (explicit.length > 0)
    return common(explicit.map((rest) => (/^\W*(PASS|FAIL)\b/i.test(rest) ? wordIn(rest) : "none")));
  const first = lines.find((line) => /^\W*(?:x\]\W*)?(PASS|FAIL)\b/i.test(line) || /\b(PASS|FAIL)\b/.test(line));
  return first === undefined || DENIED.test(first) ? "none" : wordIn(first);
}

/** An empty box, and what is struck out. */
const UNSAID = /^\W*\[ \]|~~/;
const DENIED = /\b(not|no|never|cannot|neither|nor|without|unless|until|if|should|would|could|may|might)\b|n['’]t\b/i;

function common(verdicts: Verdict[]): Verdict {
  const [first = "none", ...others] = verdicts;
  return others.every((other) => other === first) ? first : "none";
}

function wordIn(line: string): Verdict {
  const words = new Set([...line.matchAll(/\b(PASS|FAIL)\b/gi)].map(([word]) => word.toLowerCase()));
  const [only = "none"] = words;
  return words.size === 1 ? (only as Verdict) : "none";
}

/** The lines as a reader sees them: without marks of lists, headings and emphasis. */
function linesOf(node: Nodes): string[] {
  if (NOT_SAID.includes(node.type)) return [];
  if (node.type === "paragraph" || node.type === "heading") return hasTags(node) ? [] : textOf(node).split("\n");
  return "children" in node ? node.children.flatMap(linesOf) : [];
}

/** What stands between tags may be shown in any way, or not at all. */
function hasTags(node: Nodes): boolean {
  if (node.type === "html") return !node.value.startsWith("<!--");
  return "children" in node && node.children.some(hasTags);
}

function textOf(node: Nodes): string {
  if (NOT_SAID.includes(node.type)) return " ";
  if (node.type === "break") return "\n";
  if ("value" in node) return node.value;
  return "children" in node ? node.children.map(textOf).join("") : "";
}
