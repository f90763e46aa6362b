import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitWords, textOf } from "../../../src/surfaces/repl/words.js";

const split = (line: string): string[] => splitWords(line).map(({ text, quoted }) => (quoted ? `<${text}>` : text));

describe("splitWords", () => {
  it.each([
    ["", []],
    ["  /next   --auto ", ["/next", "--auto"]],
    ['/new "Two words"', ["/new", "<Two words>"]],
    ["/new 'Two words'", ["/new", "<Two words>"]],
    ['say "he said \\"no\\" \\\\ twice"', ["say", '<he said "no" \\ twice>']],
    ["it's fine, isn't it", ["it's", "fine,", "isn't", "it"]],
    ["'tis fine", ["'tis", "fine"]],
    ['never "closed here', ["never", '"closed', "here"]],
    ['"a"b" c', ['<a"b>', "c"]],
    ['--reason="two words" x', ["--reason=two words", "x"]],
    ['""', ["<>"]],
    ["/tab\there", ["/tab", "here"]],
  ])("%j", (line, words) => expect(split(line)).toEqual(words));

  it("loses nothing that is not a blank or a quote", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z '"\\=-]*$/), (line) => {
        const words = splitWords(line);
        const outside = words.reduce(
          (rest, { start, end }) => rest.slice(0, start) + " ".repeat(end - start) + rest.slice(end),
          line,
        );
        expect(outside.trim()).toBe("");
        for (const { text, quoted, start, end } of words)
          if (!quoted && !text.startsWith("--")) expect(text).toBe(line.slice(start, end));
      }),
    );
  });
});

describe("textOf", () => {
  it("keeps blanks and quotes between the words, and leaves out what stood between", () => {
    const line = "/answer it's   'so' --to x and so";
    const words = splitWords(line).filter(({ text }) => !["/answer", "--to", "x"].includes(text));
    expect(textOf(line, words)).toBe("it's   'so' and so");
  });

  it("takes the quotes off a text that is one quoted word", () => {
    const line = '/override test "the reason"';
    expect(textOf(line, splitWords(line).slice(2))).toBe("the reason");
    expect(textOf(line, [])).toBe("");
  });
});
