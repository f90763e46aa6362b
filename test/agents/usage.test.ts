import { beforeAll, expect, it } from "vitest";
import { loadPreset, type PresetResult } from "../../src/agents/preset.js";
import { usageOf } from "../../src/agents/usage.js";
import { FAILURES, PRINTERS } from "./outputs.js";

const UNKNOWN = { cost: "unknown", inputTokens: "unknown", outputTokens: "unknown" };
const rules: Record<string, PresetResult> = {};
beforeAll(async () => {
  for (const name of Object.keys(PRINTERS)) rules[name] = (await loadPreset(name, "/nowhere")).result;
});

it.each([
  // What was read from a cache was read, too.
  ["claude", { cost: 0.0312, inputTokens: 22012, outputTokens: 431 }],
  ["gemini", { cost: "unknown", inputTokens: 4800, outputTokens: 136 }],
  ["codex", { cost: "unknown", inputTokens: 3600, outputTokens: 102 }],
  // Three steps, each with its own part.
  ["opencode", { cost: 0.3, inputTokens: 3750, outputTokens: 102 }],
  // Its tokens are of each message, and rounded for people; the price of the session is the last one.
  ["aider", { cost: 0.03, inputTokens: 7400, outputTokens: 1312 }],
])("%s reports what it reports, and the rest is unknown", (name, expected) => {
  expect(usageOf(PRINTERS[name]!("One.", "Two.", "Three."), rules[name])).toEqual(expected);
});

it("without a rule all is unknown", () => {
  expect(usageOf(PRINTERS["claude"]!("Done."))).toEqual(UNKNOWN);
});

it.each(Object.keys(PRINTERS))("what %s did not print is unknown", (name) => {
  expect(usageOf("", rules[name])).toEqual(UNKNOWN);
  expect(usageOf("{ not json", rules[name])).toEqual(UNKNOWN);
  expect(usageOf('{"type":"result"}\n{"type":"turn.completed"}\n{"type":"step_finish"}', rules[name])).toEqual(UNKNOWN);
});

it.each(Object.keys(FAILURES))("the zeros of a failed %s are unknown", (name) => {
  expect(usageOf(FAILURES[name]!, rules[name])).toEqual(UNKNOWN);
});

it("a total survives a lost middle, a sum does not", () => {
  const cut = (stdout: string): string =>
    `${stdout.slice(0, 30)}\n[… output left out here; the log has all of it …]\n${stdout.slice(60)}`;
  expect(usageOf(cut(PRINTERS["codex"]!("One.", "Two.")), rules["codex"])).toMatchObject({ inputTokens: 3600 });
  expect(usageOf(cut(PRINTERS["opencode"]!("One.", "Two.")), rules["opencode"])).toEqual(UNKNOWN);
});

it("one step without its part makes the sum unknown", () => {
  const stdout = `${PRINTERS["opencode"]!("One.")}{"type":"step_finish","part":{"tokens":{"input":7}}}\n`;
  expect(usageOf(stdout, rules["opencode"])).toEqual({
    cost: "unknown",
    inputTokens: 1257,
    outputTokens: "unknown",
  });
});

it.each([[-1], ["12"], [null], [1e999]])("%j is no number of tokens", (value) => {
  const rule: PresetResult = { format: "json", inputTokens: { at: ["/n"] } };
  expect(usageOf(JSON.stringify({ n: value }), rule).inputTokens).toBe("unknown");
});

it.each([
  ["Tokens: 4.2k sent, 1.1k received.", { inputTokens: 4200, outputTokens: 1100 }],
  ["Tokens: 1.5M sent, 2.1k cache write, 12k received.", { inputTokens: 1_500_000, outputTokens: 12_000 }],
  ["Tokens: 1,234 sent, 56 received.", { inputTokens: 1234, outputTokens: 56 }],
  // Half of a sum is no sum.
  ["Tokens: 4k sent, 1k received.\n[… output left out here …]\n", { inputTokens: "unknown", outputTokens: "unknown" }],
  ["Tokens: 4.2.1k sent, 1k received.", { inputTokens: "unknown", outputTokens: 1000 }],
])("aider says %j", (line, expected) => {
  expect(usageOf(`${line}\n`, rules["aider"])).toMatchObject(expected);
});

it("of a text, the last match counts unless each is a part", () => {
  const text = "used 2k\nused 3K\n";
  const read = (sum: boolean): unknown =>
    usageOf(text, { format: "text", inputTokens: { pattern: "used (\\S+)", sum } }).inputTokens;
  expect(read(false)).toBe(3000);
  expect(read(true)).toBe(5000);
});
