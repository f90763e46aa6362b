import { mkdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { listing, makeCli, makeTask, OK, PLAN, rehearse, type Cli, type Printed } from "../support/cli.js";

/** Exactly one JSON object, and not a byte on the disk is another afterwards: workspace, `.pawl`, `.git` and home included. */
function dryRun(cli: Cli, ...args: string[]): Printed {
  const before = listing(cli.root);
  const result = cli.pawl("next", ...args, "--dry-run", "--json");
  expect(listing(cli.root)).toEqual(before);
  expect(result.code, result.stdout).toBe(0);
  expect(result.stderr).toBe("");
  const suggestion = result.json();
  for (const field of ["currentPhase", "suggestedNext", "reason"] as const)
    expect(suggestion[field], field).toMatch(/\S/);
  const text = cli.pawl("next", ...args, "--dry-run");
  expect(text.stdout).toContain(suggestion.reason);
  for (const command of ["suggest", "why"]) expect(cli.pawl(command, ...args, "--json").json()).toEqual(suggestion);
  expect(cli.pawl("status", ...args, "--json").json().suggestion).toEqual(suggestion);
  expect(listing(cli.root)).toEqual(before);
  return suggestion;
}

describe("next --dry-run --json", () => {
  it("tells what comes next in every phase, and changes nothing", () => {
    const cli = makeCli();
    const task = makeTask(cli);
    const told: [string, string, string][] = [];
    const tell = (): void => {
      const { currentPhase, suggestedNext, action } = dryRun(cli, "t1");
      told.push([currentPhase, suggestedNext, action]);
    };
    tell();
    task.write("planning/plan.json", PLAN);
    tell();
    cli.pawl("next");
    tell();
    task.write("review/plan-review.json", OK);
    tell();
    cli.pawl("next");
    tell();
    rehearse(cli, "t1", 1);
    tell();
    task.write("review/code-review.json", OK);
    tell();
    cli.pawl("next");
    tell();
    cli.pawl("next");
    tell();
    cli.pawl("answer", "rejected", "--to", "revert", "--note", "no");
    tell();
    cli.pawl("answer", "revert", "--note", "no");
    tell();
    expect(told).toEqual([
      ["planning", "planning", "work"],
      ["planning", "plan_review", "advance"],
      ["plan_review", "plan_review", "work"],
      ["plan_review", "codegen", "advance"],
      ["codegen", "codegen", "work"],
      ["review", "review", "work"],
      ["review", "test", "advance"],
      ["test", "test", "work"],
      ["accept", "accept", "human"],
      ["revert", "revert", "human"],
      ["done", "done", "none"],
    ]);
  });

  it("is what next then does", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    task.write("review/plan-review.json", { ...OK, ok: false, decision: "needs_changes" });
    const told = dryRun(cli);
    const done = cli.pawl("next", "--json").json();
    expect([told.currentPhase, told.suggestedNext]).toEqual([done.from, done.to]);
    expect(told.reason).toContain(done.reason);
  });

  it("works on a directory with nothing in it, and on a state file that somebody wrote", () => {
    const cli = makeCli();
    mkdirSync(cli.task("bare").dir, { recursive: true });
    expect(dryRun(cli, "bare")).toMatchObject({ currentPhase: "planning", suggestedNext: "planning", action: "work" });
    const imported = cli.task("imported");
    imported.write("state.json", '{"phase":"planning"}');
    expect(dryRun(cli, "imported")).toMatchObject({ currentPhase: "planning", action: "work" });
    imported.write("planning/plan.json", PLAN);
    expect(dryRun(cli, "imported")).toMatchObject({ currentPhase: "planning", suggestedNext: "plan_review" });
    imported.write("state.json", { phase: "plan_review", actors: { plan_review: { status: "completed" } } });
    imported.write("review/plan-review.json", OK);
    expect(dryRun(cli, "imported")).toMatchObject({ currentPhase: "plan_review", suggestedNext: "codegen" });
    imported.write("review/plan-review.json", { ...OK, ok: false, decision: "needs_changes", blocking_issues: ["x"] });
    expect(dryRun(cli, "imported")).toMatchObject({ currentPhase: "plan_review", suggestedNext: "planning" });
    imported.write("state.json", '{"phase":"done"}');
    expect(dryRun(cli, "imported")).toMatchObject({ currentPhase: "done", suggestedNext: "done", action: "none" });
    imported.write("state.json", '{"phase":"accept"}');
    expect(dryRun(cli, "imported")).toMatchObject({
      currentPhase: "accept",
      action: "redo",
      suggestedNext: "codegen",
    });
  });

  it("an imported state is taken over as it is, and put on record with the first step", () => {
    const cli = makeCli();
    const task = cli.task("imported");
    const original = '{"phase":"plan_review","ticket":"ABC-1"}';
    task.write("state.json", original);
    task.write("planning/plan.json", PLAN);
    task.write("review/plan-review.json", OK);
    expect(cli.pawl("status", "--json").json()).toMatchObject({ phase: "plan_review", origin: "imported" });
    expect(cli.pawl("next", "--json").json()).toMatchObject({ from: "plan_review", to: "codegen" });
    const [first] = cli.pawl("history", "--json").json().events;
    expect(first).toMatchObject({ type: "task.imported", to: "plan_review", data: { original } });
    expect(task.readJson("state.json")).toMatchObject({ phase: "codegen", ticket: "ABC-1" });
    expect(cli.pawl("verify").code).toBe(0);
  });

  it("an invalid artifact is told, with what to do; the command itself succeeds", () => {
    const cli = makeCli();
    const task = makeTask(cli);
    task.write("planning/plan.json", { tasks: "text" });
    const suggestion = dryRun(cli);
    expect(suggestion).toMatchObject({
      currentPhase: "planning",
      suggestedNext: "planning",
      action: "mend",
      command: "pawl run planning t1",
    });
    expect(suggestion.findings).toContainEqual(
      expect.objectContaining({ file: "planning/plan.json", pointer: "/tasks", expected: "an array", found: '"text"' }),
    );
  });
});
