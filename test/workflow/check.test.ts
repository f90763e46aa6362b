import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openPawl } from "../../src/index.js";
import { PACKAGE } from "../support/workspace.js";
import {
  brief,
  changed,
  check,
  DESIGN_EXAMPLE,
  FIX_A_BUG,
  lineOf,
  parse,
  smallWorkflow,
  type Row,
} from "../support/workflow-text.js";

describe("a sound document", () => {
  it("gives no error for the example of the design, and names the row that only its place decides", () => {
    expect(brief(check(DESIGN_EXAMPLE))).toEqual([
      { rule: "overlap", severity: "warning", line: lineOf(DESIGN_EXAMPLE, "visits.fix") },
    ]);
    expect(check(FIX_A_BUG)).toEqual([]);
  });

  it.each(readdirSync(join(PACKAGE, "system/workflows")).map((name) => name.replace(/\.md$/, "")))(
    "gives no finding for the built-in document %s",
    async (name) => {
      expect(await openPawl({ directory: PACKAGE }).checkSpec(name)).toMatchObject({ ok: true, findings: [] });
    },
  );

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
    ["an event that nothing is like", ["| resume|", "| nonsense|"], "event", "nonsense", "use one of: next, answer"],
    ["an event that needs no row", ["| resume|", "| override|"], "event", "override", "under `human`"],
    [
      "the role of a phase",
      ["| fix       | agent `coder`   |", "| fix       | agent `codr` |"],
      "role",
      "`codr`",
      "did you mean coder?",
    ],
    [
      "the role of a phase that nothing is like",
      ["| fix       | agent `coder`   |", "| fix       | agent `tester` |"],
      "role",
      "`tester`",
      "system/agents/tester.md",
    ],
  ])("finds %s that does not exist", (_what, change, rule, fragment, hint) => {
    const text = changed(FIX_A_BUG, change);
    const found = check(text).filter((finding) => finding.rule === rule);
    expect(brief(found)).toEqual([{ rule, severity: "error", line: lineOf(text, fragment) }]);
    expect(found[0]?.hint).toContain(hint);
  });

  it("says who can make an artifact, and no action that makes nothing", () => {
    const [finding] = check(changed(FIX_A_BUG, ["`run-tests`", "`do-magic`"])).filter(({ rule }) => rule === "maker");
    expect(finding?.hint).toBe("use one of: agent, human, count-files, run-tests");
  });

  it.each<[string, string]>([
    ["the role of the phase", "coder"],
    ["somebody who can, among others who cannot", "planner, human, pawl"],
    ["any agent", "agent"],
  ])("accepts %s as a sender", (_what, by) => {
    expect(check(changed(FIX_A_BUG, ["fix       | next  | any  ", `fix       | next  | ${by}`]))).toEqual([]);
  });

  it.each<[string, Row, string]>([
    ["a role that works elsewhere", { from: "a", to: "b", by: "planner" }, "human, agent, w, any"],
    ["an agent, in a human's phase", { from: "b", to: "done", by: "agent" }, "human, any"],
    ["pawl, which never asks for the next step", { from: "a", to: "b", by: "pawl" }, "human, agent, w, any"],
    ["an agent that answers", { from: "b", to: "done", by: "agent, w", event: "answer" }, "human, any"],
    ["an agent that resumes", { from: "a", to: "b", by: "w", event: "resume" }, "human, any"],
    ["a human who says that work failed", { from: "a", to: "b", by: "human", event: "fail" }, "pawl, any"],
    ["work that failed where pawl has none done", { from: "b", to: "done", by: "pawl", event: "fail" }, ""],
  ])("finds a row whose event never comes from its sender: %s", (_what, row, able) => {
    const text = smallWorkflow({ a: "agent `w`", b: "human", done: "" }, [
      { ...row, why: "here" },
      { from: "a", to: "b", event: "go" },
      { from: "b", to: "done", event: "go" },
    ]);
    const findings = check(text);
    expect(brief(findings)).toEqual([{ rule: "sender", severity: "error", line: lineOf(text, "here") }]);
    expect(findings[0]?.expected).toBe(able === "" ? "another event: in b nobody sends fail" : `one of: ${able}`);
  });

  it.each(["visits", "in", "a-report"])("refuses the artifact name %s, which no condition could say", (name) => {
    const text = changed(FIX_A_BUG, ["| report   | report.json", `| ${name} | report.json`]);
    const found = check(text).filter(({ rule }) => rule === "artifact-name");
    expect(brief(found)).toEqual([{ rule: "artifact-name", severity: "error", line: lineOf(text, `| ${name} |`) }]);
  });

  describe("the maker of a record", () => {
    const withRecord = (name: string, ...changes: [string, string][]): string =>
      changed(
        FIX_A_BUG,
        ["## Transitions", `| ${name} | record.json | | \`write-record\` | |\n\n## Transitions`],
        [`\n\n| ${name}`, `\n| ${name}`],
        ...changes,
      );

    it("may be the action of a row that leaves it", () => {
      expect(check(withRecord("record", ["`merge`", "`merge`, `write-record`"]))).toEqual([]);
    });

    it("is none as long as no row does it", () => {
      const text = withRecord("record");
      const [finding] = check(text);
      expect(finding).toMatchObject({ rule: "maker", severity: "error", line: lineOf(text, "| record |") });
      expect(finding?.hint).toContain("under Do");
    });

    it("is none for an artifact of another name", () => {
      const [finding] = check(withRecord("memo", ["`merge`", "`merge`, `write-record`"]));
      expect(finding).toMatchObject({ rule: "maker", hint: "`write-record` leaves record: call the artifact so" });
    });
  });

  it("finds a schema that nothing is held against: the artifact is text", () => {
    const text = changed(FIX_A_BUG, ["| report   | report.json   |", "| report   | report.md     |"]);
    expect(brief(check(text).filter(({ rule }) => rule === "schema"))).toEqual([
      { rule: "schema", severity: "error", line: lineOf(text, "report.md") },
    ]);
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
