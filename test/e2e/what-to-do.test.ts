/** Whatever is in the way, the answer says what it is and what to do about it: the same from `next`, `status` and a dry run. */
import { describe, expect, it } from "vitest";
import { makeCli, makeTask, PLAN, refuse, type Cli } from "../support/cli.js";

function suggestion(cli: Cli): ReturnType<ReturnType<Cli["pawl"]>["json"]>["suggestion"] {
  return cli.pawl("status", "--json").json().suggestion;
}

describe("the next action", () => {
  it("in a human's phase whose ground is gone: back to where it was laid", () => {
    const cli = makeCli();
    const task = makeTask(cli, "accept");
    task.remove("eval/eval-report.json");
    expect(suggestion(cli)).toMatchObject({ action: "redo", suggestedNext: "test" });
    const { code, error } = refuse(cli, "next");
    expect(code).toBe(1);
    expect(error.message).toContain("eval/eval-report.json is missing; go back to test");
    expect(error.hint).toBe('pawl redo test --reason "…" t1');
    task.write("planning/plan.json", { ...PLAN, title: "Another" });
    expect(suggestion(cli)).toMatchObject({ action: "redo" });
  });

  it("with a document that changed: the dry run says what next does", () => {
    const cli = makeCli();
    cli.write("system/workflows/global-state-machine.md", cli.pawl("spec", "show", "global-state-machine").stdout);
    makeTask(cli, "plan_review");
    const file = "system/workflows/global-state-machine.md";
    cli.write(file, cli.read(file).replace("plan_rounds: 3", "plan_rounds: 4"));
    const dry = cli.pawl("next", "--dry-run", "--json").json();
    expect(dry).toMatchObject({ action: "mend", command: 'pawl redo plan_review --reason "…" t1' });
    expect(refuse(cli, "next").error.hint).toContain(dry.command);
  });

  it("where no row fits: the condition with its file, field, expected and found", () => {
    const cli = makeCli();
    const task = makeTask(cli);
    const text = cli.pawl("spec", "show", "global-state-machine").stdout;
    cli.write(
      "system/workflows/global-state-machine.md",
      text.replace("`plan.tasks.size() > 0 &&", "`plan.tasks.size() > 5 &&"),
    );
    task.write("planning/plan.json", PLAN);
    const { code, error } = refuse(cli, "next");
    expect(code).toBe(1);
    expect(error.findings[0]).toMatchObject({
      file: "planning/plan.json",
      pointer: "/tasks",
      expected: "plan.tasks.size() > 5",
    });
  });

  it("for a phase that is over: a redo; for one that is not yet open: what comes first", () => {
    const cli = makeCli();
    makeTask(cli, "review");
    const back = refuse(cli, "run", "planning");
    expect(back.code).toBe(1);
    expect(back.error.message).toContain("planning cannot be run now: t1 is in review");
    expect(back.error.hint).toBe('to go back: pawl redo planning --reason "…" t1');
    const forth = refuse(cli, "run", "accept");
    expect(forth.error.hint).toContain('pawl override accept --reason "…" t1');
  });

  it("after an override: what this phase itself lacks, not what was passed over", () => {
    const cli = makeCli();
    makeTask(cli, "plan_review");
    expect(cli.pawl("override", "codegen", "--reason", "the reviewer is down").code).toBe(0);
    expect(refuse(cli, "next").error.message).toMatch(/^codegen stays where it is: code\/changes\.json is missing/);
  });

  it("for an answer where an agent's phase waits: a resume", () => {
    const cli = makeCli();
    const task = makeTask(cli);
    task.write("planning/plan.json", { ...PLAN, questions: [{ text: "Which colour?", blocking: true }] });
    cli.pawl("next");
    const { code, error } = refuse(cli, "answer", "blue", "--note", "blue");
    expect(code).toBe(10);
    expect(error.hint).toBe('pawl resume --note "…" t1');
  });

  it("for a state that names a workflow which is not there: the file and the field", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    task.write("state.json", task.read("state.json").replace('"name": "global-state-machine"', '"name": "nope"'));
    const { code, error } = refuse(cli, "next");
    expect(code).toBe(3);
    expect(error.findings[0]).toMatchObject({ file: "state.json", pointer: "/workflow/name", found: "nope" });
  });

  it("for a role that a human has: a form, exit code 10, and a task that waits for it in a batch", () => {
    const cli = makeCli({ git: false, config: { agents: { default: { use: "human" } } } });
    makeTask(cli);
    expect(suggestion(cli)).toMatchObject({ action: "human", command: "pawl form t1" });
    const { code, error } = refuse(cli, "next");
    expect(code).toBe(10);
    expect(error.message).toContain("planning is done by a human in the role planner");
    expect(cli.pawl("next", "--auto").code).toBe(10);
    const batch = cli.pawl("batch", "tasks", "--json");
    expect(batch.code).toBe(10);
    expect(batch.json().tasks).toMatchObject([{ outcome: "waiting", phase: "planning" }]);
    cli.task().write("planning/plan.json", PLAN);
    expect(cli.pawl("next", "--json").json().to).toBe("plan_review");
  });

  it("for a task that is further than it was to go: nothing", () => {
    const cli = makeCli();
    makeTask(cli, "review");
    const batch = cli.pawl("batch", "tasks", "--until", "plan_review", "--json");
    expect(batch.code).toBe(0);
    expect(batch.json().tasks).toMatchObject([
      { outcome: "arrived", phase: "review", reason: "plan_review is behind it" },
    ]);
  });

  it("for a change that is begun again after it was undone: the change, and no failed attempt", () => {
    const cli = makeCli();
    makeTask(cli, "accept");
    cli.pawl("answer", "accepted", "--note", "fine");
    cli.pawl("redo", "revert", "--reason", "broke it");
    cli.pawl("answer", "revert", "--note", "undo it");
    expect(cli.pawl("redo", "codegen", "--reason", "once more").code).toBe(0);
    const { code, error } = refuse(cli, "next");
    expect(code).toBe(1);
    expect(error.hint).toContain("make the change in the task's worktree");
    cli.task().edit("hello.txt", "hello again\n");
    expect(cli.pawl("next", "--json").json().to).toBe("review");
  });

  it("after a failed run, for a person who takes over: the change in the worktree counts", () => {
    const cli = makeCli();
    makeTask(cli, "codegen");
    cli.config({ test: ["true"], agents: { coder: { command: ["true"] } } });
    expect(cli.pawl("next").code).toBe(4);
    cli.config({ test: ["true"], agents: { coder: { use: "human" } } });
    expect(refuse(cli, "next").code).toBe(10);
    cli.task().edit("hello.txt", "hello\n");
    expect(cli.pawl("next", "--json").json().to).toBe("review");
  });

  it("for a task that is a human's by its own task.md: the same from status and next", () => {
    const cli = makeCli();
    makeTask(cli);
    cli.task().write("task.md", "---\ntitle: Say hello\nagent: human\n---\n");
    expect(suggestion(cli)).toMatchObject({ action: "human", command: "pawl form t1" });
    expect(refuse(cli, "next").code).toBe(10);
  });

  it("in a human's phase that goes on by `next`: its artifact, as a form or a file", () => {
    const cli = makeCli({ git: false, config: {} });
    cli.write(
      "system/schemas/verdict.schema.json",
      '{"type":"object","required":["good"],"properties":{"good":{"type":"boolean"}}}',
    );
    cli.write(
      "system/workflows/approve.md",
      `---
workflow: approve
version: 1
initial: look
---

## Phases

| Phase | Who   | Leaves      | For   |
| ----- | ----- | ----------- | ----- |
| look  | human | \`verdict\` | fine? |
| done  |       |             |       |

## Artifacts

| Artifact    | File                  | Schema                  | Made by | Judges |
| ----------- | --------------------- | ----------------------- | ------- | ------ |
| \`verdict\` | \`look/verdict.json\` | \`verdict.schema.json\` | human   |        |

## Transitions

| From | Event | By  | When             | Do | To   |
| ---- | ----- | --- | ---------------- | -- | ---- |
| look | next  | any | \`verdict.good\` |    | done |
`,
    );
    cli.task().write("task.md", "---\ntitle: Look\nworkflow: approve\n---\n");
    expect(suggestion(cli)).toMatchObject({ action: "human", command: "pawl form t1 (or pawl answer @FILE t1)" });
    cli.write("../verdict.json", '{"good": true}');
    expect(cli.pawl("answer", "@../verdict.json", "--json").json().to).toBe("done");
  });
});
