import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitAtDetach } from "../../src/surfaces/cli/detach-key.js";
import { PlainText } from "../../src/process/plain-text.js";

const ESC = "\u001b";

function plain(pieces: string[]): string {
  const text = new PlainText();
  return pieces.map((piece) => text.add(piece)).join("") + text.end();
}

describe("what was printed for a terminal, as plain text", () => {
  const PRINTED = `${ESC}[1;31mred${ESC}[0m and\r\n${ESC}]0;a title\u0007more${ESC}]8;;https://x.y${ESC}\\link${ESC}[?25l\r\nü🦀\n`;

  it("is without colours, titles and cursor movements, wherever it is cut on the way", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: PRINTED.length }), { maxLength: 10 }), (cuts) => {
        const places = [0, ...cuts.sort((one, other) => one - other), PRINTED.length];
        const pieces = places.slice(1).map((end, index) => PRINTED.slice(places[index], end));
        expect(plain(pieces)).toBe("red and\nmorelink\nü🦀\n");
      }),
    );
  });

  it("does not wait for ever for a sequence that does not end", () => {
    const text = new PlainText();
    expect(text.add(`${ESC}]0;`)).toBe("");
    expect(text.add("x".repeat(5000))).not.toBe("");
  });

  it("gives what was held back when nothing more comes", () => {
    expect(plain(["a line\r"])).toBe("a line\r");
  });
});

describe("the key that leaves", () => {
  it.each([
    ["as one byte", "\u001d"],
    ["as a keyboard sends it that tells all keys apart", `${ESC}[93;5u`],
    ["and when it is pressed, not only that it is", `${ESC}[93;5:1u`],
    ["as xterm does", `${ESC}[27;5;93~`],
  ])("%s; what was typed before it still goes out, what comes after it does not", (_how, key) => {
    const { before, detaches } = splitAtDetach(Buffer.from(`ü${key}x`));
    expect([before.toString(), detaches]).toEqual(["ü", true]);
  });

  it.each(["]", "\u001b", "\u0003", `${ESC}[A`, `${ESC}[93u`])("is not %j", (typed) => {
    expect(splitAtDetach(Buffer.from(typed))).toEqual({ before: Buffer.from(typed), detaches: false });
  });
});
