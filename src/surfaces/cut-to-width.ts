/** Text for one line of a terminal: a line that is redrawn must not wrap, or every redraw leaves a part of it behind. */

const CHARACTERS = new Intl.Segmenter();
const WIDE =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303e\ufe0f\uff01-\uff60\uffe0-\uffe6]/u;

export function cutToWidth(text: string, columns: number): string {
  const line = text.replace(/\p{Cc}+/gu, " ");
  if (widthOf(line) <= columns) return line;
  let kept = "";
  let width = 1; // The mark of what was cut.
  for (const { segment } of CHARACTERS.segment(line)) {
    width += characterWidth(segment);
    if (width > columns) break;
    kept += segment;
  }
  return columns < 1 ? "" : `${kept}…`;
}

export function widthOf(text: string): number {
  return [...CHARACTERS.segment(text)].reduce((sum, { segment }) => sum + characterWidth(segment), 0);
}

/** Marks that stand on another character are a part of its segment, and take no room. */
function characterWidth(segment: string): number {
  return WIDE.test(segment) ? 2 : 1;
}
