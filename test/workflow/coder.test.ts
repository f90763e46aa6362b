/** The coder held against the table that it has to be: cell by cell. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseWorkflow } from "../../src/workflow/parse-workflow.js";
import { PACKAGE } from "../support/workspace.js";

const workflow = parseWorkflow(readFileSync(join(PACKAGE, "system", "workflows", "coder.md"), "utf8"), "coder.md");

/** ✔ allowed, – invalid; rows are From, columns To. */
const TABLE = `
| From \\ To  | WAITING | SETUP | PLAN_REVIEW | PLANNING | CODING | TESTING | FIXING | CODE_REVIEW | AWAIT_MERGE | QUESTION | DONE | ERROR |
| WAITING     | –       | ✔     | –           | –        | –      | –       | –      | –           | –           | –        | –    | –     |
| SETUP       | –       | –     | –           | ✔        | –      | –       | –      | –           | –           | –        | –    | ✔     |
| PLANNING    | –       | –     | ✔           | –        | –      | –       | –      | –           | –           | ✔        | –    | –     |
| PLAN_REVIEW | –       | –     | –           | ✔        | ✔      | –       | –      | –           | –           | –        | –    | ✔     |
| CODING      | –       | –     | –           | –        | –      | ✔       | –      | –           | –           | ✔        | –    | ✔     |
| TESTING     | –       | –     | –           | –        | –      | –       | ✔      | ✔           | –           | –        | –    | –     |
| FIXING      | –       | –     | –           | –        | –      | ✔       | –      | –           | –           | ✔        | –    | ✔     |
| CODE_REVIEW | –       | –     | –           | –        | –      | –       | ✔      | –           | ✔           | –        | –    | ✔     |
| AWAIT_MERGE | –       | –     | –           | –        | –      | –       | ✔      | –           | –           | –        | ✔    | –     |
| QUESTION    | –       | –     | ✔           | ✔        | ✔      | –       | ✔      | ✔           | –           | –        | –    | ✔     |
| DONE        | –       | –     | –           | –        | –      | –       | –      | –           | –           | –        | –    | –     |
| ERROR       | –       | –     | –           | –        | –      | –       | –      | –           | –           | –        | –    | –     |
`;

const rows = TABLE.trim()
  .split("\n")
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const [[, ...columns] = [], ...body] = rows;
const cells = body.flatMap(([from = "", ...marks]) =>
  marks.map((mark, index): [string, string, boolean] => [from, columns[index] ?? "", mark === "✔"]),
);

describe("the table of the document", () => {
  it("has these twelve states and no other", () => {
    expect(workflow.phases.map(({ name }) => name).sort()).toEqual([...columns].sort());
    expect(cells).toHaveLength(144);
    expect(cells.filter(([, , allowed]) => allowed)).toHaveLength(27);
  });

  it.each(cells)("from %s to %s: allowed is %s", (from, to, allowed) => {
    // A row that stays where it is counts a failure, or waits: it is no transition.
    const leads = workflow.transitions.some((row) => row.from === from && row.to === to && from !== to);
    expect(leads).toBe(allowed);
  });

  it("gives exactly four answers where a budget is used up, and a free one otherwise", () => {
    const answers = workflow.transitions.filter(({ from, event }) => from === "QUESTION" && event === "answer");
    const choices = (kind: string): string[] => [
      ...new Set(
        answers
          .filter(({ when }) => when.includes(`state.question.kind == "${kind}"`))
          .map(({ when }) => /event\.choice == "(\w+)"/.exec(when)?.[1] ?? ""),
      ),
    ];
    expect(choices("budget")).toEqual(["CONTINUE", "PIVOT", "ESCALATE", "ABANDON"]);
    expect(choices("clarification")).toEqual(["reply", "resubmit"]);
    expect(answers.every(({ by }) => by.join() === "human")).toBe(true);
  });
});
