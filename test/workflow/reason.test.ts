/** The reason of a row: what it says when the row is taken, what it says before, and what the check finds in it. */
import { describe, expect, it } from "vitest";
import { decide, waysOut } from "../../src/workflow/decide.js";
import { arrows } from "../../src/workflow/graph-edges.js";
import type { Evidence } from "../../src/workflow/types.js";
import { brief, changed, check, FIX_A_BUG, lineOf, parse } from "../support/workflow-text.js";

/** The example, in which `fix → verify` has a reason. */
const because = (why: string): string =>
  changed(
    FIX_A_BUG,
    ["| Do            | To     |\n", "| Do            | To     | Why |\n"],
    ["|---------------|--------|\n| repr", "|---------------|--------|-----|\n| repr"],
    ["| verify |\n| verify", `| verify | ${why.replaceAll("|", "\\|")} |\n| verify`],
  );

const evidence = (change: Record<string, unknown>): Evidence => ({
  phase: "fix",
  artifacts: {
    change: { name: "change", file: "change.json", condition: "ok", data: change, findings: [], hash: "h" },
  },
  visits: { fix: 2 },
  failures: 0,
  counters: {},
  limits: { attempts: 3 },
  waiting: null,
  state: {},
});

function reasonFor(why: string, change: Record<string, unknown> = {}): string {
  const event = { name: "next", by: { kind: "human" as const, name: "Ada" }, payload: { note: "mine" } };
  const decision = decide(parse(because(why)), evidence({ files: 2, paths: [], ...change }), event);
  return decision.reason;
}

describe("the reason of a row that is taken", () => {
  const paths = [
    { path: "a.ts", size: 1 },
    { path: "b.ts", size: 20 },
  ];

  it.each<[string, string, Record<string, unknown>, string]>([
    ["has its text as it is", "there is a change", {}, "there is a change"],
    ["tells a number", "{change.files} files", {}, "2 files"],
    ["tells a text", "it says: {change.note}", { note: "done" }, "it says: done"],
    ["joins a list", "touched: {change.paths.map(p, p.path)}", { paths }, "touched: a.ts; b.ts"],
    ["is one sentence", "it says: {change.note}", { note: "It is done.\n" }, "it says: It is done"],
    ["tells part of a list", "big: {change.paths.filter(p, p.size > 9).map(p, p.path)}", { paths }, "big: b.ts"],
    ["tells a whole object", "{change.paths[0]}", { paths }, '{"path":"a.ts","size":1}'],
    ["tells several things", "{change.files} of {limits.attempts}, by {event.note}", {}, "2 of 3, by mine"],
    ["may use `|`", "{change.files > 9 || true}", {}, "true"],
    ["tells that a list is empty", "touched: {change.paths}", {}, "touched: (nothing)"],
    ["stays on one line", "{change.note}", { note: "a\n\n\tb\u001b[31mc" }, "a b [31mc"],
    ["does not tell a field that is not there", "it says: {change.note}", {}, "it says: (unknown)"],
    ["does not tell an artifact that is not there", "{tests.overall_pass}", {}, "(unknown)"],
    ["does not tell what is no CEL", "{change.}", {}, "(unknown)"],
    ["does not run a regular expression", '{change.note.matches("a+")}', { note: "a" }, "(unknown)"],
  ])("%s", (_what, why, change, reason) => {
    expect(reasonFor(why, change)).toBe(reason);
  });

  it("is cut where a text is long, and between characters", () => {
    const reason = reasonFor("{change.note}!", { note: "😀".repeat(400) });
    expect(Array.from(reason)).toHaveLength(301);
    expect(reason).toBe(`${"😀".repeat(299)}…!`);
    expect(reasonFor("{change.note}", { note: "x".repeat(300) })).toBe("x".repeat(300));
  });
});

describe("the reason of a row that is not taken yet", () => {
  const workflow = parse(because("the change touches: {change.paths.map(p, p.path)}"));

  it("leaves open what is not known yet", () => {
    expect(waysOut(workflow, evidence({ files: 0, paths: [] })).map(({ why }) => why)).toEqual([
      "the change touches: …",
    ]);
  });

  it("is short in a picture", () => {
    expect(arrows(workflow).find(({ from }) => from === "fix")?.labels).toEqual(["the change touches"]);
    const inner = parse(because("{change.files} files"));
    expect(arrows(inner).find(({ from }) => from === "fix")?.labels).toEqual(["… files"]);
  });
});

describe("the check of a reason", () => {
  it.each([
    "there is a change",
    "{change.files} files",
    "touched: {change.paths.filter(p, p.size > 9).map(p, p.path)}",
    "{event.note}, {visits.fix} of {limits.attempts}",
    "about {report.kind}",
  ])("finds nothing in: %s", (why) => {
    expect(check(because(why))).toEqual([]);
  });

  it.each<[string, string, string, string, string]>([
    ["no CEL", "it says: {change.note +}", "reason-syntax", "}", "mend it"],
    ["an empty slot", "it says: {}", "reason-syntax", "}", "mend it"],
    ["a brace that is not closed", "it says: {change.note", "reason-syntax", "{", "close the brace"],
    ["a brace that is not opened", "it says: change.note}", "reason-syntax", "}", "close the brace"],
    ["a name that is none", "it says: {chnge.note}", "unknown-variable", "chnge", "did you mean change?"],
    ["a field that is none", "a \\| b: {change.nte}", "unknown-field", "nte", "did you mean note?"],
    ["types that do not fit", '{change.files + "x"}', "reason-type", "change.files +", "like with like"],
    ["an artifact that nobody reads there", "{tests.overall_pass}", "unread-artifact", "tests.overall", "mention it"],
  ])("finds %s, where it stands", (_what, why, rule, fragment, hint) => {
    const text = because(why.replaceAll("\\|", "|"));
    const findings = check(text);
    expect(brief(findings)).toEqual([{ rule, severity: "error", line: lineOf(text, "| fix       | next") }]);
    const line = text.split("\n")[(findings[0]?.line ?? 1) - 1] ?? "";
    const reason = line.indexOf("| verify |") + "| verify |".length;
    expect(findings[0]?.column).toBe(line.indexOf(fragment, reason) + 1);
    expect(findings[0]?.hint).toContain(hint);
  });
});
