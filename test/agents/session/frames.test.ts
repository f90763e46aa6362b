import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutAnswers } from "../../../src/agents/session/answers.js";
import { frame, FrameReader, numbers, readNumbers } from "../../../src/agents/session/frames.js";

describe("frames", () => {
  it("come out as they were put in, wherever they are cut on the way", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ type: fc.integer({ min: 0, max: 255 }), payload: fc.uint8Array({ maxLength: 300 }) })),
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }),
        (given, cuts) => {
          const sent = Buffer.concat(given.map(({ type, payload }) => frame(type, payload)));
          const reader = new FrameReader();
          const found = [];
          for (let at = 0, cut = 0; at < sent.length; cut++) {
            const length = cuts[cut % cuts.length] ?? 1;
            found.push(...(reader.add(sent.subarray(at, at + length)) ?? []));
            at += length;
          }
          expect(found.map(({ type, payload }) => ({ type, payload: [...payload] }))).toEqual(
            given.map(({ type, payload }) => ({ type, payload: [...payload] })),
          );
        },
      ),
    );
  });

  it("that are too long are refused before they have come", () => {
    expect(new FrameReader().add(Buffer.from([1, 255, 255, 255, 255]))).toBe(null);
  });

  it("carry numbers, and only as many as were meant", () => {
    expect(readNumbers(numbers(80, 24), 2)).toEqual([80, 24]);
    expect(readNumbers(numbers(80), 2)).toBe(null);
    expect(readNumbers(Buffer.from("80 24"), 2)).toBe(null);
  });
});

describe("what a viewer's terminal answers by itself", () => {
  const ESC = "\u001b";
  it.each([
    ["where its cursor is", `${ESC}[12;40R`],
    ["that all is well", `${ESC}[0n`],
    ["what it is", `${ESC}[?62;22c`],
    ["which version", `${ESC}[>41;354;0c`],
    ["which mode is set", `${ESC}[?2026;2$y`],
    ["which keyboard it has", `${ESC}[?0u`],
    ["how large it is", `${ESC}[8;24;80t`],
    ["its name", `${ESC}P>|xterm(354)${ESC}\\`],
  ])("%s is left out, and what was typed around it stays", (_what, answer) => {
    expect(withoutAnswers(Buffer.from(`a${answer}é`)).toString()).toBe("aé");
  });

  it.each([
    ["an arrow", `${ESC}[A`],
    ["Ctrl with an arrow", `${ESC}[1;5D`],
    ["Shift-F3", `${ESC}[1;2R`],
    ["Escape", ESC],
    ["Alt-c", `${ESC}c`],
    ["a click", `${ESC}[<0;10;20M`],
    ["a paste", `${ESC}[200~text${ESC}[201~`],
    ["the background's colour, which nobody else knows", `${ESC}]11;rgb:0000/0000/0000\u0007`],
    ["text that looks like one", "[12;40R"],
  ])("%s is typed", (_what, typed) => {
    expect(withoutAnswers(Buffer.from(typed)).toString()).toBe(typed);
  });
});
