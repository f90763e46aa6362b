/** What a program printed for a terminal, as plain text. */
import { stripVTControlCharacters } from "node:util";

/** Titles, links and other strings for the terminal itself; Node knows only some of them. */
const STRINGS = /\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;
/** A control sequence that has begun and not ended, or a carriage return whose line may end with it. */
const UNFINISHED = /(?:\r|\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b]*\u001b?|[ -/]*))$/;

/** One that goes on for longer is none. */
const LONGEST = 4096;

export function plainText(text: string): string {
  return stripVTControlCharacters(text.replace(STRINGS, "")).replaceAll("\r\n", "\n");
}

/** The same of what comes in pieces, which may end anywhere. */
export class PlainText {
  private held = "";

  add(piece: string): string {
    const text = this.held + piece;
    const start = Math.max(0, text.length - LONGEST);
    const at = UNFINISHED.exec(text.slice(start))?.index;
    const end = at === undefined ? text.length : start + at;
    this.held = text.slice(end);
    return plainText(text.slice(0, end));
  }

  end(): string {
    const text = plainText(this.held);
    this.held = "";
    return text;
  }
}
