import { describe, expect, it } from "vitest";
import { makeCli, makeTask, NOT_OK, OK, PLAN, refuse } from "../support/cli.js";

const OTHER_PLAN = { ...PLAN, summary: "Another way." };

describe("a verdict is bound to what it judged", () => {
  it("a plan that changes while it is being reviewed takes the review with it", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    task.write("review/plan-review.json", OK);
    task.write("planning/plan.json", OTHER_PLAN);
    const { code, text, error } = refuse(cli, "next");
    expect(code).toBe(1);
    expect(text).toContain("review/plan-review.json is stale: it judged another version of planning/plan.json");
    expect(error.findings[0]).toMatchObject({
      file: "review/plan-review.json",
      expected: expect.stringContaining("planning/plan.json as it is now") as string,
      found: expect.stringContaining("an earlier version") as string,
    });
    // The plan that was judged, back in its place, is the plan that was judged.
    task.write("planning/plan.json", PLAN);
    expect(cli.pawl("next", "--json").json().to).toBe("codegen");
  });

  it("a plan that changes after its review sends codegen back", () => {
    const cli = makeCli();
    const task = makeTask(cli, "codegen");
    task.edit("hello.txt", "hello\n");
    task.write("planning/plan.json", OTHER_PLAN);
    const { code, text, error } = refuse(cli, "next");
    expect(code).toBe(1);
    expect(text).toContain("codegen rests on evidence that does not hold");
    expect(error.findings[0]?.file).toBe("review/plan-review.json");
    expect(error.hint).toBe('pawl redo plan_review --reason "…" t1');
    expect(cli.pawl("redo", "plan_review", "--reason", "the plan changed", "--json").json().to).toBe("plan_review");
    expect(refuse(cli, "next").text).toContain("review/plan-review.json is missing");
  });

  it("a plan that is removed or broken after its review", () => {
    const cli = makeCli();
    const task = makeTask(cli, "review");
    task.write("review/code-review.json", OK);
    for (const spoil of [() => task.write("planning/plan.json", "{"), () => task.remove("planning/plan.json")]) {
      spoil();
      const { code, error } = refuse(cli, "next");
      expect(code).toBe(1);
      expect(error.findings.map(({ file }) => file)).toContain("planning/plan.json");
      expect(error.hint).toContain("pawl redo planning");
    }
  });

  const edits: [
    string,
    (worktree: (...args: string[]) => string, edit: (path: string, text: string) => void) => void,
  ][] = [
    ["a file that is not committed", (_git, edit) => edit("hello.txt", "hello, but different\n")],
    ["a new file", (_git, edit) => edit("more.txt", "more\n")],
    [
      "a commit",
      (git, edit) => {
        edit("hello.txt", "hello, committed\n");
        git("commit", "--quiet", "--all", "-m", "sneak");
      },
    ],
    ["a commit that changes no file", (git) => git("commit", "--quiet", "--allow-empty", "-m", "sneak")],
    ["a branch set back", (git) => git("reset", "--quiet", "--soft", "HEAD^")],
  ];
  it("code that changes after its review is not tested but redone", () => {
    const cli = makeCli();
    const task = makeTask(cli, "test");
    const git = (...args: string[]): string => cli.git(...args, { cwd: task.worktree });
    const reviewed = git("rev-parse", "HEAD");
    for (const [what, change] of edits) {
      change(git, task.edit);
      const { code, text, error } = refuse(cli, "next");
      expect(code, what).toBe(1);
      expect(error.findings[0], what).toMatchObject({ file: "code/changes.json" });
      expect(error.findings[0]?.expected).toMatch(/^[0-9a-f]{40}$/);
      expect(error.findings[0]?.found).toMatch(/^[0-9a-f]{40}$/);
      expect(text).toContain('pawl redo codegen --reason "…" t1');
      expect(task.has("eval/eval-report.json")).toBe(false);
      git("reset", "--quiet", "--hard", reviewed);
      git("clean", "--quiet", "--force");
    }
    // What was reviewed, back in its place, is tested.
    expect(cli.pawl("next", "--json").json().to).toBe("accept");
  });

  it("code that changes after its tests is not merged", () => {
    const cli = makeCli();
    const task = makeTask(cli, "accept");
    const git = (...args: string[]): string => cli.git(...args, { cwd: task.worktree });
    const main = cli.git("rev-parse", "main");
    for (const [what, change] of edits) {
      const tested = git("rev-parse", "HEAD");
      change(git, task.edit);
      const { code, error } = refuse(cli, "answer", "accepted", "--note", "fine");
      expect(code, what).toBe(1);
      expect(error.findings.map(({ file }) => file)).toContain("code/changes.json");
      expect(cli.git("rev-parse", "main")).toBe(main);
      expect(task.has("accept/decision.json")).toBe(false);
      git("reset", "--quiet", "--hard", tested);
      git("clean", "--quiet", "--force");
    }
    expect(cli.pawl("answer", "accepted", "--note", "fine", "--json").json().to).toBe("done");
  });

  it("a code review that was edited after it had been accepted", () => {
    const cli = makeCli();
    const task = makeTask(cli, "accept");
    task.write("review/code-review.json", { ...OK, reasons: ["Much better."] });
    const { code, text } = refuse(cli, "answer", "accepted", "--note", "fine");
    expect(code).toBe(1);
    expect(text).toContain("review/code-review.json was changed after it had been accepted");
  });
});

describe("what was there before a phase began says nothing about it", () => {
  it("a review that was placed before its phase is put away, not counted", () => {
    const cli = makeCli();
    const task = makeTask(cli);
    task.write("planning/plan.json", PLAN);
    task.write("review/plan-review.json", OK);
    expect(cli.pawl("next", "--json").json().to).toBe("plan_review");
    const { code, text } = refuse(cli, "next");
    expect(code).toBe(1);
    expect(text).toContain("review/plan-review.json is missing");
    expect(task.readJson("plan_review/runs/0/archive/plan-review.json")).toEqual(OK);
  });

  it("a review of the round before does not count for the next plan", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    task.write("review/plan-review.json", NOT_OK);
    expect(cli.pawl("next", "--json").json().to).toBe("planning");
    expect(refuse(cli, "next").text).toContain("planning/plan.json is missing");
    // Somebody approves early, while the plan is still being made.
    task.write("review/plan-review.json", OK);
    task.write("planning/plan.json", OTHER_PLAN);
    expect(cli.pawl("next", "--json").json().to).toBe("plan_review");
    expect(refuse(cli, "next").text).toContain("review/plan-review.json is missing");
  });

  it("after a redo, neither the old change nor the verdicts on it count", () => {
    const cli = makeCli();
    const task = makeTask(cli, "accept");
    const old = { review: task.read("review/code-review.json"), report: task.read("eval/eval-report.json") };
    expect(cli.pawl("redo", "codegen", "--reason", "once more").code).toBe(0);
    // The same tree as before is no new work.
    expect(refuse(cli, "next").code).toBe(1);
    task.edit("hello.txt", "hello again\n");
    expect(cli.pawl("next", "--json").json().to).toBe("review");
    expect(refuse(cli, "next").text).toContain("review/code-review.json is missing");
    task.write("review/code-review.json", OK);
    task.write("eval/eval-report.json", old.report);
    expect(cli.pawl("next", "--json").json().to).toBe("test");
    expect(
      cli
        .pawl("status", "--json")
        .json()
        .artifacts.find(({ name }) => name === "tests")?.condition,
    ).not.toBe("ok");
    expect(cli.pawl("next", "--json").json().to).toBe("accept");
    expect(task.read("eval/eval-report.json")).not.toBe(old.report);
  });

  it("a redo of the same phase starts it from nothing", () => {
    const cli = makeCli();
    const task = makeTask(cli, "review");
    task.write("review/code-review.json", OK);
    expect(cli.pawl("redo", "review", "--reason", "look again").code).toBe(0);
    expect(refuse(cli, "next").text).toContain("review/code-review.json is missing");
    expect(task.has("review/code-review.json")).toBe(false);
  });
});
