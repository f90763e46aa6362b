/** task.md: what is wanted. Front matter for the machine, text for whoever does the work. */
import { join } from "node:path";
import { LineCounter, parseDocument, stringify } from "yaml";
import { invalid, messageOf, nearest, type Finding } from "../errors.js";
import { readIfThere } from "./plain-file.js";

export const TASK_FILE = "task.md";
const MOST_BYTES = 4 * 1024 * 1024;

export interface TaskFile {
  title: string;
  workflow?: string;
  /** Relative to the task directory, or absolute. */
  repo?: string;
  /** Files with which a repository that does not exist yet begins. */
  seed?: string;
  base?: string;
  test?: string[];
  /** Agent (preset name) for all roles of this task. */
  agent?: string;
  after?: string[];
  brief: string;
}

const TEXT_KEYS = ["title", "workflow", "repo", "seed", "base", "agent"] as const;
const LIST_KEYS = ["test", "after"] as const;

export function readTaskFile(directory: string): TaskFile | null {
  const bytes = readIfThere(join(directory, TASK_FILE), MOST_BYTES);
  return bytes === null ? null : parseTaskFile(bytes.toString("utf8"));
}

export function parseTaskFile(text: string): TaskFile {
  const source = text.replace(/^\uFEFF/, "");
  const match = /^---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)??---[ \t]*(?:\r?\n|$)/.exec(source);
  if (match === null && /^---[ \t]*(\r?\n|$)/.test(source)) throw unclosed();
  const body = match === null ? source : source.slice(match[0].length);
  const front = match === null ? {} : parseFrontMatter(match[1] ?? "");
  const file: TaskFile = { title: titleOf(front["title"], body), brief: body.trim() };
  for (const key of TEXT_KEYS.slice(1) as ("workflow" | "repo" | "seed" | "base" | "agent")[]) {
    const value = front[key];
    if (typeof value === "string") file[key] = value;
  }
  for (const key of LIST_KEYS) {
    const value = front[key];
    if (value !== undefined) file[key] = (Array.isArray(value) ? value : [value]) as string[];
  }
  return file;
}

export function formatTaskFile(file: TaskFile): string {
  const { brief, ...front } = file;
  return `---\n${stringify(front)}---\n\n${brief.trim()}\n`;
}

function titleOf(title: unknown, body: string): string {
  if (typeof title === "string" && title.trim() !== "") return title.trim();
  return /^#\s+(.+)$/m.exec(body)?.[1]?.trim() ?? body.trim().split("\n")[0]?.slice(0, 80) ?? "";
}

function parseFrontMatter(source: string): Record<string, unknown> {
  const lineCounter = new LineCounter();
  const yaml = parseDocument(source, { lineCounter, uniqueKeys: true });
  const findings: Finding[] = yaml.errors.map((error) => {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    // The parser counts from the first line of the front matter, people from that of the file.
    const message = error.message.split("\n")[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? "";
    return {
      message: `${TASK_FILE}: ${message}`,
      file: TASK_FILE,
      line: line + 1,
      column: col,
    };
  });
  const value = yaml.errors.length > 0 ? {} : toValue(yaml, findings);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    findings.push({
      message: `${TASK_FILE}: the front matter is not a map of keys to values`,
      file: TASK_FILE,
      line: 1,
    });
  } else findings.push(...checkKeys(value as Record<string, unknown>));
  if (findings.length > 0)
    throw invalid(findings[0]?.message ?? "", { findings, hint: `mend the front matter of ${TASK_FILE}` });
  return value as Record<string, unknown>;
}

/** References to anchors are followed only here: `title: *bold*` looks like one. */
function toValue(yaml: { toJS(): unknown }, findings: Finding[]): unknown {
  try {
    return yaml.toJS() ?? {};
  } catch (error) {
    findings.push({
      message: `${TASK_FILE}: ${messageOf(error)}`,
      file: TASK_FILE,
      line: 1,
      hint: "put a value that begins with `*` in quotes",
    });
    return {};
  }
}

function unclosed(): Error {
  const message = `${TASK_FILE}: the front matter that begins in line 1 has no end`;
  return invalid(message, {
    findings: [{ message, file: TASK_FILE, line: 1, expected: "a line `---` after it", found: "none" }],
    hint: "close it with a line `---`",
  });
}

function checkKeys(front: Record<string, unknown>): Finding[] {
  const known: readonly string[] = [...TEXT_KEYS, ...LIST_KEYS];
  return Object.entries(front).flatMap(([key, value]) => {
    const place = { file: TASK_FILE, pointer: `/${key}` };
    if ((TEXT_KEYS as readonly string[]).includes(key)) {
      return typeof value === "string"
        ? []
        : [
            {
              ...place,
              message: `${TASK_FILE}: \`${key}\` expected text, found ${JSON.stringify(value)}`,
              expected: "text",
              found: JSON.stringify(value),
            },
          ];
    }
    if ((LIST_KEYS as readonly string[]).includes(key)) {
      const items = Array.isArray(value) ? value : [value];
      // A blank command passes, whatever is wrong.
      const isSound = items.every((item) => typeof item === "string" && item.trim() !== "");
      const expected = "a list of text, none of it blank";
      return isSound
        ? []
        : [
            {
              ...place,
              message: `${TASK_FILE}: \`${key}\` expected ${expected}, found ${JSON.stringify(value)}`,
              expected,
              found: JSON.stringify(value),
            },
          ];
    }
    const near = nearest(key, known);
    // Other tools may keep notes of their own here; only what looks like a slip of the pen is an error.
    return near === undefined
      ? []
      : [
          {
            ...place,
            message: `${TASK_FILE}: unknown key \`${key}\``,
            expected: known.join(", "),
            found: key,
            hint: `did you mean ${near}?`,
          },
        ];
  });
}
