/** Colours for people. Meaning never depends on them: every mark is a word or a sign too. */
import type { Io } from "./io.js";

export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export function styleFor(io: Pick<Io, "env">, isTerminal: boolean): Style {
  const { NO_COLOR, FORCE_COLOR, TERM } = io.env;
  const on =
    FORCE_COLOR !== undefined && FORCE_COLOR !== "0" ? true : isTerminal && (NO_COLOR ?? "") === "" && TERM !== "dumb";
  const paint =
    (open: number, close: number) =>
    (text: string): string =>
      on ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  };
}
