/** What to type next, in the words of the REPL: `pawl next x` is `/next x` here. Pure. */

/** The word may stand in colours. */
const HINT = /^\s*(?:\u001b\[\d+m)*next:/;

/** Only lines that say what to do next are touched: anything else may be somebody's own text. */
export function slashHints(text: string, names: readonly string[]): string {
  const word = names.join("|");
  const help = new RegExp(`\\bpawl (?:(<command>|${word}) )?--help\\b`, "g");
  const call = new RegExp(`\\bpawl (?=(?:${word})\\b)`, "g");
  const spoken = (line: string): string =>
    line.replace(help, (_call, name?: string) => (name === undefined ? "/help" : `/help ${name}`)).replace(call, "/");
  return text
    .split("\n")
    .map((line) => (HINT.test(line) ? spoken(line) : line))
    .join("\n");
}
