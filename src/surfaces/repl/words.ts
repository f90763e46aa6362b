/** A line into words. Pure. Every word knows where it stood, so that free text can be taken from the line as it was typed. */

export interface Word {
  text: string;
  /** It stood in quotes: never an option, never split. */
  quoted: boolean;
  start: number;
  end: number;
}

/**
 * A quote opens at the beginning of a word only, or after the `=` of an option, and closes before a blank: an apostrophe
 * is no quote, and one that is never closed stands for itself. Inside double quotes `\"` and `\\` are escapes.
 */
export function splitWords(line: string): Word[] {
  const words: Word[] = [];
  for (let at = skipBlanks(line, 0); at < line.length; at = skipBlanks(line, words.at(-1)?.end ?? line.length)) {
    words.push(quotedWord(line, at) ?? optionWithValue(line, at) ?? plainWord(line, at));
  }
  return words;
}

/** The words as they were typed, blanks and quotes between them included; one quoted word loses its quotes. */
export function textOf(line: string, words: Word[]): string {
  const [only] = words;
  if (only === undefined) return "";
  if (words.length === 1) return only.text;
  const runs: string[] = [];
  let start = only.start;
  words.forEach((word, index) => {
    const next = words[index + 1];
    // Words that stood between two others (an option and its value) are left out.
    if (next !== undefined && line.slice(word.end, next.start).trim() === "") return;
    runs.push(line.slice(start, word.end));
    start = next?.start ?? word.end;
  });
  return runs.join(" ");
}

function skipBlanks(line: string, from: number): number {
  let at = from;
  while (at < line.length && isBlank(line[at])) at++;
  return at;
}

function plainWord(line: string, start: number): Word {
  let end = start;
  while (end < line.length && !isBlank(line[end])) end++;
  return { text: line.slice(start, end), quoted: false, start, end };
}

function quotedWord(line: string, start: number): Word | null {
  const quote = line[start];
  if (quote !== '"' && quote !== "'") return null;
  let text = "";
  for (let at = start + 1; at < line.length; at++) {
    const [character = "", next] = line.slice(at, at + 2);
    if (quote === '"' && character === "\\" && (next === '"' || next === "\\")) {
      text += next;
      at++;
    } else if (character === quote && (next === undefined || isBlank(next))) {
      return { text, quoted: true, start, end: at + 1 };
    } else text += character;
  }
  return null;
}

/** `--reason="two words"` */
function optionWithValue(line: string, start: number): Word | null {
  const [name] = /^--[A-Za-z-]+=/.exec(line.slice(start)) ?? [];
  const value = name === undefined ? null : quotedWord(line, start + name.length);
  return value === null ? null : { text: `${name ?? ""}${value.text}`, quoted: false, start, end: value.end };
}

function isBlank(character: string | undefined): boolean {
  return character !== undefined && /\s/.test(character);
}
