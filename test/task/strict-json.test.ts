import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseStrictJson } from "../../src/task/strict-json.js";

const parse = (text: string | Uint8Array): ReturnType<typeof parseStrictJson> =>
  parseStrictJson(typeof text === "string" ? Buffer.from(text) : text, "a.json");

describe("strict JSON", () => {
  it.each([
    ["{}", {}],
    ["null", null],
    [' [1, -2.5e3, "x", true] \r\n', [1, -2500, "x", true]],
    ['{"a":{"a":1},"b":[{"a":1},{"a":2}]}', { a: { a: 1 }, b: [{ a: 1 }, { a: 2 }] }],
    ['{"a":"\\"a\\":","b":"{[,"}', { a: '"a":', b: "{[," }],
    ['{"a":["a","a"],"aa":"a"}', { a: ["a", "a"], aa: "a" }],
    ['{"A":1,"a":2}', { A: 1, a: 2 }],
    ['"\\ud800"', "\ud800"],
    ['"\u2028"', "\u2028"],
    [`${"[".repeat(64)}${"]".repeat(64)}`, JSON.parse(`${"[".repeat(64)}${"]".repeat(64)}`) as unknown],
  ])("%s", (text, value) => {
    expect(parse(text)).toEqual({ value });
  });

  const refused: [string, string | Uint8Array, Record<string, unknown>][] = [
    ["nothing", "", { message: "a.json is not JSON: an empty file", line: 1, column: 1 }],
    ["blanks", "\n \n", { found: "an empty file", line: 1, column: 1 }],
    ["a cut object", '{\n  "a": 1', { expected: "one JSON document", line: 2 }],
    ["a cut text", '{"a": "b', { expected: "one JSON document" }],
    ["single quotes", "{'a': 1}", { line: 1, column: 2 }],
    ["a name without quotes", "{a: 1}", { line: 1, column: 2 }],
    ["a comma too many", '{\n"a": 1,\n}', { line: 3, column: 1 }],
    ["a comma too many in a list", "[1,]", { expected: "one JSON document" }],
    ["NaN", '{"a": NaN}', { expected: "one JSON document" }],
    ["Infinity", "[-Infinity]", { expected: "one JSON document" }],
    ["undefined", "undefined", { expected: "one JSON document" }],
    ["a leading zero", "[01]", { expected: "one JSON document" }],
    ["a hexadecimal number", "[0x1]", { expected: "one JSON document" }],
    ["a comment", "{} // x", { expected: "one JSON document" }],
    ["a second document", "{}\n{}", { line: 2, column: 1 }],
    ["a line break in a text", '"a\nb"', { expected: "one JSON document" }],
    ["a fence of Markdown", "```json\n{}\n```", { expected: "one JSON document" }],
    ["a NUL byte", "{}\0", { expected: "one JSON document" }],
    [
      "a repeated key",
      '{\n  "a": 1,\n  "a": 2\n}',
      { expected: "every key once", found: '"a" again', line: 3, column: 3 },
    ],
    ["a repeated key, far inside", '{"x":[{"b":{"c":1,"d":0,"c":1}}]}', { found: '"c" again' }],
    ["a repeated key, escaped", '{"a/b":1,"a\\/b":2}', { found: '"a/b" again' }],
    ["a repeated key with an object between", '{"a":{"b":1},"a":2}', { found: '"a" again' }],
    ["a repeated __proto__", '{"__proto__":1,"__proto__":2}', { found: '"__proto__" again' }],
    ["a byte-order mark", "\uFEFF{}", { message: "a.json begins with a byte-order mark", found: "U+FEFF" }],
    ["other bytes", Uint8Array.from([0x22, 0xc3, 0x28, 0x22]), { message: "a.json is not UTF-8 text" }],
    ["a character of Latin-1", Uint8Array.from([0x22, 0xe4, 0x22]), { expected: "JSON in UTF-8" }],
    ["65 levels of lists", "[".repeat(65), { expected: "at most 64 levels", line: 1, column: 65 }],
    ["65 levels of both", '{"a":['.repeat(33), { expected: "at most 64 levels" }],
    ["a million levels", "[".repeat(1_000_000), { expected: "at most 64 levels" }],
  ];

  it.each(refused)("refuses %s", (_what, text, finding) => {
    expect(parse(text)).toEqual({ error: expect.objectContaining({ file: "a.json", ...finding }) as unknown });
  });

  it("never names a wrong place: where the parser does not tell, none is named", () => {
    const result = parse('{\n"a": nope,\n"b": 1\n}\n');
    expect("error" in result ? [undefined, 2] : []).toContain("error" in result ? result.error.line : 0);
  });

  it("refuses more than 16 MB without looking at it", () => {
    expect(parse(new Uint8Array(16 * 1024 * 1024 + 1))).toMatchObject({ error: { found: "16777217 bytes" } });
  });

  it("takes whatever JSON.stringify writes, and gives the same back", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        expect(parse(text)).toEqual({ value: JSON.parse(text) as unknown });
      }),
      { numRuns: 200 },
    );
  });

  it("refuses every object in which a key was repeated", () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), fc.jsonValue(), (key, one, other) => {
        const name = JSON.stringify(key);
        const text = `{${name}:${JSON.stringify(one)},${name}:${JSON.stringify(other)}}`;
        expect(parse(text)).toMatchObject({ error: { expected: "every key once" } });
      }),
      { numRuns: 200 },
    );
  });
});
