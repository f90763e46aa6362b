import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeCli, makeTask, NOT_OK, OK, PLAN, refuse, type Cli } from "../support/cli.js";

const FILES: Record<string, string> = {
  planning: "planning/plan.json",
  plan_review: "review/plan-review.json",
  review: "review/code-review.json",
};

describe("an artifact that is not what its schema asks for opens nothing", () => {
  const cases: [
    phase: string,
    what: string,
    content: unknown,
    expected: { pointer?: string; expected: string; found: string },
  ][] = [
    [
      "planning",
      "tasks that are text",
      { ...PLAN, tasks: "text" },
      { pointer: "/tasks", expected: "an array", found: '"text"' },
    ],
    [
      "planning",
      "nothing but tasks that are text",
      { tasks: "text" },
      { pointer: "/tasks", expected: "an array", found: '"text"' },
    ],
    [
      "planning",
      "no task at all",
      { ...PLAN, tasks: [] },
      { pointer: "/tasks", expected: "at least 1 entries", found: "[]" },
    ],
    ["planning", "an empty object", {}, { pointer: "/title", expected: "a string", found: "nothing" }],
    ["planning", "a list", [PLAN], { pointer: "", expected: "an object", found: JSON.stringify([PLAN]).slice(0, 20) }],
    ["planning", "half a document", '{"title": "x"', { expected: "one JSON document", found: "" }],
    ["planning", "an empty file", "", { expected: "one JSON document", found: "an empty file" }],
    ["planning", "a key twice", '{"title": "x", "title": "y"}', { expected: "every key once", found: '"title" again' }],
    [
      "plan_review",
      "no ok",
      { decision: "accepted", reasons: [], blocking_issues: [] },
      { pointer: "/ok", expected: "a boolean", found: "nothing" },
    ],
    [
      "plan_review",
      "an ok that is text",
      { ...OK, ok: "true" },
      { pointer: "/ok", expected: "a boolean", found: '"true"' },
    ],
    [
      "plan_review",
      "ok and aggregate.ok that differ",
      { ...OK, reviewers: [NOT_OK], aggregate: NOT_OK },
      { pointer: "/aggregate/ok", expected: "true", found: "false" },
    ],
    [
      "plan_review",
      "ok with a blocking issue",
      { ...OK, blocking_issues: ["but"] },
      { pointer: "/blocking_issues", expected: "an empty list", found: '["but"]' },
    ],
    [
      "plan_review",
      "ok and needs_changes",
      { ...OK, decision: "needs_changes" },
      { pointer: "/decision", expected: '"accepted"', found: '"needs_changes"' },
    ],
    ["plan_review", "prose", "Looks good to me!", { expected: "one JSON document", found: "" }],
    [
      "review",
      "no ok",
      { decision: "accepted", reasons: [], blocking_issues: [] },
      { pointer: "/ok", expected: "a boolean", found: "nothing" },
    ],
    [
      "review",
      "two documents",
      `${JSON.stringify(OK)}\n${JSON.stringify(OK)}`,
      { expected: "one JSON document", found: "" },
    ],
    [
      "review",
      "reviewers without an aggregate",
      { reviewers: [OK] },
      { pointer: "/ok", expected: "a boolean", found: "nothing" },
    ],
  ];
  for (const phase of Object.keys(FILES)) {
    it(`in ${phase}`, () => {
      const cli = makeCli();
      const task = makeTask(cli, phase);
      const file = FILES[phase] ?? "";
      for (const [, what, content, expected] of cases.filter(([of]) => of === phase)) {
        task.write(file, content);
        const { code, text, error } = refuse(cli, "next");
        expect(code, what).toBe(3);
        const finding = error.findings.find(
          ({ pointer }) => expected.pointer === undefined || pointer === expected.pointer,
        );
        expect(finding, what).toMatchObject({ file, expected: expected.expected });
        expect(finding?.found, what).toContain(expected.found);
        for (const part of [file, expected.expected, expected.found]) expect(text, what).toContain(part);
        expect(error.hint).toBe(`pawl run ${phase} t1`);
      }
    });
  }
});

describe("missing evidence opens nothing", () => {
  it("a plan, a review: who should leave it, and where", () => {
    for (const [phase, file] of Object.entries(FILES)) {
      const cli = makeCli();
      const task = makeTask(cli, phase);
      const { code, error, text } = refuse(cli, "next");
      expect(code).toBe(1);
      expect(error.findings).toMatchObject([
        { file, expected: expect.stringContaining(".schema.json") as string, found: "nothing" },
      ]);
      expect(text).toContain(`${file} is missing`);
      expect(error.hint).toContain(join(task.dir, file));
      expect(error.hint).toContain("pawl next t1");
    }
  });

  it("a test report, with no command that could make one: never accept", () => {
    const cli = makeCli({ config: {} });
    makeTask(cli, "test");
    for (const run of [1, 2]) {
      const result = cli.pawl("next", "--json");
      expect(result.json().error.message).toContain("no test command is configured");
      expect(result.json().error.message).toContain("pawl.json");
      // Once more of the same is enough: it will not be better a third time.
      expect(result.code).toBe(run === 1 ? 4 : 10);
      expect(cli.pawl("status", "--json").json().phase).toBe("test");
    }
    expect(cli.pawl("answer", "accepted").code).toBe(10);
  });

  it("a change: an agent that did nothing has not passed codegen", () => {
    const cli = makeCli({ config: { agents: { default: { command: ["true"] } } } });
    makeTask(cli, "codegen");
    const result = cli.pawl("next");
    expect(result.code).toBe(4);
    expect(result.stderr).toContain("there is no change");
    expect(cli.pawl("status", "--json").json().phase).toBe("codegen");
  });
});

describe("an agent that fails approves nothing", () => {
  const reviewers: [string, string][] = [
    ["crashes after it approved", `leave("plan_review", ${JSON.stringify(OK)}); process.exit(1);`],
    [
      "is killed after it approved",
      `leave("plan_review", ${JSON.stringify(OK)}); process.kill(process.pid, "SIGKILL");`,
    ],
    ["prints an approval and crashes", `console.log(${JSON.stringify(JSON.stringify(OK))}); process.exit(1);`],
  ];
  it.each(reviewers)("a reviewer that %s", (_what, body) => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    cli.config({ agents: { plan_reviewer: { command: cli.agent("reviewer", body) } } });
    const result = cli.pawl("next", "--json");
    expect(result.code).toBe(4);
    expect(result.json().error.message).toMatch(
      /plan_review failed \(attempt 1\): the agent (exited with 1|was ended by SIGKILL)/,
    );
    const status = cli.pawl("status", "--json").json();
    expect(status.phase).toBe("plan_review");
    expect(status.actor.status).toBe("failed");
    // Without its agent the next step has nothing to go by: what the crashed one left was put away, not counted.
    expect(task.has("review/plan-review.json")).toBe(false);
    cli.config({});
    expect(refuse(cli, "next").code).toBe(1);
  });

  it("a reviewer that ends well and leaves rubbish is told what was wrong", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    cli.config({
      agents: { plan_reviewer: { command: cli.agent("reviewer", `leave("plan_review", { decision: "accepted" });`) } },
    });
    const result = cli.pawl("next");
    expect(result.code).toBe(3);
    expect(result.stderr).toContain("review/plan-review.json: /ok expected a boolean, found nothing");
    expect(cli.pawl("status", "--json").json().phase).toBe("plan_review");
    cli.pawl("next");
    expect(task.read("plan_review/runs/2/prompt.md")).toContain("/ok expected a boolean, found nothing");
    expect(task.has("plan_review/runs/1/archive/plan-review.json")).toBe(true);
  });

  it("a program that is not there", () => {
    const cli = makeCli();
    makeTask(cli, "plan_review");
    cli.config({ agents: { plan_reviewer: { command: ["no-such-program-anywhere"] } } });
    const result = cli.pawl("next");
    expect(result.code).toBe(4);
    expect(result.stderr).toContain("no-such-program-anywhere was not found");
  });

  it("one that takes too long is ended, and counts as failed", () => {
    const cli = makeCli();
    makeTask(cli, "plan_review");
    const command = cli.agent("reviewer", `leave("plan_review", ${JSON.stringify(OK)}); setInterval(() => {}, 1000);`);
    cli.config({ agents: { plan_reviewer: { command, timeout: "500ms" } } });
    const result = cli.pawl("next");
    expect(result.code).toBe(4);
    expect(result.stderr).toContain("time limit");
    expect(cli.pawl("status", "--json").json().phase).toBe("plan_review");
  });
});

describe("what only pawl or a human may write counts for nothing when somebody else wrote it", () => {
  const REPORT = {
    overall_pass: true,
    summary: { passed: 1, failed: 0, skipped: 0 },
    suites: [{ name: "all", command: "true", exit_code: 0, duration_ms: 1, log: "x" }],
  };

  it("a test report put there by hand: pawl runs the tests itself", () => {
    const cli = makeCli({ config: { test: ["echo it is broken; false"] } });
    const task = makeTask(cli, "test");
    task.write("eval/eval-report.json", REPORT);
    expect(cli.pawl("status", "--json").json().artifacts).toContainEqual(
      expect.objectContaining({ name: "tests", condition: "forged" }),
    );
    const step = cli.pawl("next", "--json");
    expect(step.json()).toMatchObject({ from: "test", to: "codegen" });
    expect(task.readJson("eval/eval-report.json")).toMatchObject({ overall_pass: false });
    // Kept, where nobody takes it for a report.
    expect(task.readJson("test/runs/0/archive/eval-report.json")).toEqual(REPORT);
  });

  it("a test report that an earlier agent left", () => {
    const cli = makeCli({ config: { test: ["false"] } });
    makeTask(cli, "review");
    const body = `leave("code_review", ${JSON.stringify(OK)});
      fs.mkdirSync(path.join(env.PAWL_TASK_DIR, "eval"), { recursive: true });
      fs.writeFileSync(path.join(env.PAWL_TASK_DIR, "eval/eval-report.json"), ${JSON.stringify(JSON.stringify(REPORT))});`;
    cli.config({ test: ["false"], agents: { code_reviewer: { command: cli.agent("reviewer", body) } } });
    expect(cli.pawl("next", "--json").json().to).toBe("test");
    expect(cli.pawl("next", "--json").json().to).toBe("codegen");
  });

  it("a report that was changed after pawl had written it", () => {
    const cli = makeCli();
    const task = makeTask(cli, "accept");
    task.write("eval/eval-report.json", { ...task.readJson("eval/eval-report.json"), note: "prettier" });
    const { code, error } = refuse(cli, "answer", "accepted", "--note", "fine");
    expect(code).toBe(1);
    expect(error.findings[0]).toMatchObject({
      file: "eval/eval-report.json",
      message: expect.stringContaining("was changed after pawl wrote it") as string,
    });
    expect(cli.git("log", "--format=%s", "main")).toBe("First");
  });

  it("a decision put there by hand", () => {
    const cli = makeCli();
    const task = makeTask(cli, "accept");
    task.write("accept/decision.json", { verdict: "accepted", reasons: ["I say so"], decider: "agent" });
    const { code, text } = refuse(cli, "next");
    expect(code).toBe(10);
    expect(text).toContain("pawl answer accepted|rejected|deferred");
    const status = cli.pawl("status", "--json").json();
    expect(status.artifacts.find(({ name }) => name === "decision")).toMatchObject({ condition: "forged" });
    expect(cli.git("log", "--format=%s", "main")).toBe("First");
  });

  it("a change description put there by hand", () => {
    const cli = makeCli();
    const task = makeTask(cli, "codegen");
    const head = cli.git("rev-parse", "HEAD");
    const tree = cli.git("rev-parse", "HEAD^{tree}");
    task.write("code/changes.json", {
      base: head,
      head,
      tree,
      files: [{ path: "hello.txt", status: "added", additions: 1, deletions: 0 }],
      out_of_scope: [],
    });
    expect(refuse(cli, "next").code).toBe(1);
  });
});

describe("an artifact that is not a plain file in the task directory", () => {
  const tricks: [string, (cli: Cli) => void][] = [
    [
      "a symbolic link",
      (cli) => {
        const task = cli.task();
        cli.write("elsewhere.json", JSON.stringify(PLAN));
        mkdirSync(join(task.dir, "planning"), { recursive: true });
        symlinkSync(join(cli.dir, "elsewhere.json"), join(task.dir, "planning/plan.json"));
      },
    ],
    [
      "in a directory that is a symbolic link",
      (cli) => {
        const task = cli.task();
        task.write("planning/plan.json", PLAN);
        renameSync(join(task.dir, "planning"), join(cli.root, "planning"));
        symlinkSync(join(cli.root, "planning"), join(task.dir, "planning"));
      },
    ],
    [
      "a dangling symbolic link",
      (cli) => {
        const path = join(cli.task().dir, "planning/plan.json");
        mkdirSync(dirname(path), { recursive: true });
        symlinkSync("/nowhere/at/all", path);
      },
    ],
  ];
  it.each(tricks)("%s", (_what, place) => {
    const cli = makeCli();
    makeTask(cli);
    place(cli);
    const { code, error, text } = refuse(cli, "next");
    expect(code).toBe(3);
    expect(error.findings[0]).toMatchObject({
      file: "planning/plan.json",
      expected: "a plain file inside the task directory",
    });
    expect(text).toContain("symbolic link");
  });

  it("a directory in its place", () => {
    const cli = makeCli();
    const task = makeTask(cli);
    mkdirSync(join(task.dir, "planning/plan.json"), { recursive: true });
    const { code, text } = refuse(cli, "next");
    expect(code).toBe(3);
    expect(text).toContain("planning/plan.json is not a plain file");
  });
});
