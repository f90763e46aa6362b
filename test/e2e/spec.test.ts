import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeCli, makeTask, NOT_OK, OK, PACKAGE, PLAN, refuse, type Cli } from "../support/cli.js";

const BUILT_IN = readFileSync(join(PACKAGE, "system/workflows/global-state-machine.md"), "utf8");
const OWN = "system/workflows/global-state-machine.md";

/** A copy of the built-in document in the workspace, with one thing changed. */
function editRow(cli: Cli, from: string | RegExp, to: string): void {
  const text = BUILT_IN.replace(from, to);
  expect(text).not.toBe(BUILT_IN);
  cli.write(OWN, text);
}

interface Checked {
  ok: boolean;
  workflow: string;
  file: string;
  fixed: boolean;
  findings: { rule: string; severity: string; file: string; line: number; message: string; hint: string }[];
}

describe("the document is the program", () => {
  it("a row with another target sends the task elsewhere", () => {
    const cli = makeCli();
    editRow(cli, /(\| plan_review +\| next +\| any +\| `plan_review\.ok.*?\| +\| )codegen( +)\|/, "$1planning$2|");
    const task = makeTask(cli, "plan_review");
    task.write("review/plan-review.json", OK);
    expect(cli.pawl("next", "--dry-run", "--json").json()).toMatchObject({ suggestedNext: "planning" });
    expect(cli.pawl("next", "--json").json()).toMatchObject({ from: "plan_review", to: "planning" });
  });

  it("a row with another condition closes the gate, and the refusal quotes it", () => {
    const cli = makeCli();
    editRow(cli, "`plan.tasks.size() > 0 && !plan", "`plan.tasks.size() > 1 && !plan");
    const task = makeTask(cli);
    task.write("planning/plan.json", {
      title: "t",
      summary: "s",
      tasks: [{ id: "1", title: "one" }],
      files: [],
      acceptance: [],
    });
    const { code, error, text } = refuse(cli, "next");
    expect(code).toBe(1);
    expect(text).toContain("plan.tasks.size() > 1");
    expect(error.hint).toContain("planning");
    expect(cli.pawl("why").stdout).toContain("`plan.tasks.size() > 1` does not hold");
    task.write("planning/plan.json", {
      title: "t",
      summary: "s",
      tasks: [
        { id: "1", title: "one" },
        { id: "2", title: "two" },
      ],
      files: [],
      acceptance: [],
    });
    expect(cli.pawl("next", "--json").json().to).toBe("plan_review");
  });

  it("another limit, another reason, another owner of a phase", () => {
    const cli = makeCli();
    editRow(cli, "plan_rounds: 3", "plan_rounds: 1");
    const task = makeTask(cli, "plan_review");
    task.write("review/plan-review.json", NOT_OK);
    expect(cli.pawl("next", "--json").json()).toMatchObject({
      to: "plan_review",
      waiting: expect.stringContaining("reviewed as often") as string,
    });

    const human = makeCli();
    editRow(human, "| plan_review | agent `plan_reviewer` |", "| plan_review | human                 |");
    makeTask(human, "plan_review");
    expect(refuse(human, "next").code).toBe(10);
  });

  it("the workspace's document wins over the built-in one, and says so", () => {
    const cli = makeCli();
    editRow(cli, "# The global state machine", "# My own machine");
    expect(cli.pawl("spec", "list").stdout).toMatch(
      /global-state-machine +8 +system\/workflows\/global-state-machine\.md +My own machine/,
    );
  });
});

describe("a question that blocks the plan", () => {
  const ASKING = {
    ...PLAN,
    questions: [
      { text: "Which language?", blocking: true },
      { text: "Which colour?", blocking: false },
      { text: "For whom?", blocking: true },
    ],
  };
  const ASKED = "the plan asks: Which language?; For whom?";

  it("is asked wherever the task says that it waits", () => {
    const cli = makeCli();
    const task = makeTask(cli);
    task.write("planning/plan.json", ASKING);
    expect(cli.pawl("next", "--dry-run", "--json").json().reason).toContain(ASKED);
    expect(cli.pawl("next", "--json").json()).toMatchObject({ to: "planning", reason: ASKED, waiting: ASKED });
    expect(task.readJson("state.json")).toMatchObject({ waiting: { reason: ASKED } });
    expect(cli.pawl("history", "--json").json().events.at(-1)).toMatchObject({ reason: ASKED });
    expect(cli.pawl("status").stdout).toContain(ASKED);
  });

  it("closes codegen too, when the plan got it after planning's gate", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    task.write("planning/plan.json", ASKING);
    const reviewer = cli.agent("reviewer", `leave("plan_review", ${JSON.stringify(OK)});`);
    const planner = cli.agent("planner", `leave("plan", ${JSON.stringify(PLAN)});`);
    cli.config({ agents: { plan_reviewer: { command: reviewer }, planner: { command: planner } } });
    expect(cli.pawl("next", "--json").json()).toMatchObject({ from: "plan_review", to: "planning", reason: ASKED });
    expect(cli.pawl("next", "--json").json()).toMatchObject({ from: "planning", to: "plan_review" });
    expect(task.read("planning/runs/2/prompt.md")).toContain(`From plan_review: ${ASKED}.`);
  });

  it("waits for its answer where planning was done as often as the limits allow, and the answer goes there", () => {
    const cli = makeCli();
    editRow(cli, "planning_rounds: 6", "planning_rounds: 1");
    const task = makeTask(cli, "plan_review");
    task.write("planning/plan.json", ASKING);
    cli.config({
      agents: { plan_reviewer: { command: cli.agent("r", `leave("plan_review", ${JSON.stringify(OK)});`) } },
    });
    expect(cli.pawl("next", "--json").json()).toMatchObject({ to: "plan_review", waiting: ASKED });
    expect(cli.pawl("resume", "--note", "English, for all", "--json").json()).toMatchObject({ to: "planning" });
    expect(task.readJson("state.json")).toMatchObject({ phase: "planning", note: "English, for all" });
  });
});

describe("a document whose file is called otherwise than it calls itself", () => {
  const STRICT = "system/workflows/strict.md";
  const line = BUILT_IN.split("\n").findIndex((each) => each.startsWith("workflow:")) + 1;

  it("is refused by everything that would run it, so that nobody runs the built-in one in its place", () => {
    const cli = makeCli();
    cli.write(STRICT, BUILT_IN);
    for (const args of [
      ["new", "X", "--workflow", "strict"],
      ["spec", "graph", "strict"],
    ]) {
      const { code, error } = refuse(cli, ...args);
      expect(code, args.join(" ")).toBe(3);
      expect(error.message).toContain(`${STRICT}:${line}: `);
      expect(error.message).toContain("expected `strict`, as its file is called, found `global-state-machine`");
      expect(error.hint).toContain("workflow: strict");
    }
    expect(cli.pawl("tasks", "--json").json().tasks).toEqual([]);
    // A task that was left there by hand, or whose document was copied after it began.
    cli.task().write("task.md", "---\ntitle: X\nworkflow: strict\n---\n");
    expect(refuse(cli, "next").error.message).toContain("as its file is called");
  });

  it("is found by the check, at the line of its name", () => {
    const cli = makeCli();
    cli.write(STRICT, BUILT_IN);
    const result = cli.pawl("spec", "check", "strict", "--json");
    expect(result.code).toBe(3);
    expect(result.json() as unknown as Checked).toMatchObject({
      ok: false,
      findings: [{ severity: "error", file: STRICT, line, expected: "strict", found: "global-state-machine" }],
    });
    cli.write(STRICT, BUILT_IN.replace("workflow: global-state-machine", "workflow: strict"));
    expect(cli.pawl("spec", "check", "strict").code).toBe(0);
    expect(cli.pawl("new", "X", "--workflow", "strict", "--json").json()).toMatchObject({ workflow: "strict" });
  });

  it("a task cannot begin with a path: its name would lead elsewhere", () => {
    const cli = makeCli();
    const path = join(cli.dir, "elsewhere/global-state-machine.md");
    cli.write("elsewhere/global-state-machine.md", BUILT_IN.replace("plan.tasks.size() > 0", "plan.tasks.size() > 9"));
    expect(cli.pawl("spec", "check", path).code).toBe(0);
    expect(refuse(cli, "new", "X", "--workflow", path).error.message).toContain("there is no workflow");
    expect(cli.pawl("tasks", "--json").json().tasks).toEqual([]);
  });
});

describe("spec on the built-in document", () => {
  it("lists, checks, shows and draws it", () => {
    const cli = makeCli();
    expect(cli.pawl("spec", "list").stdout).toMatch(/global-state-machine +8 +\(built in\) +The global state machine/);
    expect(cli.pawl("spec", "check").code).toBe(0);
    const checked = cli.pawl("spec", "check", "global-state-machine", "--json").json() as unknown as Checked;
    expect(checked).toMatchObject({ ok: true, findings: [], fixed: false });
    expect(cli.pawl("spec", "show", "global-state-machine").stdout).toBe(BUILT_IN);
    const shown = cli.pawl("spec", "show", "global-state-machine", "--json").json() as unknown as {
      phases: { name: string }[];
      transitions: Record<string, unknown>[];
    };
    expect(shown.phases.map(({ name }) => name)).toEqual([
      "planning",
      "plan_review",
      "codegen",
      "review",
      "test",
      "accept",
      "revert",
      "done",
    ]);
    expect(shown.transitions).toContainEqual(
      expect.objectContaining({
        from: "accept",
        event: "answer",
        by: "human",
        when: 'decision.verdict == "accepted"',
        actions: ["merge"],
        to: "done",
      }),
    );
    for (const row of shown.transitions)
      expect(Object.keys(row)).toEqual(expect.arrayContaining(["from", "event", "by", "when", "actions", "to"]));
    const draw = (format: string): string =>
      cli.pawl("spec", "graph", "global-state-machine", "--format", format).stdout;
    expect(draw("mermaid")).toMatch(/^stateDiagram-v2/);
    expect(draw("dot")).toMatch(/^digraph/);
    expect(draw("svg")).toMatch(/^<svg[\s>]/);
    expect(Object.keys(JSON.parse(draw("xstate")) as object)).toEqual(
      expect.arrayContaining(["id", "initial", "states"]),
    );
  });

  it("marks where a task stands", () => {
    const cli = makeCli();
    makeTask(cli, "codegen");
    for (const args of [["--task", "t1"], ["global-state-machine", "--task", "t1"], []]) {
      const graph = cli.pawl("spec", "graph", ...args, "--json").json() as unknown as { current: string; text: string };
      expect(graph.current).toBe("codegen");
      expect(graph.text).toMatch(/class codegen/);
    }
    const plain = cli.pawl("spec", "graph", "global-state-machine").stdout;
    expect(plain).not.toMatch(/class codegen/);
    for (const format of ["dot", "svg"])
      expect(cli.pawl("spec", "graph", "--task", "t1", "--format", format).stdout).not.toBe(
        cli.pawl("spec", "graph", "global-state-machine", "--format", format).stdout,
      );
  });

  it("a workflow that is not there is answered with those that are", () => {
    const cli = makeCli();
    for (const args of [
      ["spec", "check", "global-state-machin"],
      ["spec", "show", "global-state-machin"],
      ["spec", "graph", "global-state-machin"],
      ["new", "X", "--workflow", "global-state-machin"],
    ]) {
      const { code, error } = refuse(cli, ...args);
      expect([2, 3], args.join(" ")).toContain(code);
      expect(error.message).toContain("there are: ");
      expect(error.hint).toContain("did you mean global-state-machine");
    }
  });
});

describe("spec check on a document with a fault", () => {
  const lineOf = (text: string, part: string): number => text.split("\n").findIndex((line) => line.includes(part)) + 1;
  const faults: [string, (text: string) => string, string, RegExp][] = [
    ["an action that does not exist", (text) => text.replace("| `merge`  ", "| `marge`  "), "`marge`", /marge/],
    [
      "a phase that does not exist",
      (text) =>
        text.replace(/(\| test +\| next +\| any +\| `tests\.overall_pass.*?\| +\| )accept( +)\|/, "$1acept $2|"),
      "| acept ",
      /acept/,
    ],
    [
      "a field that no schema has",
      (text) => text.replace("tests.overall_pass && tests.suites", "tests.overall_pas && tests.suites"),
      "overall_pas &&",
      /overall_pas/,
    ],
    [
      "a condition that cannot be read",
      (text) => text.replace("`plan_review.ok && plan", "`plan_review.ok && && plan"),
      "&& &&",
      /./,
    ],
    [
      "a role without a prompt of its own",
      (text) => text.replace("| agent `coder`   ", "| agent `repair`  "),
      "`repair`",
      /expected a role .* found `repair`/,
    ],
    [
      "an event that nothing sends",
      (text) => text.replace("| revert                                       | answer |", "| revert | anwser |"),
      "anwser",
      /expected an event .* found `anwser`/,
    ],
    [
      "a sender that never sends it there",
      (text) =>
        text.replace(
          "| revert                                       | answer | human |",
          "| revert | answer | coder |",
        ),
      "| coder |",
      /in `revert`, `answer` never comes from coder/,
    ],
    [
      "a reason that tells of nothing",
      (text) => text.replace("{change.out_of_scope}", "{change.out_of_scop}"),
      "{change.out_of_scop}",
      /out_of_scop/,
    ],
    [
      "a schema that does not exist",
      (text) => text.replace("`plan.schema.json`  ", "`plam.schema.json`  "),
      "plam.schema",
      /plam\.schema\.json/,
    ],
    [
      "an artifact in the place of a record of pawl's",
      (text) => text.replace("`planning/plan.json`  ", "`./History.jsonl`  "),
      "History.jsonl",
      /would overwrite history\.jsonl/,
    ],
    [
      "a loop without a bound",
      (text) =>
        text.replace(
          "`!plan_review.ok && visits.plan_review < limits.plan_rounds && visits.planning < limits.planning_rounds`",
          "`!plan_review.ok`",
        ),
      "the plan review asks for changes",
      /nothing bounds the loop/,
    ],
    [
      "a limit that does not exist",
      (text) => text.replace("visits.test < limits.test_rounds", "visits.test < limits.tset_rounds"),
      "tset_rounds",
      /tset_rounds/,
    ],
    [
      "a diagram that says something else",
      (text) => text.replace("    test --> accept : passed\n", ""),
      "stateDiagram",
      /test.*accept/,
    ],
  ];
  it.each(faults)("%s: file, line and hint; exit code 3", (_what, spoil, place, message) => {
    const cli = makeCli();
    const text = spoil(BUILT_IN);
    expect(text).not.toBe(BUILT_IN);
    cli.write(OWN, text);
    const result = cli.pawl("spec", "check", "global-state-machine", "--json");
    const { findings, ok } = result.json() as unknown as Checked;
    const finding = findings.find((one) => message.test(one.message));
    expect(finding, JSON.stringify(findings)).toMatchObject({
      file: OWN,
      line: expect.any(Number) as number,
      hint: expect.stringMatching(/\S/) as string,
    });
    const expected = lineOf(text, place);
    expect(
      Math.abs((finding?.line ?? 0) - expected),
      `line ${finding?.line ?? 0}, expected ${expected}`,
    ).toBeLessThanOrEqual(place === "stateDiagram" ? 20 : 0);
    expect(ok).toBe(false);
    expect(result.code).toBe(3);
    const text2 = cli.pawl("spec", "check");
    expect(text2.code).toBe(3);
    expect(text2.stdout).toContain(`${OWN}:${finding?.line ?? 0}`);
    expect(text2.stdout).toContain("hint:");
  });

  it("tables that cannot be read", () => {
    const cli = makeCli();
    for (const text of [
      "",
      "# Nothing\n",
      "---\nworkflow: [\n---\n",
      BUILT_IN.replace("## Transitions", "## Transits"),
    ]) {
      cli.write("system/workflows/mine.md", text);
      const result = cli.pawl("spec", "check", "mine");
      expect(result.code, text.slice(0, 30)).toBe(3);
      expect(result.stdout).toMatch(/system\/workflows\/mine\.md:\d+/);
      expect(cli.pawl("spec", "list").code).toBe(0);
      expect(refuse(cli, "new", "X", "--workflow", "mine").code).toBe(3);
    }
  });

  it("--fix rewrites the diagram and nothing else", () => {
    const cli = makeCli();
    cli.write(OWN, BUILT_IN.replace("    test --> accept : passed\n", ""));
    expect(cli.pawl("spec", "check", "global-state-machine").code).toBe(3);
    const fixed = cli.pawl("spec", "check", "global-state-machine", "--fix", "--json");
    expect(fixed.json() as unknown as Checked).toMatchObject({ ok: true, fixed: true, findings: [] });
    expect(cli.pawl("spec", "check", "global-state-machine").code).toBe(0);
    const before = BUILT_IN.slice(0, BUILT_IN.indexOf("```mermaid"));
    expect(cli.read(OWN).startsWith(before)).toBe(true);
    expect(cli.read(OWN)).toMatch(/test --> accept/);
    expect(cli.pawl("spec", "check", "global-state-machine", "--fix", "--json").json()).toMatchObject({ fixed: false });
  });
});
