import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkWorkflow, type JsonSchema, type Known } from "../../src/workflow/check.js";
import { readWorkflow } from "../../src/workflow/parse-workflow.js";
import {
  brief,
  changed,
  check,
  DESIGN_EXAMPLE,
  FIX_A_BUG,
  KNOWN,
  lineOf,
  parse,
  smallWorkflow,
} from "../support/workflow-text.js";

const SYSTEM = join(import.meta.dirname, "../../system");

describe("a sound document", () => {
  it("gives no error for the example of the design, and names the row that only its place decides", () => {
    expect(brief(check(DESIGN_EXAMPLE))).toEqual([
      { rule: "overlap", severity: "warning", line: lineOf(DESIGN_EXAMPLE, "visits.fix") },
    ]);
    expect(check(FIX_A_BUG)).toEqual([]);
  });

  it("gives no finding for the global state machine", () => {
    const file = join(SYSTEM, "workflows/global-state-machine.md");
    const { workflow, findings } = readWorkflow(readFileSync(file, "utf8"), file);
    const schemas = Object.fromEntries(
      readdirSync(join(SYSTEM, "schemas")).map((name): [string, JsonSchema] => [
        name,
        JSON.parse(readFileSync(join(SYSTEM, "schemas", name), "utf8")) as JsonSchema,
      ]),
    );
    const actions = workflow.transitions.flatMap((row) =>
      row.actions.map(({ name }) => ({ name, kind: "action" as const })),
    );
    const makers = ["derive-change", "run-tests"].map((name) => ({ name, kind: "maker" as const }));
    expect(findings).toEqual([]);
    expect(checkWorkflow(workflow, { actions: [...actions, ...makers], schemas })).toEqual([]);
  });

  it("says of every finding where it is, what was expected and what to do", () => {
    const text = changed(FIX_A_BUG, ["initial: reproduce", "initial: reprodce"], ["report.failing", "report.falling"]);
    const findings = check(text);
    expect(findings.length).toBeGreaterThan(1);
    for (const finding of findings) {
      expect(finding).toMatchObject({ file: "bug.md", line: expect.any(Number) as number });
      expect([finding.expected, finding.found, finding.hint]).not.toContain(undefined);
    }
    expect(findings.map(({ line }) => line)).toEqual(findings.map(({ line }) => line).sort((a, b) => a - b));
  });
});

describe("names", () => {
  it.each<[string, [string, string], string, string, string]>([
    [
      "the initial phase",
      ["initial: reproduce", "initial: reprodce"],
      "initial",
      "initial:",
      "did you mean reproduce?",
    ],
    ["a phase under From", ["| stuck     | resume", "| stack     | resume"], "phase", "stack ", "did you mean stuck?"],
    ["a phase under To", ["| verify |\n", "| verfy |\n"], "phase", "verfy", "did you mean verify?"],
    ["what a phase leaves", ["| `report` |", "| `reprot` |"], "artifact", "`reprot`", "did you mean report?"],
    [
      "what an artifact judges",
      ["| agent         |          |", "| agent         | tets     |"],
      "artifact",
      "tets",
      "did you mean tests?",
    ],
    [
      "a schema",
      ["| tests.json    | `run", "| test.json     | `run"],
      "schema",
      "test.json",
      "did you mean tests.json?",
    ],
    ["a maker", ["`run-tests`", "`run-test` "], "maker", "`run-test`", "did you mean run-tests?"],
    ["an action", ["`ask-human`", "`ask-humen`"], "action", "ask-humen", "did you mean ask-human?"],
    [
      "a maker that is used as an action",
      ["`ask-human`", "`run-tests`"],
      "action",
      "| stuck  |",
      "name it under Made by",
    ],
    ["a sender", ["resume| human |", "resume| humen |"], "sender", "humen", "did you mean human?"],
    ["an event", ["| resume|", "| Resume|"], "event", "Resume", "did you mean resume?"],
  ])("finds %s that does not exist", (_what, change, rule, fragment, hint) => {
    const text = changed(FIX_A_BUG, change);
    const found = check(text).filter((finding) => finding.rule === rule);
    expect(brief(found)).toEqual([{ rule, severity: "error", line: lineOf(text, fragment) }]);
    expect(found[0]?.hint).toContain(hint);
  });

  it.each<[string, [string, string], Partial<Known>]>([
    ["the role of a phase", ["fix       | next  | any  ", "fix       | next  | coder"], {}],
    ["a known role", ["fix       | next  | any  ", "fix       | next  | worker"], { roles: ["worker"] }],
    ["several senders", ["fix       | next  | any  ", "fix       | next  | human, agent, pawl"], {}],
  ])("accepts %s as a sender", (_what, change, more) => {
    expect(check(changed(FIX_A_BUG, change), { ...KNOWN, ...more })).toEqual([]);
  });

  it.each(["visits", "in", "a-report"])("refuses the artifact name %s, which no condition could say", (name) => {
    const text = changed(FIX_A_BUG, ["| report   | report.json", `| ${name} | report.json`]);
    const found = check(text).filter(({ rule }) => rule === "artifact-name");
    expect(brief(found)).toEqual([{ rule: "artifact-name", severity: "error", line: lineOf(text, `| ${name} |`) }]);
  });

  it("accepts a row's action as the maker of its own record", () => {
    const text = changed(
      FIX_A_BUG,
      ["## Transitions", "| record | record.json | | `write-record` | |\n\n## Transitions"],
      ["\n\n| record", "\n| record"],
      ["`merge`", "`merge`, `write-record`"],
    );
    expect(check(text)).toEqual([]);
  });
});

describe("what is declared and not used", () => {
  const extra = (row: string): string =>
    changed(FIX_A_BUG, ["| change   | change.json", `${row}\n| change   | change.json`]);

  it("finds an artifact that no phase leaves", () => {
    const text = extra("| memo | memo.md | | human | |");
    expect(brief(check(text))).toEqual([{ rule: "left-by-nobody", severity: "error", line: lineOf(text, "| memo") }]);
  });

  it("accepts one that is an input: another artifact judges it", () => {
    const text = changed(extra("| memo | memo.md | | human | |"), ["| agent         |          |", "| agent | memo |"]);
    expect(check(text)).toEqual([]);
  });

  it("finds an artifact that nothing looks at", () => {
    const text = changed(extra("| memo | memo.md | | agent | |"), ["| `report` |", "| `report`, memo |"]);
    expect(brief(check(text))).toEqual([
      { rule: "unused-artifact", severity: "warning", line: lineOf(text, "| memo |") },
    ]);
  });

  it("finds a limit that bounds nothing, at its own line", () => {
    const text = changed(FIX_A_BUG, ["limits: { attempts: 3 }", "limits:\n  attempts: 3\n  rounds: 2"]);
    expect(brief(check(text))).toEqual([{ rule: "unused-limit", severity: "warning", line: lineOf(text, "rounds") }]);
  });

  it("finds artifacts that judge each other in a ring", () => {
    const text = changed(FIX_A_BUG, ["| agent         |          |", "| agent         | tests    |"]);
    const findings = check(text);
    expect(brief(findings)).toEqual([{ rule: "judging-cycle", severity: "error", line: lineOf(text, "| report   |") }]);
    expect(findings[0]?.message).toContain("report → tests → change → report");
  });

  it.each<[string, [string, string], "error" | "warning", string]>([
    [
      "an orchestrator's phase with an agent's artifact",
      ["| `run-tests`   | change", "| agent | change"],
      "error",
      "| verify    | orch",
    ],
    [
      "an agent's phase with a human's artifact",
      ["| agent         |  ", "| human         |  "],
      "warning",
      "| reproduce | agent",
    ],
    [
      "a terminal phase that leaves something",
      ["| done      |                 |          |", "| done      |                 | `tests` |"],
      "error",
      "| done      |    ",
    ],
  ])("finds %s", (_what, change, severity, fragment) => {
    const text = changed(FIX_A_BUG, change);
    expect(brief(check(text))).toEqual([{ rule: "leaves", severity, line: lineOf(text, fragment) }]);
  });
});

describe("the data of the parser that the check needs", () => {
  it("knows the line of every limit, in both ways of writing them", () => {
    expect(parse(FIX_A_BUG).lines).toMatchObject({ initial: 4, limits: 5, "limits.attempts": 5 });
    const block = changed(FIX_A_BUG, ["limits: { attempts: 3 }", "limits:\n  attempts: 3"]);
    expect(parse(block).lines).toMatchObject({ limits: 5, "limits.attempts": 6 });
  });
});
