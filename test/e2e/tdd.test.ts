/** The tool-gated workflow, turn by turn: the states and plans are those that the documents write by hand. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeTdd, STEPS } from "../support/tdd-run.js";

const PLAN = {
  masterPlanPath: "plan.md",
  prTitle: "feat: Implement New Feature",
  summary: "This PR implements a new feature based on the plan.",
  verificationPlan: "All new logic is covered by tests.",
  tasks: [{ taskName: "First task", status: "TODO", tdd_steps: [] }],
};
const one = (type: string, status = "TODO"): unknown => ({
  tasks: [{ taskName: "Core", status: "TODO", tdd_steps: [{ type, description: `The ${type} step.`, status }] }],
});
const PASS = { test_command: "true", expectation: "PASS" };
const FAIL = { test_command: "echo no such sum; exit 1", expectation: "FAIL" };

describe("initialization and session management", () => {
  it("Stale Session Cleanup: the plan is put away, not lost", () => {
    const run = makeTdd({ pr: { tasks: [{ taskName: "Old task", status: "DONE" }] } });
    const turn = run.turn("get_task");
    expect(turn).toMatchObject({ code: 0, pr: null, state: { status: "INITIALIZING" } });
    expect(turn.output).toContain("docs/Plan_Doc/Active_Plan.md");
    expect(turn.output).toMatch(/put away: plans\/[0-9a-f]{12}\.json/);
  });

  it("Interrupted Session Resumption", () => {
    const tasks = [
      { taskName: "First task", status: "DONE" },
      { taskName: "Second task", description: "Do the second thing", status: "TODO" },
    ];
    const run = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: { tasks } });
    expect(run.turn("get_task")).toMatchObject({
      code: 0,
      output: expect.stringContaining("Do the second thing") as string,
    });
    const without = makeTdd({ pr: { tasks } });
    const turn = without.turn("get_task");
    expect(turn.output).toContain("Do the second thing");
    expect(turn.state).toMatchObject({ status: "EXECUTING_TDD" });
  });

  it("[NO STATE] -> INITIALIZING: the instruction has the whole schema, and two calls say the same", () => {
    const run = makeTdd();
    const first = run.turn("get_task");
    expect(first).toMatchObject({ code: 0, state: { status: "INITIALIZING" } });
    for (const word of ["masterPlanPath", "tdd_steps", "REFACTOR", "submit_work"]) expect(first.output).toContain(word);
    const bytes = run.read("ORCHESTRATION_STATE.json");
    expect(run.turn("get_task").output).toBe(first.output);
    expect(run.read("ORCHESTRATION_STATE.json")).toBe(bytes);
    expect(run.git("status", "--porcelain")).toBe("");
  });

  it("INITIALIZING -> CREATING_BRANCH", () => {
    const run = makeTdd({ state: { status: "INITIALIZING" }, pr: PLAN });
    expect(run.submit({})).toMatchObject({
      code: 0,
      state: { status: "CREATING_BRANCH" },
      answer: { status: "SUCCESS" },
    });
  });

  it("INITIALIZING -> HALTED (Malformed JSON)", () => {
    const run = makeTdd({ state: { status: "INITIALIZING" }, pr: '{"tasks": "this is not an array"}' });
    const turn = run.submit({});
    expect(turn).toMatchObject({ code: 10, state: { status: "HALTED" }, answer: { status: "FAILURE" } });
    expect(turn.state?.["last_error"]).toContain("schema validation");
  });

  it("refuses a plan in which something is done already, and one that is not there", () => {
    const run = makeTdd({ state: { status: "INITIALIZING" } });
    expect(run.submit({})).toMatchObject({ code: 1, state: { status: "INITIALIZING" } });
    run.write("ACTIVE_PR.json", JSON.stringify({ ...PLAN, tasks: [{ ...PLAN.tasks[0], status: "DONE" }] }));
    const turn = run.submit({});
    expect(turn).toMatchObject({ code: 3, state: { status: "INITIALIZING" } });
    expect(turn.answer.output).toContain("/tasks/0/status expected TODO, found DONE");
  });

  it("CREATING_BRANCH -> EXECUTING_TDD: from the newest base branch", () => {
    const run = makeTdd({
      state: { status: "CREATING_BRANCH" },
      pr: { prTitle: "feat: Implement New Feature" },
      remote: true,
    });
    run.git("clone", "--quiet", join(run.root, "remote.git"), join(run.root, "other"));
    const other = join(run.root, "other");
    run.git("commit", "--quiet", "--allow-empty", "-m", "Elsewhere", { cwd: other });
    run.git("push", "--quiet", "origin", "main", { cwd: other });
    const turn = run.turn("get_task");
    expect(turn).toMatchObject({
      code: 0,
      state: { status: "EXECUTING_TDD", current_pr_branch: "feat/implement-new-feature" },
    });
    expect(run.git("branch", "--show-current")).toBe("feat/implement-new-feature");
    expect(run.git("log", "-1", "--format=%s")).toBe("Elsewhere");
  });

  it("refuses to check out a branch over somebody's changes", () => {
    const run = makeTdd({ state: { status: "CREATING_BRANCH" }, pr: PLAN });
    run.write("readme.md", "changed\n");
    const turn = run.turn("get_task");
    expect(turn).toMatchObject({ code: 1, state: { status: "CREATING_BRANCH" } });
    expect(turn.output).toContain("readme.md");
    expect(run.read("readme.md")).toBe("changed\n");
    expect(run.git("branch", "--show-current")).toBe("main");
  });
});

describe("the TDD cycle and preflight checks", () => {
  it("Get Next Step", () => {
    const run = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: one("RED") });
    expect(run.turn("get_task").output).toContain("The RED step.");
  });

  it("(Green Step) -> EXECUTING_TDD, with the preflight check, then the checkpoint until it is made", () => {
    const run = makeTdd({
      state: { status: "EXECUTING_TDD" },
      pr: {
        tasks: [
          {
            taskName: "Core",
            status: "TODO",
            tdd_steps: [{ ...STEPS("RED")[0], status: "DONE" }, ...STEPS("GREEN", "REFACTOR")],
          },
        ],
      },
    });
    run.write("sum.js", "1\n");
    const turn = run.submit(PASS);
    expect(turn).toMatchObject({ code: 0, state: { status: "EXECUTING_TDD" }, answer: { status: "SUCCESS" } });
    expect(turn.pr?.tasks[0]).toMatchObject({
      status: "IN_PROGRESS",
      tdd_steps: [{ status: "DONE" }, { status: "DONE" }, { status: "TODO" }],
    });
    expect(run.npmCalls()).toEqual(["npm run preflight"]);
    for (let n = 0; n < 2; n++) expect(run.turn("get_task").output).toContain("safety checkpoint commit");
    run.commit("Green");
    expect(run.turn("get_task").output).toContain("Do the REFACTOR step.");
  });

  it("(Red Step) -> NEEDS_ANALYSIS, then SUCCESS or FAILURE", () => {
    const red = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: one("RED") });
    expect(red.submit(FAIL)).toMatchObject({
      code: 0,
      state: { status: "EXECUTING_TDD" },
      answer: { status: "NEEDS_ANALYSIS", output: "no such sum\n" },
      pr: { tasks: [{ tdd_steps: [{ status: "TODO" }] }] },
    });
    expect(red.submit({ analysis_decision: "SUCCESS" })).toMatchObject({
      state: { status: "EXECUTING_TDD" },
      pr: { tasks: [{ tdd_steps: [{ status: "DONE" }] }] },
    });
    const denied = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: one("RED") });
    denied.submit(FAIL);
    expect(denied.submit({ analysis_decision: "FAILURE" })).toMatchObject({
      state: { status: "DEBUGGING", debug_attempt_counter: 1, last_error: "no such sum\n" },
      pr: { tasks: [{ tdd_steps: [{ status: "TODO" }] }] },
    });
  });

  it("asks for a checkpoint by a plan that somebody wrote by hand", () => {
    const run = makeTdd({
      state: { status: "EXECUTING_TDD" },
      pr: { tasks: [{ tdd_steps: [{ type: "GREEN", status: "DONE" }] }] },
    });
    expect(run.turn("get_task").output).toContain("safety checkpoint commit");
  });

  it("(Failed preflight) -> DEBUGGING, with the verbatim output", () => {
    const run = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: one("GREEN") });
    const output = 'lint: "quotes", `ticks`, $HOME \u{1f600} \u001b[31mred\u001b[0m\n{{slot}}\n';
    run.npm({ code: 1, output });
    const turn = run.submit(PASS);
    expect(turn).toMatchObject({
      state: { status: "DEBUGGING", debug_attempt_counter: 1, last_error: output },
      answer: { status: "FAILURE", output },
      pr: { tasks: [{ tdd_steps: [{ status: "TODO" }] }] },
    });
    const briefing = run.turn("get_task");
    expect(briefing.output).toContain(output);
    expect(briefing.output).toContain("Hypothesize & Fix");
  });

  it("runs nothing where the expectation does not fit the step, or nothing waits for a judgment", () => {
    const run = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: one("RED") });
    const command = "touch ran";
    for (const input of [
      { test_command: command, expectation: "PASS" },
      { analysis_decision: "SUCCESS" },
      { test_command: command },
      {},
    ]) {
      const turn = run.submit(input);
      expect(turn.code).not.toBe(0);
      expect(turn.answer.status).toBe("FAILURE");
    }
    expect(run.has("ran")).toBe(false);
    expect(run.json("ACTIVE_PR.json")).toEqual(one("RED"));
  });

  it("a RED test that passes leads to DEBUGGING", () => {
    const run = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: one("RED") });
    const turn = run.submit({ test_command: "true", expectation: "FAIL" });
    expect(turn).toMatchObject({
      state: { status: "DEBUGGING", debug_attempt_counter: 1 },
      answer: { status: "FAILURE" },
    });
    expect(turn.answer.instruction).toContain("passed unexpectedly");
  });

  it("says so when a RED test most likely failed for the wrong reason", () => {
    const run = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: one("RED") });
    expect(run.submit({ ...FAIL, test_command: "no-such-runner" }).answer.instruction).toContain("wrong reason");
    expect(
      run.submit({ ...FAIL, test_command: "echo 'SyntaxError: Unexpected token'; exit 1" }).answer.instruction,
    ).toContain("wrong reason");
    expect(run.submit(FAIL).answer.instruction).not.toContain("wrong reason");
  });

  it("refuses a GREEN step that takes its RED test away, unless that is turned off", () => {
    const run = makeTdd({
      state: { status: "EXECUTING_TDD" },
      pr: { tasks: [{ taskName: "Core", status: "TODO", tdd_steps: STEPS("RED", "GREEN") }] },
    });
    run.write("sum.test.sh", 'echo "# pass 1"; echo "# fail 1"; exit 1\n');
    run.submit({ test_command: "sh sum.test.sh", expectation: "FAIL" });
    run.submit({ analysis_decision: "SUCCESS" });
    run.write("sum.test.sh", 'echo "# pass 1"; echo "# fail 0"\n');
    const fewer = run.submit({ test_command: "sh sum.test.sh", expectation: "PASS" });
    expect(fewer).toMatchObject({
      code: 1,
      state: { status: "EXECUTING_TDD" },
      pr: { tasks: [{ tdd_steps: [{ status: "DONE" }, { status: "TODO" }] }] },
    });
    expect(fewer.answer.output).toContain("fewer tests");
    run.write("sum.test.sh", "");
    run.git("clean", "-fq");
    expect(run.submit(PASS).answer.output).toContain("is gone: sum.test.sh");
    run.write("pawl.json", '{"verifyRed": false}');
    expect(run.submit(PASS)).toMatchObject({ code: 0, answer: { status: "SUCCESS" } });
  });
});

describe("the plan is pawl's", () => {
  it("puts back a plan in which the agent marked its steps itself, and keeps the other version", () => {
    const run = makeTdd({
      state: { status: "EXECUTING_TDD" },
      pr: { tasks: [{ taskName: "Core", status: "TODO", tdd_steps: STEPS("RED", "RED") }] },
    });
    run.submit(FAIL);
    run.submit({ analysis_decision: "SUCCESS" });
    const accepted = run.json("ACTIVE_PR.json");
    run.write("ACTIVE_PR.json", JSON.stringify(one("RED", "DONE")));
    const turn = run.turn("get_task");
    expect(turn.code).toBe(1);
    expect(turn.output).toContain("only pawl marks what is done");
    expect(run.json("ACTIVE_PR.json")).toEqual(accepted);
    expect(run.turn("get_task")).toMatchObject({
      code: 0,
      output: expect.stringContaining("Do the RED step.") as string,
    });
  });

  it("refuses a state that somebody edited after it was on record", () => {
    const run = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: one("GREEN") });
    run.submit({ test_command: "false", expectation: "PASS" });
    run.write(
      "ORCHESTRATION_STATE.json",
      run.read("ORCHESTRATION_STATE.json").replace('"DEBUGGING"', '"AWAITING_FINALIZATION"'),
    );
    expect(run.turn("get_task").code).toBe(3);
  });
});

describe("the code review cycle", () => {
  const DONE = {
    masterPlanPath: "plan.md",
    tasks: [{ taskName: "Final task", status: "DONE", tdd_steps: [{ status: "DONE" }] }],
  };

  it("(All Tasks Done) -> the reviewer is asked, with the diff and the plan", () => {
    const run = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: DONE });
    run.reviewer('{"findings": []}');
    run.commit("Settings");
    run.git("checkout", "--quiet", "-b", "feat/x");
    run.commit("Work", { "sum.js": "the sum\n" });
    const turn = run.turn("get_task");
    expect(turn).toMatchObject({ code: 0, state: { status: "AWAITING_FINALIZATION" } });
    expect(turn.output).toContain("git reset --soft");
    for (const text of ["+the sum", "Final task"]) expect(run.read("../prompt.txt")).toContain(text);
  });

  it("(Review Has Findings) -> EXECUTING_TDD with a task for each, and back after the fix", () => {
    const run = makeTdd({ state: { status: "CODE_REVIEW" }, pr: DONE });
    run.reviewer(
      '{"findings": [{"description": "New task from review", "file": "a.js", "line": 3, "severity": "major", "recommendation": "Mend it"}]}',
    );
    const turn = run.turn("get_task");
    expect(turn).toMatchObject({ code: 0, state: { status: "EXECUTING_TDD" } });
    expect(turn.pr?.tasks.at(-1)).toMatchObject({
      taskName: "Address code review feedback: New task from review",
      status: "TODO",
    });
    for (const text of ["a.js:3", "major", "Mend it"]) expect(turn.output).toContain(text);
    expect(run.submit(PASS)).toMatchObject({ code: 0, state: { status: "CODE_REVIEW" } });
  });

  it("(Fix Submitted) -> CODE_REVIEW (Re-review)", () => {
    const tasks = [
      { taskName: "Original task", status: "DONE" },
      { taskName: "Address code review feedback: ...", status: "TODO", tdd_steps: [{ status: "TODO" }] },
    ];
    const run = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: { tasks } });
    expect(run.submit(PASS)).toMatchObject({ state: { status: "CODE_REVIEW" } });
  });

  it.each(["not JSON", "{}", '{"findings": "none"}', '{"findings": [{}]}', '{"ok": true}', ""])(
    "a review that says %j approves nothing, and three of them halt",
    (answer) => {
      const run = makeTdd({ state: { status: "CODE_REVIEW" }, pr: DONE });
      run.reviewer(answer);
      for (let n = 0; n < 3; n++)
        expect(run.turn("get_task")).toMatchObject({ code: 4, state: { status: "CODE_REVIEW" } });
      expect(run.turn("get_task")).toMatchObject({ code: 10, state: { status: "HALTED" } });
    },
  );

  it("halts with the findings when the rounds are used up", () => {
    const run = makeTdd({ state: { status: "CODE_REVIEW" }, pr: DONE });
    run.reviewer('{"findings": [{"description": "Still wrong"}]}');
    for (let round = 1; round < 3; round++) {
      expect(run.turn("get_task").state).toMatchObject({ status: "EXECUTING_TDD" });
      run.submit(PASS);
      run.commit(`Fix ${round}`);
    }
    const turn = run.turn("get_task");
    expect(turn).toMatchObject({ code: 10, state: { status: "HALTED" } });
    expect(turn.output).toContain("Still wrong");
  });
});

describe("debugging and recovery", () => {
  it("EXECUTING_TDD -> DEBUGGING, failing again, and mended by its own test", () => {
    const run = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: one("GREEN") });
    const command = "cat answer";
    expect(run.submit({ test_command: command, expectation: "PASS" }).state).toMatchObject({
      status: "DEBUGGING",
      debug_attempt_counter: 1,
    });
    expect(run.submit({ test_command: "echo again; false", expectation: "PASS" }).state).toMatchObject({
      status: "DEBUGGING",
      debug_attempt_counter: 2,
      last_error: "again\n",
    });
    run.write("answer", "42\n");
    const turn = run.submit({ test_command: command, expectation: "PASS" });
    expect(turn).toMatchObject({ state: { status: "DEBUGGING" }, answer: { status: "FAILURE" } });
    const mended = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: one("GREEN") });
    mended.submit({ test_command: command, expectation: "PASS" });
    mended.write("answer", "42\n");
    const done = mended.submit({ test_command: command, expectation: "PASS" });
    expect(done).toMatchObject({ state: { status: "EXECUTING_TDD" }, pr: { tasks: [{ status: "DONE" }] } });
    expect(done.state).not.toHaveProperty("last_error");
    expect(done.state).not.toHaveProperty("debug_attempt_counter");
  });

  it("DEBUGGING -> EXECUTING_TDD (Successful Fix), by the state alone", () => {
    const run = makeTdd({
      state: { status: "DEBUGGING", debug_attempt_counter: 2, last_error: "Some previous error" },
    });
    const { state } = run.submit(PASS);
    expect(state).toMatchObject({ status: "EXECUTING_TDD" });
    expect(state).not.toHaveProperty("last_error");
    expect(state).not.toHaveProperty("debug_attempt_counter");
  });

  it.each([
    [1, "Hypothesize & Fix"],
    [2, "Hypothesize & Fix"],
    [3, "Use Instrumentation"],
    [5, "Use Instrumentation"],
    [6, "request_scope_reduction"],
    [9, "request_scope_reduction"],
    [10, "escalate_for_external_help"],
  ])("Get Debugging Guidance after %i attempts: %s", (attempts, guidance) => {
    const run = makeTdd({
      state: { status: "DEBUGGING", debug_attempt_counter: attempts, last_error: "Test failed unexpectedly" },
    });
    const { output } = run.turn("get_task");
    expect(output).toContain(guidance);
    expect(output).toContain("Test failed unexpectedly");
  });

  it("Tool is Locked, for both, and unlocks where pawl.json says so", () => {
    const run = makeTdd({ state: { status: "DEBUGGING", debug_attempt_counter: 1 } });
    for (const [tool, input] of [
      ["request_scope_reduction", {}],
      ["escalate_for_external_help", { markdown_report: "x" }],
    ] as const) {
      const turn = run.turn(tool, input);
      expect(turn).toMatchObject({ code: 1, state: { status: "DEBUGGING" } });
      expect(turn.output).toContain("locked");
    }
    run.write("pawl.json", '{"limits": {"escalation": 1}}');
    expect(run.turn("escalate_for_external_help", { markdown_report: "x" }).code).toBe(10);
  });

  it("DEBUGGING -> REPLANNING: what is lost is kept, and only the agent's files go", () => {
    const run = makeTdd({ state: { status: "DEBUGGING", debug_attempt_counter: 6, last_error: "Final error" } });
    run.write("readme.md", "broken\n");
    run.write("src/new.js", "new\n");
    const turn = run.turn("request_scope_reduction");
    expect(turn).toMatchObject({ code: 0, state: { status: "REPLANNING", last_error: "Final error" } });
    expect(run.read("readme.md")).toBe("one\n");
    expect(run.has("src")).toBe(false);
    const ref = /refs\/pawl\/rescue\/\S+?(?=;)/.exec(turn.output)?.[0] ?? "";
    expect(run.git("show", `${ref}:readme.md`)).toBe("broken");
    expect(run.git("show", `${ref}:src/new.js`)).toBe("new");
    expect(run.turn("get_task").output).toContain("Final error");
    const bytes = run.read("ORCHESTRATION_STATE.json");
    run.turn("get_task");
    expect(run.read("ORCHESTRATION_STATE.json")).toBe(bytes);
  });

  it("a human who steps in may change the plan; the agent goes on with that one", () => {
    const run = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: one("RED") });
    run.submit(FAIL);
    run.write("ACTIVE_PR.json", JSON.stringify(one("GREEN")));
    expect(run.pawl("override", "EXECUTING_TDD", "--reason", "another plan").code).toBe(0);
    for (let n = 0; n < 2; n++)
      expect(run.turn("get_task").output).toMatch(/Step: GREEN\n\nThe GREEN step\.\n\nDo exactly/);
    expect(run.submit(PASS)).toMatchObject({ code: 0, pr: { tasks: [{ status: "DONE" }] } });
  });

  it("REPLANNING -> EXECUTING_TDD only with a plan that ends with a verification", () => {
    const run = makeTdd({ state: { status: "REPLANNING", last_error: "Final error" }, pr: PLAN });
    expect(run.submit({})).toMatchObject({ code: 3, state: { status: "REPLANNING", last_error: "Final error" } });
    const breakdownHistory = { originalTaskName: "First task", justification: "Too broad." };
    const tasks = [
      { taskName: "1a", status: "TODO", breakdownHistory, tdd_steps: STEPS("RED", "GREEN") },
      { taskName: "1b (Verification)", status: "TODO", tdd_steps: STEPS("RED", "GREEN") },
    ];
    run.write("ACTIVE_PR.json", JSON.stringify({ ...PLAN, tasks }));
    const turn = run.submit({});
    expect(turn).toMatchObject({ code: 0, state: { status: "EXECUTING_TDD" } });
    expect(turn.state).not.toHaveProperty("last_error");
  });

  it("Escalation: exactly the report, exit code 10; a human resumes, and the note reaches the agent", () => {
    const run = makeTdd({ state: { status: "DEBUGGING", debug_attempt_counter: 10, last_error: "Cannot solve this" } });
    const markdown_report = '# Stuck\n\n`$HOME` "quoted" \u{1f600}\n';
    const turn = run.turn("escalate_for_external_help", { markdown_report });
    expect(turn).toMatchObject({ code: 10, output: markdown_report, state: { status: "HALTED" } });
    expect(run.turn("get_task").code).toBe(10);
    expect(run.pawl("resume", "--note", "Use the other API").code).toBe(0);
    const next = run.turn("get_task");
    expect(next).toMatchObject({ code: 0, state: { status: "DEBUGGING", debug_attempt_counter: 1 } });
    expect(next.output).toContain("Use the other API");
  });
});

describe("finalization and the git workflow", () => {
  it("AWAITING_FINALIZATION -> FINALIZE_COMPLETE with exactly one commit", () => {
    const run = makeTdd({ state: { status: "AWAITING_FINALIZATION" } });
    run.git("checkout", "--quiet", "-b", "feat/x");
    run.commit("One", { a: "1\n" });
    const hash = run.commit("Two", { a: "2\n" });
    expect(run.submit({ commit_hash: hash })).toMatchObject({ code: 1, state: { status: "AWAITING_FINALIZATION" } });
    run.git("reset", "--quiet", "--soft", "main");
    const squashed = run.commit("feat: x");
    expect(run.submit({ commit_hash: hash }).code).toBe(1);
    expect(run.submit({ commit_hash: squashed })).toMatchObject({
      code: 0,
      state: { status: "FINALIZE_COMPLETE", last_commit_hash: squashed },
    });
  });

  it("FINALIZE_COMPLETE -> PLAN_UPDATED: marked, and committed by the tool", () => {
    const run = makeTdd({
      state: { status: "FINALIZE_COMPLETE", last_commit_hash: "abc1234" },
      pr: { masterPlanPath: "plan.md", tasks: [{ status: "DONE" }] },
    });
    expect(run.turn("get_task").output).toContain("plan.md");
    expect(run.submit({})).toMatchObject({ code: 1, state: { status: "FINALIZE_COMPLETE" } });
    run.write("plan.md", "- [DONE] PR 1: feat: Add sum abc1234\n");
    expect(run.submit({})).toMatchObject({ code: 0, state: { status: "PLAN_UPDATED" } });
    expect(run.git("status", "--porcelain")).toBe("");
    expect(run.git("show", "--stat", "--format=", "HEAD")).toContain("plan.md");
  });

  it("FINALIZE_COMPLETE -> PLAN_UPDATED, by the state alone", () => {
    expect(makeTdd({ state: { status: "FINALIZE_COMPLETE" } }).submit({}).state).toMatchObject({
      status: "PLAN_UPDATED",
    });
  });

  it("PLAN_UPDATED -> MERGING_BRANCH", () => {
    expect(makeTdd({ state: { status: "PLAN_UPDATED" } }).turn("get_task")).toMatchObject({
      code: 0,
      state: { status: "MERGING_BRANCH" },
    });
  });

  it("MERGING_BRANCH -> INITIALIZING (Successful Merge)", () => {
    const run = makeTdd({ remote: true });
    run.git("checkout", "--quiet", "-b", "feat/my-feature");
    run.commit("Feature", { feature: "1\n" });
    run.write("ORCHESTRATION_STATE.json", '{"status": "MERGING_BRANCH", "current_pr_branch": "feat/my-feature"}');
    run.write("ACTIVE_PR.json", '{"tasks": [{"status": "DONE"}]}');
    const turn = run.turn("get_task");
    expect(turn).toMatchObject({ code: 0, pr: null, state: { status: "INITIALIZING" } });
    expect(turn.state).not.toHaveProperty("current_pr_branch");
    expect(run.git("branch", "--format=%(refname:short)")).toBe("main");
    expect(run.git("log", "-1", "--format=%P").split(" ")).toHaveLength(2);
    expect(run.git("status", "--porcelain")).toBe("");
  });

  it("MERGING_BRANCH -> HALTED (Merge Conflict): nothing half-done is left", () => {
    const run = makeTdd();
    run.git("checkout", "--quiet", "-b", "feat/conflicting-feature");
    const theirs = run.commit("Theirs", { "readme.md": "theirs\n" });
    run.git("checkout", "--quiet", "main");
    const ours = run.commit("Ours", { "readme.md": "ours\n" });
    run.write(
      "ORCHESTRATION_STATE.json",
      '{"status": "MERGING_BRANCH", "current_pr_branch": "feat/conflicting-feature"}',
    );
    const turn = run.turn("get_task");
    expect(turn).toMatchObject({ code: 10, state: { status: "HALTED" } });
    expect(turn.output).toContain(
      "ERROR: Automated merge failed due to a conflict. Please resolve the conflict in branch 'feat/conflicting-feature'",
    );
    expect(existsSync(join(run.dir, ".git/MERGE_HEAD"))).toBe(false);
    expect(run.git("rev-parse", "main", "feat/conflicting-feature")).toBe(`${ours}\n${theirs}`);
    expect(run.git("status", "--porcelain")).toBe("");
  });

  it("HALTED -> HALTED, whatever is called", () => {
    const run = makeTdd({ state: { status: "HALTED", last_error: "Some critical failure" } });
    for (const tool of ["get_task", "submit_work", "request_scope_reduction", "escalate_for_external_help"]) {
      const input = tool === "submit_work" ? { summary: "x" } : tool.startsWith("esc") ? { markdown_report: "x" } : {};
      const turn = run.turn(tool, input);
      expect(turn).toMatchObject({ code: 10, state: { status: "HALTED" } });
      expect(turn.output).toContain("Some critical failure");
    }
  });
});

describe("the directory that is worked in", () => {
  it("is no task: no workflow of a task keeps its state there", () => {
    const run = makeTdd();
    expect(run.pawl("new", "A task", "--workflow", "tool-gated-tdd")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("pawl tool get_task") as string,
    });
    expect(run.has("ORCHESTRATION_STATE.json")).toBe(false);
  });

  it("is asked about like a task", () => {
    const run = makeTdd({ state: { status: "CODE_REVIEW" } });
    run.reviewer('{"findings": []}');
    expect(run.turn("get_task")).toMatchObject({ code: 0, state: { status: "AWAITING_FINALIZATION" } });
    const status = run.pawl("status", "--json");
    expect(JSON.parse(status.stdout)).toMatchObject({ phase: "AWAITING_FINALIZATION", suggestion: { action: "pull" } });
    expect(run.pawl("next")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("pawl tool get_task") as string,
    });
    expect(run.pawl("verify").code).toBe(0);
  });
});

describe("input", () => {
  it.each(['{"summary": 1}', '{"sumary": "x"}', "[]", "{", '{"summary": "x", "expectation": "MAYBE"}'])(
    "refuses %s and changes nothing",
    (input) => {
      const run = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: one("GREEN") });
      const bytes = run.read("ORCHESTRATION_STATE.json");
      expect(run.turn("submit_work", input).code).toBe(2);
      expect(run.read("ORCHESTRATION_STATE.json")).toBe(bytes);
    },
  );

  it("keeps the head and the end of 5 MB of output, and all of it on disk", () => {
    const run = makeTdd({ state: { status: "EXECUTING_TDD" }, pr: one("GREEN") });
    const turn = run.submit({
      test_command: "echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo last; false",
      expectation: "PASS",
    });
    const { output } = turn.answer;
    expect(output.startsWith("first\n")).toBe(true);
    expect(output.endsWith("last\n")).toBe(true);
    expect(output.length).toBeLessThan(70_000);
    const { log } = turn.answer as unknown as { log: string };
    expect(run.read(`.${log.slice(run.dir.length)}`).length).toBe(5_000_000 + "first\nlast\n".length);
  });
});
