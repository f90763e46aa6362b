/** What a program printed for a terminal, as plain text; in pieces, which may end anywhere. */
import { stripVTControlCharacters } from "node:util";

/** A control sequence that has begun and not ended, or a carriage return whose line may end with it. */
const UNFINISHED =
  // eslint-disable-next-line no-control-regex -- those it is about
  /(?:\r|\u001b(?:\[[0-?]*[ -/]*|[\]PX^_](?:[^\u0007\u001b]|\u001b(?!\\))*|[ -/]*)?)$/;
/** One that goes on for longer is none. */
const LONGEST = 4096;

export class PlainText {
  private held = "";

  add(piece: string): string {
    const text = this.held + piece;
    const start = Math.max(0, text.length - LONGEST);
    const at = UNFINISHED.exec(text.slice(start))?.index;
    const end = at === undefined ? text.length : start + at;
    this.held = text.slice(end);
    return strip(text.slice(0, end));
  }

  end(): string {
    const text = strip(this.held);
    this.held = "";
    return text;
  }
}

function strip(text: string): string {
  return stripVTControlCharacters(text).replaceAll("\r\n", "\n");
}
