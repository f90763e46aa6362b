/** Small workflow documents for tests, and the world that they are checked in. */
import { checkWorkflow, type CheckFinding, type Known } from "../../src/workflow/check.js";
import { readWorkflow } from "../../src/workflow/parse-workflow.js";
import type { Workflow } from "../../src/workflow/types.js";

/** The example of the design, with the artifacts that it mentions. */
export const DESIGN_EXAMPLE = `---
workflow: fix-a-bug
version: 1
initial: reproduce
limits: { attempts: 3 }
---
# Fix a bug

## Phases
| Phase     | Who             | Leaves   | For                                |
|-----------|-----------------|----------|------------------------------------|
| reproduce | agent \`coder\`   | \`report\` | a failing test that shows the bug  |
| fix       | agent \`coder\`   | \`change\` | the smallest change that mends it  |
| verify    | orchestrator    | \`tests\`  | the project's own commands         |
| stuck     | human           |          | somebody has to look               |
| done      |                 |          |                                    |

## Artifacts
| Artifact | File          | Schema        | Made by       | Judges   |
|----------|---------------|---------------|---------------|----------|
| report   | report.json   | report.json   | agent         |          |
| change   | change.json   | change.json   | \`count-files\` | report   |
| tests    | tests.json    | tests.json    | \`run-tests\`   | change   |

## Transitions
| From      | Event | By    | When                              | Do            | To     |
|-----------|-------|-------|-----------------------------------|---------------|--------|
| reproduce | next  | any   | \`report.failing\`                  |               | fix    |
| fix       | next  | any   | \`change.files > 0\`                |               | verify |
| verify    | next  | any   | \`tests.overall_pass\`              | \`merge\`       | done   |
| verify    | next  | any   | \`visits.fix < limits.attempts\`    |               | fix    |
| verify    | next  | any   |                                   | \`ask-human\`   | stuck  |
| stuck     | resume| human |                                   |               | fix    |
`;

/** The same, with the one row that only its place tells from the row before it made explicit: no finding at all. */
export const FIX_A_BUG = changed(DESIGN_EXAMPLE, [
  "`visits.fix < limits.attempts`    ",
  "`!tests.overall_pass && visits.fix < limits.attempts`",
]);

const object = (properties: Record<string, unknown>, required = Object.keys(properties)): Record<string, unknown> => ({
  type: "object",
  properties,
  required,
});

export const KNOWN: Known = {
  actions: [
    ...["merge", "ask-human", "wait-for-human", "count", "clear", "reset-rounds"].map((name) => ({
      name,
      kind: "action" as const,
    })),
    { name: "write-record", kind: "action", leaves: ["record"] },
    ...["count-files", "run-tests"].map((name) => ({ name, kind: "maker" as const })),
  ],
  schemas: {
    "report.json": object({ failing: { type: "boolean" }, kind: { enum: ["crash", "wrong", "slow"] } }),
    "change.json": object(
      {
        files: { type: "integer" },
        score: { type: "number" },
        paths: { type: "array", items: object({ path: { type: "string" }, size: { $ref: "#/$defs/size" } }) },
        note: { type: "string" },
        anything: { type: ["string", "null"] },
      },
      ["files", "paths"],
    ),
    "tests.json": object({ overall_pass: { type: "boolean" } }),
  },
  roles: ["coder", "planner", "w"],
  events: [
    { name: "next", by: ["human", "agent"] },
    { name: "answer", by: ["human"] },
    { name: "resume", by: ["human"] },
    { name: "fail", by: ["pawl"] },
    // Of nobody in particular, for documents that only need a second event.
    ...["go", "back", "other", "try", "wait", "get_task"].map((name) => ({
      name,
      by: ["human" as const, "agent" as const, "pawl" as const],
    })),
  ],
};
(KNOWN.schemas["change.json"] as Record<string, unknown>)["$defs"] = { size: { type: "integer" } };

export function parse(text: string): Workflow {
  const { workflow, findings } = readWorkflow(text, "bug.md");
  if (findings.length > 0) throw new Error(`the test's document cannot be parsed: ${JSON.stringify(findings)}`);
  return workflow;
}

export function check(text: string, known: Known = KNOWN): CheckFinding[] {
  return checkWorkflow(parse(text), known);
}

/** The findings in short: what a table of expectations can hold. */
export function brief(findings: CheckFinding[]): { rule: string; severity: string; line: number }[] {
  return findings.map(({ rule, severity, line }) => ({ rule, severity, line }));
}

/** Replaces a piece of the text that must be there. */
export function changed(text: string, ...changes: [old: string, fresh: string][]): string {
  return changes.reduce((current, [old, fresh]) => {
    if (!current.includes(old)) throw new Error(`the test's document has no ${JSON.stringify(old)}`);
    return current.replace(old, () => fresh);
  }, text);
}

/** The number of the first line with the fragment. */
export function lineOf(text: string, fragment: string): number {
  const index = text.split("\n").findIndex((line) => line.includes(fragment));
  if (index === -1) throw new Error(`the test's document has no line with ${JSON.stringify(fragment)}`);
  return index + 1;
}

export interface Row {
  from: string;
  to: string;
  event?: string;
  by?: string;
  when?: string;
  act?: string;
  why?: string;
}

/** A document with only phases (name: who) and rows; its conditions use `event` and what pawl keeps. */
export function smallWorkflow(phases: Record<string, string>, rows: Row[], front = "", after = ""): string {
  const first = Object.keys(phases)[0] ?? "";
  return [
    `---\nworkflow: small\nversion: 1\ninitial: ${first}\n${front}---\n# Small\n\n## Phases\n`,
    "| Phase | Who | Leaves | For |\n| --- | --- | --- | --- |\n",
    ...Object.entries(phases).map(([name, who]) => `| ${name} | ${who} | | |\n`),
    "\n## Transitions\n\n| From | Event | By | When | Do | To | Why |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    ...rows.map(
      ({ from, to, event = "next", by = "any", when = "", act = "", why = "" }) =>
        `| ${from} | ${event} | ${by} | ${when === "" ? "" : `\`${when.replaceAll("|", "\\|")}\``} | ${act} | ${to} | ${why} |\n`,
    ),
    after,
  ].join("");
}
