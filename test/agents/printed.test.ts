import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { loadPreset, type PresetResult } from "../../src/agents/preset.js";
import { printedArtifact, reportedError } from "../../src/agents/printed.js";
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
    expect(printedArtifact(stdout)).toEqual({ text });
  });

  it.each([
    ["nothing", ""],
    ["prose", "I am done."],
    ["a word that happens to be JSON", '"done"'],
    ["a number", "42"],
    ["null", "null"],
    ["prose around bare JSON", `Here it is: ${ARTIFACT}`],
    ["prose before bare JSON", `Here it is:\n${ARTIFACT}\n`],
    ["prose after bare JSON", `${ARTIFACT}\nDone.`],
    ["two documents", `${ARTIFACT}\n${ARTIFACT}`],
    ["two fences", `${fenced(ARTIFACT)}\n${fenced(ARTIFACT)}`],
    ["two fences, one without a language", `${fenced(ARTIFACT)}\n${fenced("{}", "")}`],
    ["a fence and a bare document", `${ARTIFACT}\n${fenced(ARTIFACT)}`],
    ["a fence and a bare document after it", `${fenced(ARTIFACT)}\n${ARTIFACT}\n`],
    ["a fence that does not end", `\`\`\`json\n${ARTIFACT}\n`],
    ["a document cut off", ARTIFACT.slice(0, -5)],
    ["a fence with half a document", fenced(ARTIFACT.slice(0, -5))],
    ["a broken fence beside a good one", `${fenced('{"a":')}\n${fenced(ARTIFACT)}`],
    ["a fence closed by another mark", `\`\`\`json\n${ARTIFACT}\n~~~`],
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
});

describe.each(Object.keys(PRINTERS))("%s", (name) => {
  const print = PRINTERS[name]!;
  const read = (stdout: string): ReturnType<typeof printedArtifact> => printedArtifact(stdout, rules[name]);

  it("one fence in what it says is taken", () => {
    expect(read(print(`I looked at it.\n\n${fenced(ARTIFACT)}\n`))).toEqual({ text: ARTIFACT });
    expect(read(print("I will look at it.", `So:\n\n${fenced(ARTIFACT)}\n`))).toEqual({ text: ARTIFACT });
  });

  it("no document, two, or half of one are nothing", () => {
    expect(read(print("I am done."))).toBeNull();
    expect(read(print(`${fenced(ARTIFACT)}\n\nor rather\n\n${fenced(ARTIFACT)}`))).toBeNull();
    expect(read(print(`\`\`\`json\n${ARTIFACT}`))).toBeNull();
    expect(read(print(`It is ${ARTIFACT}.`))).toBeNull();
    expect(read("")).toBeNull();
  });

  it("output that was cut off is nothing", () => {
    const whole = print(fenced(ARTIFACT));
    const last = name === "aider" ? whole.lastIndexOf("```") : whole.trimEnd().lastIndexOf("\n") + 1;
    expect(read(whole.slice(0, last))).toBeNull();
    expect(read(whole.slice(0, last + 2))).toBeNull();
    const gap = "\n[… output left out here; the log has all of it …]\n";
    expect(read(`${whole.slice(0, 40)}${gap}${whole.slice(60)}`)).toBeNull();
  });
});

describe.each(Object.keys(PRINTERS).filter((name) => name !== "aider"))("the events of %s", (name) => {
  const print = PRINTERS[name]!;

  it("what it says may be the document itself", () => {
    expect(printedArtifact(print("First I look.", ARTIFACT), rules[name])).toEqual({ text: ARTIFACT });
  });

  it("are no artifacts themselves", () => {
    for (const line of print("Done.").trim().split("\n")) expect(printedArtifact(line, rules[name])).toBeNull();
  });

  it("warnings between them do no harm", () => {
    const noisy = print(fenced(ARTIFACT)).replace("\n", "\nWarning: 256-color support not detected.\n");
    expect(printedArtifact(noisy, rules[name])).toEqual({ text: ARTIFACT });
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
  expect(printedArtifact(JSON.stringify({ result: ARTIFACT }), rule)).toEqual({ text: ARTIFACT });
  expect(printedArtifact(JSON.stringify({ result: ARTIFACT, is_error: true }), rule)).toBeNull();
  expect(printedArtifact(JSON.stringify({ other: ARTIFACT }), rule)).toBeNull();
  expect(printedArtifact(ARTIFACT, rule)).toBeNull();
  expect(printedArtifact(`${JSON.stringify({ result: ARTIFACT })}\nbye`, rule)).toBeNull();
});

it("whatever is printed, nothing is thrown, and what is taken is one JSON document", () => {
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
      if (taken !== null) expect(typeof JSON.parse(taken.text)).toBe("object");
    }),
    { numRuns: 500 },
  );
});
