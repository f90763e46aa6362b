/**
 * The terminal of whoever is attached answers what an agent asks of its terminal, and so does everybody else's, after the
 * screen has answered already. The agent would take a second answer for something that was typed.
 */

/** Where the cursor is, whether all is well, what it is, which mode is set, how large it is. Shift-F3 looks like the first. */
const ANSWERS =
  /\u001b\[(?:(?!1;[2-8]R)\d+;\d+R|\?\d+;\d+(?:;\d+)?R|0n|[?>=][\d;]*c|\?\d+;\d+\$y|\?\d+u|[468];\d+;\d+t)|\u001bP[^\u001b]*\u001b\\/g;

const ESCAPE = 0x1b;

/** Byte by byte, so that whatever else was typed stays as it is. */
export function withoutAnswers(typed: Buffer): Buffer {
  if (!typed.includes(ESCAPE)) return typed;
  return Buffer.from(typed.toString("latin1").replace(ANSWERS, ""), "latin1");
}
