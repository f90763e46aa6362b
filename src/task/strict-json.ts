/** JSON without the ambiguities that JSON.parse lets through: repeated keys, endless nesting, a byte-order mark, wrong UTF-8. */
import type { Finding } from "../errors.js";

export type StrictJson = { value: unknown } | { error: Finding };

/** Whoever reads a file to have it parsed need not read more. */
export const MAX_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 64;

export function parseStrictJson(bytes: Uint8Array, file: string): StrictJson {
  if (bytes.length > MAX_BYTES) {
    return {
      error: {
        message: `${file} has ${bytes.length} bytes`,
        file,
        expected: `at most ${MAX_BYTES} bytes`,
        found: `${bytes.length} bytes`,
      },
    };
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { error: { message: `${file} is not UTF-8 text`, file, expected: "JSON in UTF-8", found: "other bytes" } };
  }
  if (text.startsWith("\uFEFF")) {
    return {
      error: {
        message: `${file} begins with a byte-order mark`,
        file,
        line: 1,
        expected: "JSON in UTF-8 without one",
        found: "U+FEFF",
      },
    };
  }
  const ambiguity = findAmbiguity(text);
  // Depth comes before JSON.parse, the syntax before repeated keys: each message is about the first thing that is wrong.
  if (ambiguity?.kind === "depth") {
    return {
      error: {
        message: `${file} is nested deeper than ${MAX_DEPTH} levels`,
        file,
        ...placeOf(text, ambiguity.position),
        expected: `at most ${MAX_DEPTH} levels`,
        found: "more",
      },
    };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const message = (error as Error).message;
    const found =
      text.trim() === "" ? "an empty file" : message.replace(/ in JSON at position.*$/, "").replace(/, ".*$/s, "");
    return {
      error: {
        message: `${file} is not JSON: ${found}`,
        file,
        ...placeOfError(text, message),
        expected: "one JSON document",
        found,
      },
    };
  }
  if (ambiguity !== undefined) {
    return {
      error: {
        message: `${file} has the key "${ambiguity.key}" twice in one object`,
        file,
        ...placeOf(text, ambiguity.position),
        expected: "every key once",
        found: `"${ambiguity.key}" again`,
      },
    };
  }
  return { value };
}

type Ambiguity = { kind: "depth"; position: number } | { kind: "key"; key: string; position: number };

/** One pass over the text; relies on nothing but balanced quotes, so that it may run before the syntax is known to be right. */
function findAmbiguity(text: string): Ambiguity | undefined {
  const stack: (Set<string> | null)[] = [];
  let repeated: Ambiguity | undefined;
  let expectKey = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '"') {
      const start = i;
      for (i++; i < text.length && text[i] !== '"'; i++) if (text[i] === "\\") i++;
      const keys = stack.at(-1);
      if (expectKey && keys instanceof Set) {
        const key = decodeString(text.slice(start, i + 1));
        if (keys.has(key)) repeated ??= { kind: "key", key, position: start };
        keys.add(key);
        expectKey = false;
      }
    } else if (char === "{" || char === "[") {
      stack.push(char === "{" ? new Set() : null);
      expectKey = char === "{";
      if (stack.length > MAX_DEPTH) return { kind: "depth", position: i };
    } else if (char === "}" || char === "]") {
      stack.pop();
      expectKey = false;
    } else if (char === ",") expectKey = stack.at(-1) instanceof Set;
  }
  return repeated;
}

/** `"a"` and `"\u0061"` are the same key. */
function decodeString(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted;
  }
}

/** V8 does not always say where it stopped; no place is better than a wrong one. */
function placeOfError(text: string, message: string): { line?: number; column?: number } {
  if (text.trim() === "") return placeOf(text, 0);
  const position = /position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return placeOf(text, Number(position));
  return message.startsWith("Unexpected end") ? placeOf(text, text.length) : {};
}

function placeOf(text: string, position: number): { line: number; column: number } {
  const before = text.slice(0, position).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
