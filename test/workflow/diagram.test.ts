import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { renderDiagram, replaceDiagram } from "../../src/workflow/diagram.js";
import { readWorkflow } from "../../src/workflow/parse-workflow.js";
import { brief, changed, check, FIX_A_BUG, lineOf, parse, smallWorkflow } from "../support/workflow-text.js";

const DIAGRAM = `
## Diagram

\`\`\`mermaid
stateDiagram-v2
    [*] --> reproduce
    reproduce --> fix : shown
    fix --> verify : changed
    verify --> done : passed
    verify --> fix : failed
    verify --> stuck : too often
    stuck --> fix : resume
    done --> [*]
\`\`\`
`;
const DRAWN = FIX_A_BUG + DIAGRAM;

describe("the check of the diagram", () => {
  it("asks for none", () => {
    expect(check(FIX_A_BUG)).toEqual([]);
  });

  it("finds nothing where diagram and table agree, whether a staying row is drawn or not", () => {
    expect(check(DRAWN)).toEqual([]);
    const staying = changed(DRAWN, [
      "| stuck     | resume|",
      "| stuck | wait | human | | | stay |\n| stuck     | resume|",
    ]);
    expect(check(staying)).toEqual([]);
    expect(check(changed(staying, ["    done --> [*]", "    stuck --> stuck\n    done --> [*]"]))).toEqual([]);
  });

  it.each<[string, [string, string], string, string]>([
    [
      "an edge that the table lacks",
      ["    done --> [*]", "    fix --> done : no\n    done --> [*]"],
      "fix --> done",
      "fix --> done, which the table lacks",
    ],
    [
      "an edge that it lacks itself",
      ["    verify --> stuck : too often\n", ""],
      "```mermaid",
      "lacks verify --> stuck",
    ],
    ["another start", ["[*] --> reproduce", "[*] --> fix"], "[*] --> fix", "[*] --> fix, which the table lacks"],
    ["a missing start", ["    [*] --> reproduce\n", ""], "```mermaid", "lacks [*] --> reproduce"],
    ["a missing end", ["    done --> [*]\n", ""], "```mermaid", "lacks done --> [*]"],
    [
      "an end that is none",
      ["    done --> [*]", "    stuck --> [*]\n    done --> [*]"],
      "stuck --> [*]",
      "stuck --> [*], which the table lacks",
    ],
    ["a name that is no phase", ["verify --> stuck", "verify --> stack"], "stack", "`stack`, which is no phase"],
    [
      "a staying row that is none",
      ["    done --> [*]", "    fix --> fix\n    done --> [*]"],
      "fix --> fix",
      "fix --> fix, which the table lacks",
    ],
  ])("finds %s", (_what, change, fragment, message) => {
    const text = changed(DRAWN, change);
    const found = check(text);
    expect(found.map((finding) => finding.message)).toContainEqual(expect.stringContaining(message));
    expect(brief(found)).toContainEqual({ rule: "diagram", severity: "error", line: lineOf(text, fragment) });
    expect(found.every(({ hint }) => hint?.includes("pawl spec check --fix") || hint?.includes("did you mean"))).toBe(
      true,
    );
  });
});

describe("the diagram made from the table", () => {
  it("has the start, every way and the end, with short reasons", () => {
    const text = smallWorkflow({ work: "agent `w`", done: "" }, [
      { from: "work", to: "done", why: "finished: everything that was wanted is there" },
    ]);
    expect(renderDiagram(parse(text))).toBe(
      ["stateDiagram-v2", "    [*] --> work", "    work --> done : finished", "    done --> [*]"].join("\n"),
    );
  });

  it("leaves a diagram that agrees as it is", () => {
    expect(replaceDiagram(DRAWN, parse(DRAWN))).toBe(DRAWN);
    const file = join(import.meta.dirname, "../../system/workflows/global-state-machine.md");
    const text = readFileSync(file, "utf8");
    expect(replaceDiagram(text, readWorkflow(text, file).workflow)).toBe(text);
  });

  it("mends one that does not, keeping the labels, the order and what people added", () => {
    const before = changed(
      DRAWN,
      ["stateDiagram-v2\n", "stateDiagram-v2\n    direction LR\n    %% the way of a bug\n"],
      ["    verify --> stuck : too often\n", "    fix --> done : never\n"],
      ["    done --> [*]\n", "    classDef x fill:#fff\n"],
    );
    const after = replaceDiagram(before, parse(before));
    expect(after).toBe(
      changed(
        DRAWN,
        ["stateDiagram-v2\n", "stateDiagram-v2\n    direction LR\n    %% the way of a bug\n"],
        ["    verify --> stuck : too often\n", "    verify --> stuck : next\n"],
        ["    done --> [*]\n", "    done --> [*]\n    classDef x fill:#fff\n"],
      ),
    );
    expect(check(after)).toEqual([]);
    expect(replaceDiagram(after, parse(after))).toBe(after);
  });

  it("drops a line that nobody understands", () => {
    const before = changed(DRAWN, ["    done --> [*]", "    what is this\n    done --> [*]"]);
    const { workflow, findings } = readWorkflow(before, "bug.md");
    expect(findings).toHaveLength(1);
    expect(replaceDiagram(before, workflow)).toBe(DRAWN);
  });

  it.each([
    ["at the end of the text", FIX_A_BUG],
    ["at the end of a text without a last line break", FIX_A_BUG.trimEnd()],
    ["below an empty heading", `${FIX_A_BUG}\n## Diagram\n`],
    ["below an empty heading that is not the last", `${FIX_A_BUG}\n## Diagram\n\n## Notes\n\nNone.\n`],
    ["in a text with other line breaks", FIX_A_BUG.replaceAll("\n", "\r\n")],
  ])("is added %s", (_where, text) => {
    const { workflow } = readWorkflow(text, "bug.md");
    const after = replaceDiagram(text, workflow);
    const again = parse(after);
    expect(again.diagram?.edges).toHaveLength(8);
    expect(check(after)).toEqual([]);
    expect(replaceDiagram(after, again)).toBe(after);
    for (const line of text.trimEnd().split("\n")) expect(after).toContain(line);
    if (text.includes("\r\n")) expect(after.replaceAll("\r\n", "")).not.toContain("\n");
  });

  it("gives phases with a hyphen an alias, since Mermaid cannot draw them", () => {
    const text = smallWorkflow({ work: "agent `w`", "agent-review": "agent `w`", done: "" }, [
      { from: "work", to: "agent-review", why: "handed over" },
      { from: "agent-review", to: "done", why: "passed" },
    ]);
    const after = replaceDiagram(text, parse(text));
    expect(after).toContain('    state "agent-review" as agent_review\n');
    expect(after).toContain("    work --> agent_review : handed over\n");
    expect(parse(after).diagram?.edges.map(({ to }) => to)).toEqual(["work", "agent-review", "done", "[*]"]);
    expect(check(after)).toEqual([]);
    expect(replaceDiagram(after, parse(after))).toBe(after);

    const raw = after
      .replace('    state "agent-review" as agent_review\n', "")
      .replaceAll("agent_review", "agent-review");
    expect(check(raw)[0]).toMatchObject({ rule: "diagram", line: lineOf(raw, "work --> agent-review") });
  });
});
