/** What to type next, in the words of the REPL: `pawl next x` is `/next x` here. Pure. */

/** The word may stand in colours. */
const HINT = /^\s*(?:\u001b\[\d+m)*next:/;

/** Only lines that say what to do next are touched: anything else may be somebody's own text. */
export function slashHints(text: string, names: readonly string[]): string {
  const call = new RegExp(`\\bpawl (?=(?:${names.join("|")})\\b)`, "g");
  return text
    .split("\n")
    .map((line) => (HINT.test(line) ? line.replace(call, "/") : line))
    .join("\n");
}
