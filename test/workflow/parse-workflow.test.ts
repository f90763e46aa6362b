import { describe, expect, it } from "vitest";
import { parseWorkflow, readWorkflow } from "../../src/workflow/parse-workflow.js";
import { sha256 } from "../../src/workflow/hash.js";
import { changed, FIX_A_BUG, lineOf, smallWorkflow } from "../support/workflow-text.js";
import { thrownBy } from "../support/errors.js";
import {} from "../support/workspace.js";

describe("a workflow document", () => {
  it("is what it says, with the lines where it says it", () => {
    const workflow = parseWorkflow(FIX_A_BUG, "bug.md");
    expect(workflow).toMatchObject({
      name: "fix-a-bug",
      version: 1,
      title: "Fix a bug",
      file: "bug.md",
      hash: sha256(FIX_A_BUG),
      state: { file: "state.json", field: "phase" },
      initial: "reproduce",
      limits: { attempts: 3 },
      human: { override: false, redo: false },
      diagram: null,
    });
    expect(workflow.phases.map(({ name, who, leaves }) => ({ name, who, leaves }))).toEqual([
      { name: "reproduce", who: { kind: "agent", role: "coder" }, leaves: ["report"] },
      { name: "fix", who: { kind: "agent", role: "coder" }, leaves: ["change"] },
      { name: "verify", who: { kind: "orchestrator" }, leaves: ["tests"] },
      { name: "stuck", who: { kind: "human" }, leaves: [] },
      { name: "done", who: { kind: "nobody" }, leaves: [] },
    ]);
    expect(workflow.artifacts[1]).toEqual({
      name: "change",
      file: "change.json",
      schema: "change.json",
      madeBy: { kind: "orchestrator", action: "count-files" },
      judges: ["report"],
      line: lineOf(FIX_A_BUG, "| change   |"),
    });
    const row = FIX_A_BUG.split("\n").find((line) => line.includes("`merge`")) ?? "";
    expect(workflow.transitions[2]).toEqual({
      from: "verify",
      event: "next",
      by: ["any"],
      when: "tests.overall_pass",
      actions: [{ name: "merge", args: [] }],
      to: "done",
      why: "",
      line: lineOf(FIX_A_BUG, "`merge`"),
      whenColumn: row.indexOf("tests.overall_pass") + 1,
      whyColumn: 1,
    });
  });

  it("means the same with CRLF, and has another hash", () => {
    const crlf = parseWorkflow(FIX_A_BUG.replaceAll("\n", "\r\n"), "bug.md");
    const { hash, ...rest } = parseWorkflow(FIX_A_BUG, "bug.md");
    expect(crlf).toEqual({ ...rest, hash: crlf.hash });
    expect(crlf.hash).not.toBe(hash);
  });

  it("may say where the state lives, and what a human may do", () => {
    const text = changed(FIX_A_BUG, [
      "initial: reproduce\n",
      "initial: reproduce\nstate: { file: TASK.md, field: status }\nhuman: [override]\n",
    ]);
    expect(parseWorkflow(text, "bug.md")).toMatchObject({
      state: { file: "TASK.md", field: "status" },
      human: { override: true, redo: false },
    });
  });

  it("a row for several phases is a row for each; `stay` is the phase itself; a pipe may stand in a condition", () => {
    const text = smallWorkflow({ a: "human", b: "human", end: "" }, [
      {
        from: "a, b",
        to: "stay",
        event: "fail",
        by: "pawl, coder",
        when: "waiting || failures > 1",
        act: "count x, clear y",
      },
      { from: "a", to: "b" },
      { from: "b", to: "end" },
    ]);
    const { transitions } = parseWorkflow(text, "small.md");
    expect(transitions.map(({ from, to }) => `${from} ${to}`)).toEqual(["a a", "b b", "a b", "b end"]);
    expect(transitions[0]).toMatchObject({
      by: ["pawl", "coder"],
      when: "waiting || failures > 1",
      actions: [
        { name: "count", args: ["x"] },
        { name: "clear", args: ["y"] },
      ],
    });
    expect(transitions[0]?.line).toBe(transitions[1]?.line);
  });

  it("tables may have text around them, other headings between, and code that looks like them", () => {
    const text = changed(FIX_A_BUG, [
      "## Transitions\n",
      "## Notes\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Transitions\n\nRows are tried in order.\n\n```\n| From | To |\n```\n\n",
    ]);
    expect(parseWorkflow(text, "bug.md").transitions).toHaveLength(6);
  });
});

/** The example with another file for the artifact `report`. */
const withFile = (file: string): string =>
  changed(FIX_A_BUG, ["| report   | report.json   |", `| report   | ${file} |`]);

describe("an artifact in the place of one of pawl's own records", () => {
  it.each([
    "state.json",
    "./State.JSON",
    "history.jsonl",
    "transcript.jsonl",
    "task.md",
    "TASK.md",
    ".//task.md",
    "fix/runs/1/result.json",
    "Fix/RUNS/x.json",
    "verify/runs",
    "fix",
    "rehearsal/fix/1/report.json",
    "./Rehearsal/x.json",
    ".pawl",
    "report/.hidden.json",
  ])("is refused: %s", (file) => {
    const text = withFile(file);
    const { findings } = readWorkflow(text, "bug.md");
    expect(findings).toMatchObject([
      {
        message: expect.stringContaining("artifact `report` would overwrite") as string,
        line: lineOf(text, "| report   |"),
        found: file,
        hint: expect.stringContaining("a file of its own") as string,
      },
    ]);
    expect(thrownBy(() => parseWorkflow(text, "bug.md")).kind).toBe("invalid");
  });

  it("is refused where the document says that the state lives", () => {
    const text = changed(withFile("./Where.json"), [
      "version: 1",
      "version: 1\nstate: { file: where.json, field: phase }",
    ]);
    expect(readWorkflow(text, "bug.md").findings).toMatchObject([{ found: "./Where.json" }]);
  });

  it.each(["report.json", "reports/runs/report.json", "fix/report.json", "fix/reports/runs.json", "a/state.json"])(
    "is no other file: %s",
    (file) => {
      expect(readWorkflow(withFile(file), "bug.md").findings).toEqual([]);
    },
  );

  it.each(["history.jsonl", "./Transcript.jsonl", "../state.json", "/state.json", "fix/runs/state.json", ""])(
    "nor may the state live there: %j",
    (file) => {
      const text = changed(FIX_A_BUG, ["version: 1", `version: 1\nstate: { file: "${file}", field: phase }`]);
      expect(readWorkflow(text, "bug.md").findings).toMatchObject([
        { message: expect.stringContaining("the state cannot live in") as string, line: lineOf(text, "state:") },
      ]);
    },
  );
});

describe("artifacts in one place", () => {
  /** The artifacts `report` and `tests`: file, section, maker. */
  const sections = (report: [string, string, string], tests: [string, string, string]): string =>
    changed(
      FIX_A_BUG,
      ["| Artifact | File          | Schema        |", "| Artifact | File | Section | Schema |"],
      ["|----------|---------------|---------------|-", "|-|-|-|-|-"],
      [
        "| report   | report.json   | report.json   | agent ",
        `| report | ${report[0]} | ${report[1]} | | ${report[2]} `,
      ],
      ["| change   | change.json   |", "| change   | change.json   | |"],
      [
        "| tests    | tests.json    | tests.json    | `run-tests`",
        `| tests | ${tests[0]} | ${tests[1]} | | ${tests[2]}`,
      ],
    );

  it.each<[string, [string, string, string], [string, string, string]]>([
    ["two in one file", ["a.json", "", "agent"], ["a.json", "", "agent"]],
    ["two in one file, spelt otherwise", ["out/a.json", "", "agent"], ["./Out//A.json", "", "agent"]],
    ["two in one section", ["T.md", "Review", "agent"], ["t.md", "review", "agent"]],
    ["a file, and a section of it", ["T.md", "", "agent"], ["T.md", "Review", "agent"]],
  ])("are refused: %s", (_what, report, tests) => {
    const text = sections(report, tests);
    expect(readWorkflow(text, "bug.md").findings).toMatchObject([
      {
        message: expect.stringContaining("`tests` and `report` are in the same place") as string,
        line: lineOf(text, "| tests |"),
        hint: expect.stringContaining("another file") as string,
      },
    ]);
  });

  it("may be two sections of one file, even of the one with the state, where agents write them", () => {
    const twoSections = sections(["TASK.md", "Handoff", "agent"], ["TASK.md", "Review", "agent"]);
    const text = changed(twoSections, ["version: 1", "version: 1\nstate: { file: TASK.md, field: status }"]);
    expect(readWorkflow(text, "bug.md").findings).toEqual([]);
    const byPawl = changed(text, ["| Review | | agent", "| Review | | `run-tests`"]);
    expect(readWorkflow(byPawl, "bug.md").findings).toMatchObject([{ found: "TASK.md" }]);
  });
});

describe("a document that cannot be run", () => {
  const cases: [string, [string, string], RegExp, string | number][] = [
    ["no name", ["workflow: fix-a-bug\n", ""], /`workflow`: expected a name, found nothing/, 1],
    [
      "a version that is no number",
      ["version: 1", "version: one"],
      /`version`: expected a whole number, found "one"/,
      "version:",
    ],
    ["no initial phase", ["initial: reproduce\n", ""], /`initial`: expected the name of a phase/, 1],
    [
      "an unknown key",
      ["version: 1", "version: 1\nlimit: 3"],
      /`limit`: expected a key of the front matter/,
      "limit: 3",
    ],
    [
      "a limit that is no number",
      ["attempts: 3", "attempts: many"],
      /`limits`: expected a map of names to whole numbers/,
      "limits:",
    ],
    [
      "a power that nobody has",
      ["version: 1", "version: 1\nhuman: [skip]"],
      /`human`: expected a list out of/,
      "human:",
    ],
    ["a state without a field", ["version: 1", "version: 1\nstate: state.json"], /`state`: expected/, "state:"],
    ["YAML that cannot be read", ["limits: { attempts: 3 }", "limits: { attempts: 3"], /front matter: /, "limits:"],
    ["no table of phases", ["## Phases", "## Steps"], /no table under a heading `## Phases`/, 1],
    ["no table of transitions", ["## Transitions", "## Rows"], /no table under a heading `## Transitions`/, 1],
    [
      "a column that is not there",
      ["| From      | Event |", "| From      | Evnt |"],
      /unknown or repeated column "Evnt"/,
      "| Evnt",
    ],
    [
      "a phase twice",
      ["| stuck     | human           |", "| fix     | human           |"],
      /the phase `fix` is listed twice/,
      "| fix     | human",
    ],
    [
      "a phase without a usable name",
      ["| stuck     | human           |", "| st uck     | human           |"],
      /name of a phase is not usable: "st uck"/,
      "st uck",
    ],
    [
      "a worker that nobody knows",
      ["| verify    | orchestrator    |", "| verify    | robot    |"],
      /who works in a phase is not understood: "robot"/,
      "robot",
    ],
    [
      "an agent without a role",
      ["| fix       | agent `coder`   |", "| fix       | agent   |"],
      /who works in a phase is not understood: "agent"/,
      "| fix       | agent   |",
    ],
    [
      "an artifact outside",
      ["| report   | report.json   |", "| report   | ../report.json   |"],
      /artifact `report` has no usable file/,
      "../report.json",
    ],
    [
      "an artifact that nobody makes",
      ["| agent         |", "|          |"],
      /artifact `report` does not say who makes it/,
      "| report   |",
    ],
    [
      "a row without an event",
      ["| fix       | next  |", "| fix       |   |"],
      /nothing under Event/,
      "| fix       |   |",
    ],
    [
      "a row without an end",
      ["| verify |\n| verify    | next  | any   | `tests", "|  |\n| verify    | next  | any   | `tests"],
      /nothing under To/,
      "| fix       | next",
    ],
    [
      "a condition in two pieces",
      ["`change.files > 0`  ", "`change.files` > `0`"],
      /a condition must be one code span/,
      "`change.files` >",
    ],
    [
      "a cell too many",
      ["| stuck     | resume| human |", "| stuck     | resume| human | `a | b` |"],
      /this row has \d+ cells/,
      "| stuck     | resume",
    ],
  ];
  it.each(cases)("%s", (_name, change, message, place) => {
    const text = changed(FIX_A_BUG, change);
    const { findings } = readWorkflow(text, "bug.md");
    expect(findings.map((finding) => finding.message).join("\n")).toMatch(message);
    const finding = findings.find((each) => message.test(each.message));
    expect(finding?.file).toBe("bug.md");
    const expected = typeof place === "number" ? place : text.slice(0, text.indexOf(place)).split("\n").length;
    expect(finding?.line).toBe(expected);
    const error = thrownBy(() => parseWorkflow(text, "bug.md"));
    expect(error.kind).toBe("invalid");
    expect(error.hint).toContain("pawl spec check");
    expect(error.findings).toEqual(findings);
  });

  it.each(["../report.json", "a/../../b.json", "/etc/passwd", "C:\\x.json", "out/", "."])(
    "an artifact outside the task directory, or no file at all: %s",
    (file) => {
      expect(readWorkflow(withFile(file), "bug.md").findings).toMatchObject([
        {
          message: expect.stringContaining("artifact `report` has no usable file") as string,
          line: lineOf(withFile(file), "| report   |"),
          found: file,
          hint: expect.stringContaining("inside the task directory") as string,
        },
      ]);
    },
  );

  it.each(["limits: { attempts: 3", "limits: a: b", "version: 1", "title: *bold*"])(
    "front matter that is no YAML is told how it could be: %s",
    (line) => {
      const { findings } = readWorkflow(changed(FIX_A_BUG, ["limits: { attempts: 3 }", line]), "bug.md");
      expect(findings[0]).toMatchObject({
        message: expect.stringContaining("front matter: ") as string,
        hint: expect.stringMatching(/in quotes/) as string,
      });
    },
  );

  it("says everything that is wrong, not only the first thing", () => {
    const text = changed(FIX_A_BUG, ["version: 1", "version: x"], ["orchestrator", "robot"]);
    expect(readWorkflow(text, "bug.md").findings).toHaveLength(2);
  });

  it.each(["", "# Only a title\n", "---\n---\n", "\0", "| a |\n", "---\nworkflow: *x\n---\n"])(
    "is not a crash: %j",
    (text) => {
      expect(readWorkflow(text, "bug.md").findings.length).toBeGreaterThan(0);
    },
  );
});
