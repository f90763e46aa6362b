import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { knownEnvelopes } from "../../src/agents/envelopes.js";
import { loadPreset, type PresetResult } from "../../src/agents/preset.js";
import { printedArtifact, reportedError } from "../../src/agents/printed.js";
import { usageOf } from "../../src/agents/usage.js";
import { parseStrictJson } from "../../src/task/strict-json.js";
import { ARTIFACT, FAILURES, fenced, PRINTERS } from "./outputs.js";

const rules: Record<string, PresetResult> = {};
beforeAll(async () => {
  for (const name of Object.keys(PRINTERS)) rules[name] = (await loadPreset(name, "/nowhere")).result;
});

describe("a command of one's own", () => {
  it.each([
    ["the whole output", ARTIFACT, ARTIFACT],
    ["the whole output, with space around it", `\n  ${ARTIFACT}\n\n`, ARTIFACT],
    ["a list", '[{"a":1}]', '[{"a":1}]'],
    ["one fence", `Here it is:\n\n${fenced(ARTIFACT)}\n\nThat is all.`, ARTIFACT],
    ["a fence without a language", fenced(ARTIFACT, ""), ARTIFACT],
    ["a fence in capitals", fenced(ARTIFACT, "JSON"), ARTIFACT],
    ["a fence with more words", fenced(ARTIFACT, "json title=x"), ARTIFACT],
    ["a fence of tildes", `~~~json\n${ARTIFACT}\n~~~`, ARTIFACT],
    ["a longer fence", `\`\`\`\`json\n${ARTIFACT}\n\`\`\`\``, ARTIFACT],
    ["line ends of another system", `So:\r\n\`\`\`json\r\n${ARTIFACT}\r\n\`\`\`\r\n`, ARTIFACT],
    ["code in other languages beside it", `${fenced("ls -l", "sh")}\n${fenced(ARTIFACT)}`, ARTIFACT],
    ["a fence that is no JSON and does not claim to be", `${fenced("ls -l", "")}\n${fenced(ARTIFACT)}`, ARTIFACT],
    ["a fence with backticks in a string", fenced('{"a":"```"}'), '{"a":"```"}'],
  ])("%s is taken", (_case, stdout, text) => {
    expect(printedArtifact(stdout)).toBe(text);
  });

  it.each([
    ["nothing", ""],
    ["prose", "I am done."],
    ["a word that happens to be JSON", '"done"'],
    ["a number", "42"],
    ["null", "null"],
    ["prose around bare JSON", `Here it is: ${ARTIFACT}`],
    ["prose before bare JSON", `Here it is:\n${ARTIFACT}\n`],
    ["two documents", `${ARTIFACT}\n${ARTIFACT}`],
    ["two fences", `${fenced(ARTIFACT)}\n${fenced(ARTIFACT)}`],
    ["two fences, one without a language", `${fenced(ARTIFACT)}\n${fenced("{}", "")}`],
    ["a fence and a bare document", `${ARTIFACT}\n${fenced(ARTIFACT)}`],
    ["a fence and a bare document after it", `${fenced(ARTIFACT)}\n${ARTIFACT}\n`],
    ["a fence that does not end", `\`\`\`json\n${ARTIFACT}\n`],
    ["a broken fence beside a good one", `${fenced('{"a":')}\n${fenced(ARTIFACT)}`],
    ["a fence that does not end beside a good one", `${fenced(ARTIFACT)}\n\`\`\`json\n{"a":`],
    ["a fence of another language that does not end", `${fenced(ARTIFACT)}\n\`\`\`sh\nls`],
    ["a fence with a word that happens to be JSON", fenced('"done"')],
    ["one that does not end either", "```json\n42"],
    ["an empty fence", fenced("")],
    ["a fence that is code and does not claim otherwise", fenced("ls -l", "")],
    ["two that are cut off", `${fenced('{"a":')}\n${fenced('{"b":')}`],
    ["a record of events", `${ARTIFACT}\nWarning: slow.\n${ARTIFACT}\n{"a":`],
    ["a list in prose", "[INFO] I am done."],
    ["a fence inside a longer one", `\`\`\`\`markdown\n${fenced(ARTIFACT)}\n\`\`\`\``],
    ["a fence in another language", fenced(ARTIFACT, "js")],
    ["an indented block, which is no fence", `    \`\`\`json\n    ${ARTIFACT}\n    \`\`\``],
    [
      "output without its middle",
      `${fenced(ARTIFACT)}\n\n[… output left out here; the log has all of it …]\nand so on`,
    ],
  ])("%s is nothing", (_case, stdout) => {
    expect(printedArtifact(stdout)).toBeNull();
  });

  const BROKEN = '{"ok":true,}';
  it.each([
    ["a comma too much", BROKEN, BROKEN],
    ["a document cut off", ARTIFACT.slice(0, -5), ARTIFACT.slice(0, -5)],
    ["prose after bare JSON", `${ARTIFACT}\nDone.\n`, `${ARTIFACT}\nDone.`],
    ["a fence with a comma too much", `So:\n${fenced(BROKEN)}\nDone.`, BROKEN],
    ["a fence without a language", `So:\n${fenced(BROKEN, "")}\nDone.`, BROKEN],
    ["a fence with half a document", fenced(ARTIFACT.slice(0, -5)), ARTIFACT.slice(0, -5)],
    ["half a document in half a fence", `So:\n\`\`\`json\n${ARTIFACT.slice(0, -5)}`, ARTIFACT.slice(0, -5)],
    ["a fence closed by another mark", `\`\`\`json\n${ARTIFACT}\n~~~`, `${ARTIFACT}\n~~~`],
    ["code in other languages beside it", `${fenced("{ ls; }", "sh")}\n${fenced(BROKEN)}`, BROKEN],
  ])("%s is taken as it is, for its reader to refuse", (_case, stdout, text) => {
    expect(printedArtifact(stdout)).toBe(text);
    expect(() => void JSON.parse(text)).toThrow(SyntaxError);
  });

  it("a good fence is meant, not code that begins like a document", () => {
    expect(printedArtifact(`${fenced("{ ls; }", "")}\n${fenced(ARTIFACT)}`)).toBe(ARTIFACT);
  });
});

describe("a command of one's own that runs a known agent", () => {
  let envelopes: PresetResult[];
  beforeAll(async () => void (envelopes = await knownEnvelopes()));
  const read = (stdout: string): string | null => printedArtifact(stdout, undefined, envelopes);
  const CLAUDE = { type: "result", subtype: "success", is_error: false, result: fenced(ARTIFACT) };

  it.each([
    ["the answer of claude", JSON.stringify(CLAUDE)],
    ["the answer of claude on several lines", JSON.stringify(CLAUDE, null, 2)],
    [
      "the answer of gemini",
      JSON.stringify({ session_id: "s1", response: `So:\n${fenced(ARTIFACT)}`, stats: {} }, null, 2),
    ],
    ["a bare document in it", JSON.stringify({ response: ARTIFACT })],
    ...["claude", "gemini", "codex", "opencode"].map((name) => [
      `the events of ${name}`,
      PRINTERS[name]!("I look at it.", `So:\n\n${fenced(ARTIFACT)}\n`),
    ]),
  ])("%s is unwrapped", (_case, stdout) => {
    expect(read(stdout)).toBe(ARTIFACT);
  });

  it("a document that is slightly wrong is taken out of it as it is", () => {
    expect(read(JSON.stringify({ ...CLAUDE, result: fenced('{"ok":true,}') }))).toBe('{"ok":true,}');
  });

  it.each(["claude", "gemini", "codex", "opencode"])("what %s says without a document is none", (name) => {
    expect(read(PRINTERS[name]!("I am done."))).toBeNull();
  });

  it("what fits two envelopes is ambiguous", () => {
    expect(read(JSON.stringify({ ...CLAUDE, response: fenced(ARTIFACT) }))).toBeNull();
  });

  it("a document that is no envelope is the document", () => {
    const text = JSON.stringify({ type: "result", response: 7 });
    expect(read(text)).toBe(text);
  });
});

/** Nothing was taken, or what is no JSON: of text alone, what follows half a fence cannot be told from what is in it. */
function isRefused(taken: string | null): boolean {
  return taken === null || "error" in parseStrictJson(Buffer.from(taken), "a.json");
}

describe.each(Object.keys(PRINTERS))("%s", (name) => {
  const print = PRINTERS[name]!;
  const read = (stdout: string): ReturnType<typeof printedArtifact> => printedArtifact(stdout, rules[name]);

  it("one fence in what it says is taken", () => {
    expect(read(print(`I looked at it.\n\n${fenced(ARTIFACT)}\n`))).toBe(ARTIFACT);
    expect(read(print("I will look at it.", `So:\n\n${fenced(ARTIFACT)}\n`))).toBe(ARTIFACT);
  });

  it("no document, two, or half of one are nothing", () => {
    expect(read(print("I am done."))).toBeNull();
    expect(read(print(`${fenced(ARTIFACT)}\n\nor rather\n\n${fenced(ARTIFACT)}`))).toBeNull();
    expect(isRefused(read(print(`\`\`\`json\n${ARTIFACT}`)))).toBe(true);
    expect(read(print(`It is ${ARTIFACT}.`))).toBeNull();
    expect(read("")).toBeNull();
  });

  it("output that was cut off is nothing", () => {
    const whole = print(fenced(ARTIFACT));
    const last = name === "aider" ? whole.lastIndexOf("```") : whole.trimEnd().lastIndexOf("\n") + 1;
    expect(read(whole.slice(0, last))).toBeNull();
    expect(isRefused(read(whole.slice(0, last + 2)))).toBe(true);
    const gap = "\n[… output left out here; the log has all of it …]\n";
    expect(read(`${whole.slice(0, 40)}${gap}${whole.slice(60)}`)).toBeNull();
  });
});

describe.each(Object.keys(PRINTERS).filter((name) => name !== "aider"))("the events of %s", (name) => {
  const print = PRINTERS[name]!;

  it("what it says may be the document itself", () => {
    expect(printedArtifact(print("First I look.", ARTIFACT), rules[name])).toBe(ARTIFACT);
  });

  it("are no artifacts themselves", () => {
    for (const line of print("Done.").trim().split("\n")) expect(printedArtifact(line, rules[name])).toBeNull();
  });

  it("warnings between them do no harm", () => {
    const noisy = print(fenced(ARTIFACT)).replace("\n", "\nWarning: 256-color support not detected.\n");
    expect(printedArtifact(noisy, rules[name])).toBe(ARTIFACT);
  });

  it("that report a failure hold no artifact", () => {
    expect(printedArtifact(FAILURES[name]!, rules[name])).toBeNull();
    expect(reportedError(FAILURES[name]!, rules[name])).toMatch(/no|too low/);
    expect(reportedError(print("Done."), rules[name])).toBeNull();
  });
});

it.each(["gemini", "codex", "opencode"])("a document in two messages of %s is ambiguous", (name) => {
  expect(printedArtifact(PRINTERS[name]!(fenced(ARTIFACT), fenced(ARTIFACT)), rules[name])).toBeNull();
  expect(printedArtifact(PRINTERS[name]!(ARTIFACT, `\`\`\`json\n${ARTIFACT}`), rules[name])).toBeNull();
});

it("an envelope that is one document gives its text, not itself", () => {
  const rule: PresetResult = { format: "json", text: { at: "/result" }, error: { when: { "/is_error": true } } };
  expect(printedArtifact(JSON.stringify({ result: ARTIFACT }), rule)).toBe(ARTIFACT);
  expect(printedArtifact(JSON.stringify({ result: ARTIFACT, is_error: true }), rule)).toBeNull();
  expect(printedArtifact(JSON.stringify({ other: ARTIFACT }), rule)).toBeNull();
  expect(printedArtifact(ARTIFACT, rule)).toBeNull();
  expect(printedArtifact(`${JSON.stringify({ result: ARTIFACT })}\nbye`, rule)).toBeNull();
});

it("lines of any length are read in the time that their length takes", () => {
  const long = "1".repeat(4 << 20);
  for (const stdout of [`\`\`\`${long}\``, `Tokens: ${long}`, `{"a": ${long}`, `[… ${long}`]) {
    expect(isRefused(printedArtifact(stdout))).toBe(true);
    expect(usageOf(stdout, rules["aider"]).outputTokens).toBe("unknown");
  }
});

it("whatever is printed, nothing is thrown, and what is taken is one JSON document or none that could pass", () => {
  const piece = fc.oneof(
    fc.constantFrom("```json\n", "\n```\n", "```", "~~~", "\n", ARTIFACT, '{"type":"result","result":', "}", "[", '"'),
    fc.string(),
    fc.json(),
  );
  const output = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
  const rule = fc.constantFrom(undefined, ...Object.values(PRINTERS).map((_, index) => index));
  fc.assert(
    fc.property(output, rule, (stdout, index) => {
      const taken = printedArtifact(stdout, index === undefined ? undefined : Object.values(rules)[index]);
      if (taken !== null && !isRefused(taken)) expect(typeof JSON.parse(taken)).toBe("object");
    }),
    { numRuns: 500 },
  );
});
