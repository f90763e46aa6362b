/** Fenced code blocks of a Markdown text. */

export interface Fence {
  /** The first word after the opening mark, in lower case. */
  language: string;
  content: string;
  closed: boolean;
}

/** One way to match only: an agent prints lines of any length. */
const OPENING = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;

/** Fenced code blocks as CommonMark has them: closed by at least as many of the same mark. */
export function readFences(text: string): { fences: Fence[]; outside: string[] } {
  const fences: Fence[] = [];
  const outside: string[] = [];
  let mark: string | undefined;
  let lines: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (mark === undefined) {
      const [, opening, info = ""] = OPENING.exec(line) ?? [];
      if (opening === undefined) {
        lines.push(line);
        continue;
      }
      outside.push(lines.join("\n"));
      const [language = ""] = info.trim().split(/\s/, 1);
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
  else Object.assign(fences.at(-1) as Fence, { content: lines.join("\n") });
  return { fences, outside };
}

function closes(line: string, mark: string): boolean {
  const text = line.trim();
  return /^ {0,3}[`~]/.test(line) && text.length >= mark.length && text === mark.charAt(0).repeat(text.length);
}
