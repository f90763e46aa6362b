import { describe, expect, it } from "vitest";
import { brief, changed, check, FIX_A_BUG, lineOf, parse, smallWorkflow } from "../support/workflow-text.js";

/** The example with another condition in the row fix → verify. */
function withCondition(condition: string): string {
  return changed(FIX_A_BUG, ["`change.files > 0`", `\`${condition.replaceAll("|", "\\|")}\``]);
}

/** The column in the document at which a fragment of the condition stands. */
function columnOf(text: string, fragment: string): number {
  const line = text.split("\n")[lineOf(text, "| fix       | next") - 1] ?? "";
  return line.indexOf(fragment) + 1;
}

describe("a condition that is not sound", () => {
  it.each<[string, string, string, string, string]>([
    ["is no CEL", "change.files >", "condition-syntax", "` ", "mend it"],
    ["has an open string", 'change.note == "x', "condition-syntax", '"x', "mend it"],
    ["runs regular expressions", 'change.note.matches("a+")', "condition-syntax", "change.note.m", "mend it"],
    ["names an unknown artifact", "chnge.files > 0", "unknown-variable", "chnge", "did you mean change?"],
    ["names an unknown field", "change.fils > 0", "unknown-field", "fils", "did you mean files?"],
    [
      "names an unknown field of a list's element",
      "change.paths.exists(p, p.pth == '')",
      "unknown-field",
      "pth",
      "did you mean path?",
    ],
    [
      "asks for an unknown field with has",
      "has(change.nte) && change.files > 0",
      "unknown-field",
      "has(",
      "did you mean note?",
    ],
    ["names an unknown phase", "change.files > 0 && visits.fixx < 3", "unknown-field", "fixx", "did you mean fix?"],
    [
      "names an unknown limit",
      "change.files > 0 && visits.fix < limits.atempts",
      "unknown-field",
      "atempts",
      "did you mean attempts?",
    ],
    [
      "names a counter that nothing counts",
      "change.files > 0 && counters.crashes < 2",
      "unknown-field",
      "crashes",
      "count crashes",
    ],
    [
      "compares a number with text",
      'change.files == "3"',
      "condition-type",
      "change.files ==",
      "compare like with like",
    ],
    ["calls an unknown function", "foo(change.files)", "unknown-function", "foo(", "use one of: size, contains"],
    [
      "calls a function that is nearly one",
      'change.note.startWith("a")',
      "unknown-function",
      "change.note.startWith",
      "did you mean startsWith?",
    ],
    [
      "calls a function with what it does not take",
      "size(change.files) > 0",
      "condition-type",
      "size(",
      "size(string)",
    ],
    [
      "names a field of what has none",
      'change.note.foo == ""',
      "unknown-field",
      "foo",
      "`change.note` is string, which has no fields",
    ],
    ["is no bool", "change.files", "condition-type", "change.files", "compare it"],
    [
      "stands after an escaped ||",
      "change.files > 0 || change.fils > 1",
      "unknown-field",
      "fils",
      "did you mean files?",
    ],
    [
      "names a value that cannot be",
      'change.files > 0 && report.kind == "crush"',
      "unknown-value",
      '"crush"',
      "did you mean crash?",
    ],
    [
      "names a value in a list that cannot be",
      'change.files > 0 && report.kind in ["slow", "wrog"]',
      "unknown-value",
      '"wrog"',
      "did you mean wrong?",
    ],
  ])("is found when it %s", (_what, condition, rule, fragment, hint) => {
    const text = withCondition(condition);
    const found = check(text).filter((finding) => finding.rule === rule);
    expect(found).toMatchObject([
      { severity: "error", line: lineOf(text, "| fix       | next"), column: columnOf(text, fragment) },
    ]);
    expect(found[0]?.hint).toContain(hint);
  });

  it("names a limit where there are none, and is told where they are declared", () => {
    const text = smallWorkflow({ a: "agent `w`", done: "" }, [{ from: "a", to: "done", when: "visits.a < limits.n" }]);
    expect(check(text)).toMatchObject([
      { rule: "unknown-field", hint: "declare it in the front matter: `limits: { n: 3 }`" },
    ]);
  });

  it("is found in each of its parts", () => {
    const text = withCondition("change.fils > 0 && (chnge.x || true) && visits.fix < 3");
    expect(check(text).filter(({ column }) => column !== undefined)).toMatchObject([
      { rule: "unknown-field", column: columnOf(text, "fils") },
      { rule: "unknown-variable", column: columnOf(text, "chnge") },
    ]);
  });

  it("is found once, though its row stands for several phases", () => {
    const text = changed(FIX_A_BUG, [
      "| stuck     | resume| human |        ",
      "| stuck, verify | resume| human | `waitin` ",
    ]);
    expect(brief(check(text))).toEqual([{ rule: "unknown-variable", severity: "error", line: lineOf(text, "waitin") }]);
  });
});

describe("a condition on text", () => {
  /** One artifact, `memo`, in the file and section given. */
  const onText = (file: string, section: string, condition: string): string =>
    changed(smallWorkflow({ work: "agent `w`", done: "" }, [{ from: "work", to: "done", when: condition }]), [
      "## Transitions",
      `## Artifacts\n\n| Artifact | File | Section | Schema | Made by | Judges |\n|-|-|-|-|-|-|\n| memo | ${file} | ${section} | | agent | |\n\n## Transitions`,
    ]).replace("| work | agent `w` | |", "| work | agent `w` | memo |");

  describe.each([
    ["a section", "TASK.md", "Memo"],
    ["a file that is no JSON", "memo.md", ""],
  ])("of %s", (_what, file, section) => {
    it.each([
      ["memo.foo", "unknown-field", "did you mean|use one of: text"],
      ["memo.text.foo", "unknown-field", "use it as it is"],
      ["memo == 3", "condition-type", "compare like with like"],
      ["memo.text == 3", "condition-type", "compare like with like"],
      ["memo", "condition-type", "such as `memo.text`"],
      ["memo.text", "condition-type", '== "…"'],
    ])("is an error: %s", (condition, rule, hint) => {
      const findings = check(onText(file, section, condition));
      expect(findings).toMatchObject([{ rule, severity: "error" }]);
      expect(findings[0]?.hint).toMatch(new RegExp(hint.replace(/[.`…]/g, "\\$&")));
      // Types of schemas have no names that a person knows.
      expect(findings[0]?.message).not.toMatch(/_\d/);
    });

    it.each(['memo.text.contains("PASS")', "memo.text.size() > 3"])("is sound: %s", (condition) => {
      expect(check(onText(file, section, condition))).toEqual([]);
    });
  });
});

describe("a condition that is sound", () => {
  it.each([
    "change.files > 0 && change.paths.size() > 0 && change.paths[0].size > 1",
    "change.files > 0 && change.score < 1.5",
    "change.files > 0 && change.anything == null",
    'change.files > 0 && report.kind in ["slow", "wrong"]',
    "change.files > 0 && has(change.note)",
    "change.files > 0 && failures < limits.attempts && !waiting",
    'change.files > 0 && event.choice == "go" && state.origin.phase == "x"',
    'change.files > 0 && visits["fix"] < 3',
  ])("gives no finding: %s", (condition) => {
    expect(check(withCondition(condition))).toEqual([]);
  });

  it("may use a counter that some row counts", () => {
    const text = changed(
      FIX_A_BUG,
      ["`ask-human`", "`count crashes`"],
      ["`change.files > 0`", "`change.files > 0 && counters.crashes < 3`"],
    );
    expect(check(text)).toEqual([]);
  });

  it("may use anything of an artifact without a schema", () => {
    const text = changed(withCondition("change.whatever[0].x"), [
      "| change.json   | change.json   |",
      "| change.json   |               |",
    ]);
    expect(check(text)).toEqual([]);
  });
});

describe("a phase with a hyphen", () => {
  it("must be quoted, and the hint says how", () => {
    const named = (condition: string): string =>
      changed(
        withCondition(condition),
        ["| stuck     | human", "| agent-stuck | human"],
        ["| stuck  |", "| agent-stuck |"],
        ["| stuck     | resume", "| agent-stuck | resume"],
      );
    const bad = check(named("change.files > 0 && visits.agent-stuck < 3"));
    expect(bad.find(({ rule }) => rule === "unknown-field")?.hint).toBe('write visits["agent-stuck"]');
    expect(check(named('change.files > 0 && visits["agent-stuck"] < 3'))).toEqual([]);
    expect(parse(named("true")).phases.map(({ name }) => name)).toContain("agent-stuck");
  });
});
