import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutToWidth, widthOf } from "../../src/surfaces/cut-to-width.js";

describe("text for one line of a terminal", () => {
  it.each([
    ["what fits stays", "hello", 5, "hello"],
    ["what does not is cut, and marked", "hello", 4, "hel…"],
    ["wide characters count two", "日本語", 5, "日本…"],
    ["emoji count two, however they are composed", "👩‍💻👩‍💻", 3, "👩‍💻…"],
    ["a mark on a character takes no room", "e\u0301e\u0301", 2, "e\u0301e\u0301"],
    ["what would move the cursor is a blank", "a\tb\r\nc", 9, "a b c"],
    ["no room", "a", 0, ""],
  ])("%s", (_what, text, columns, expected) => {
    expect(cutToWidth(text, columns)).toBe(expected);
  });

  it("never takes more room than there is", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 40 });
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 30 }), (line, columns) => {
        expect(widthOf(cutToWidth(line, columns))).toBeLessThanOrEqual(columns);
      }),
    );
  });
});
