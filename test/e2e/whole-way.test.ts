import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  makeCli,
  makeTask,
  NOT_OK,
  OK,
  PACKAGE,
  PLAN,
  refuse,
  type Cli,
  type Printed,
  type TaskFiles,
} from "../support/cli.js";

/**
 * One task, agents that are small programs, and everything that goes wrong once on the usual way: a plan review that asks for
 * changes, a first implementation whose tests fail.
 */
describe("a task goes the whole way, with a program for each role", () => {
  it("and everything about it is as it was designed", () => {
    const cli = makeCli();
    const task = makeTask(cli);
    setAgents(cli);
    const before = cli.git("rev-parse", "HEAD");
    const env = { DEPLOY_SECRET: "hush-hush-hush", MODEL_API_KEY: "sk-model", HARMLESS: "yes", PAWL_USER: "ada" };

    const auto = cli.pawl("next", "t1", "--auto", "--json", { env });
    expect(auto.code, auto.stdout + auto.stderr).toBe(10);
    expectSteps(auto.json().steps);
    expect(cli.git("rev-parse", "main")).toBe(before);
    const accepted = cli.pawl("answer", "accepted", "--note", "ship it", "--json", { env });
    expect(accepted.code, accepted.stdout).toBe(0);
    expect(accepted.json()).toMatchObject({ from: "accept", to: "done" });

    expectPrompts(task);
    const tokens = expectEnvironment(cli, task);
    expectArtifacts(task);
    expectMerge(cli, before);
    expectRecords(cli, task, [...tokens, "hush-hush-hush"]);
  });
});

const PHASES = ["planning", "plan_review", "codegen", "review"];

/** Each notes what it was given, then does its part; what goes wrong goes wrong in the first attempt. */
function setAgents(cli: Cli): void {
  const note = `const seen = path.join(${JSON.stringify(cli.root)}, "seen");
    fs.mkdirSync(seen, { recursive: true });
    const where = require("node:child_process").execFileSync("sh", ["-c", "command -v pawl; pawl status --json"], { encoding: "utf8" });
    const [, , argument = ""] = process.argv;
    const input = argument === "" ? fs.readFileSync(0, "utf8") : "";
    fs.writeFileSync(path.join(seen, env.PAWL_PHASE + "-" + env.PAWL_ATTEMPT + ".json"),
      JSON.stringify({ ...env, cwd: process.cwd(), where, argument, input }));
    const first = env.PAWL_ATTEMPT === "1";`;
  const otherPlan = { ...PLAN, files: [{ path: "bye.txt", intent: "create" }] };
  const noReview = { ...NOT_OK, reasons: ["No file greets anybody."], blocking_issues: ["Plan hello.txt."] };
  const bodies = {
    planner: `leave("plan", first ? ${JSON.stringify(otherPlan)} : ${JSON.stringify(PLAN)});`,
    plan_reviewer: `leave("plan_review", first ? ${JSON.stringify(noReview)} : ${JSON.stringify(OK)});`,
    coder: `fs.writeFileSync("hello.txt", first ? "good bye\\n" : "hello\\n");`,
    // Prints its verdict, as some headless modes do, instead of writing the file.
    code_reviewer: `console.log(${JSON.stringify(JSON.stringify(OK))});`,
  };
  const command = (role: keyof typeof bodies): string[] => cli.agent(role, `${note}\n${bodies[role]}`);
  cli.config({
    test: ["grep hello hello.txt || { echo 'expected hello in hello.txt' >&2; exit 1; }"],
    agents: {
      planner: { command: command("planner") },
      plan_reviewer: { command: [...command("plan_reviewer"), "{prompt}"] },
      coder: { command: command("coder"), env: ["MODEL_API_KEY"] },
      default: { command: command("code_reviewer") },
    },
  });
}

function expectSteps(steps: Printed["steps"]): void {
  expect(steps.map(({ from, to }) => `${from} → ${to}`)).toEqual([
    "planning → plan_review",
    "plan_review → planning",
    "planning → plan_review",
    "plan_review → codegen",
    "codegen → review",
    "review → test",
    "test → codegen",
    "codegen → review",
    "review → test",
    "test → accept",
  ]);
  expect(steps[1]?.reason).toBe("the plan review asks for changes: No file greets anybody");
  expect(steps[6]?.reason).toBe("the tests failed");
}

/** The next prompt says what was wrong. */
function expectPrompts(task: TaskFiles): void {
  const prompt = (phase: string, attempt: number): string => task.read(`${phase}/runs/${attempt}/prompt.md`);
  expect(prompt("planning", 1)).toContain("A file hello.txt that says hello.");
  expect(prompt("planning", 1)).toContain("This is the first time.");
  expect(prompt("planning", 2)).toContain(
    "From plan_review: the plan review asks for changes: No file greets anybody.",
  );
  expect(prompt("planning", 2)).toContain("No file greets anybody.");
  expect(prompt("planning", 2)).toContain("Plan hello.txt.");
  expect(prompt("codegen", 1)).not.toContain("expected hello in hello.txt");
  expect(prompt("codegen", 2)).toContain("From test: the tests failed.");
  expect(prompt("codegen", 2)).toContain("expected hello in hello.txt");
  for (const phase of PHASES)
    expect(prompt(phase, 1).trimEnd().split("\n").at(-1), phase).toMatch(/^(Write|Make) .*then stop\./);
}

/** What each agent was told, and what not; gives the tokens. */
function expectEnvironment(cli: Cli, task: TaskFiles): string[] {
  const artifacts: Record<string, Record<string, string>> = {
    planner: { plan: join(task.dir, "planning/plan.json") },
    plan_reviewer: { plan_review: join(task.dir, "review/plan-review.json") },
    coder: {},
    code_reviewer: { code_review: join(task.dir, "review/code-review.json") },
  };
  const tokens: string[] = [];
  for (const [index, role] of Object.keys(artifacts).entries()) {
    const phase = PHASES[index] ?? "";
    for (const attempt of ["1", "2"]) {
      const seen = JSON.parse(readFileSync(join(cli.root, "seen", `${phase}-${attempt}.json`), "utf8")) as Record<
        string,
        string
      >;
      const promptFile = join(task.dir, phase, "runs", attempt, "prompt.md");
      expect(seen).toMatchObject({
        PAWL_TASK: "t1",
        PAWL_TASK_DIR: task.dir,
        PAWL_PHASE: phase,
        PAWL_ROLE: role,
        PAWL_ATTEMPT: attempt,
        PAWL_PROMPT_FILE: promptFile,
        cwd: task.worktree,
        HARMLESS: "yes",
      });
      expect(JSON.parse(seen["PAWL_ARTIFACTS"] ?? "")).toEqual(artifacts[role]);
      expect(seen["DEPLOY_SECRET"]).toBeUndefined();
      expect(seen["PAWL_USER"]).toBeUndefined();
      expect(seen["MODEL_API_KEY"]).toBe(role === "coder" ? "sk-model" : undefined);
      expect(seen[role === "plan_reviewer" ? "argument" : "input"]).toBe(readFileSync(promptFile, "utf8"));
      // `pawl` on its PATH is this one, and knows which task it is called for.
      const [program = "", ...status] = (seen["where"] ?? "").split("\n");
      expect(program).toBe(join(PACKAGE, "dist/bin/pawl"));
      expect((JSON.parse(status.join("\n")) as Printed).suggestion).toMatchObject({
        task: "t1",
        currentPhase: phase,
        action: "busy",
      });
      tokens.push(seen["PAWL_TOKEN"] ?? "");
    }
  }
  for (const token of tokens) expect(token).toMatch(/^[\w-]{20,}$/);
  expect(new Set(tokens).size).toBe(8);
  return tokens;
}

/** Artifacts of earlier rounds are put away, none is lost. */
function expectArtifacts(task: TaskFiles): void {
  expect(task.readJson("planning/plan.json")).toEqual(PLAN);
  expect(task.readJson("planning/runs/1/archive/plan.json")).toMatchObject({ files: [{ path: "bye.txt" }] });
  expect(task.read("planning/plan.md")).toContain("# Say hello");
  expect(task.readJson("review/plan-review.json")).toEqual(OK);
  expect(task.readJson("plan_review/runs/1/archive/plan-review.json")).toMatchObject({ ok: false });
  expect(task.readJson("code/changes.json")).toMatchObject({
    files: [{ path: "hello.txt", status: "added" }],
    out_of_scope: [],
  });
  expect(task.read("code/diff.patch")).toContain("+hello");
  expect(task.readJson("review/code-review.json")).toEqual(OK);
  expect(task.readJson("eval/eval-report.json")).toMatchObject({
    overall_pass: true,
    summary: { passed: 1, failed: 0, skipped: 0 },
  });
  expect(task.readJson("test/runs/1/archive/eval-report.json")).toMatchObject({ overall_pass: false });
  expect(task.readJson("accept/decision.json")).toMatchObject({
    verdict: "accepted",
    reasons: ["ship it"],
    decider: "ada",
  });
}

/** Merged, in the user's own checkout too, and cleaned up. */
function expectMerge(cli: Cli, before: string): void {
  expect(cli.read("hello.txt")).toBe("hello\n");
  expect(cli.git("rev-parse", "HEAD^1")).toBe(before);
  expect(cli.git("log", "-1", "--format=%s")).toBe("Merge Say hello");
  expect(cli.git("branch", "--format=%(refname:short)")).toBe("main");
  expect(cli.git("worktree", "list").split("\n")).toHaveLength(1);
  expect(cli.git("status", "--porcelain", "--", "readme.md", "hello.txt")).toBe("");
}

function expectRecords(cli: Cli, task: TaskFiles, secrets: string[]): void {
  expect(cli.pawl("verify", "--json").json()).toMatchObject({ ok: true, findings: [] });
  const records = ["state.json", "history.jsonl", "transcript.jsonl"].map((file) => task.read(file)).join("");
  for (const secret of secrets) expect(records).not.toContain(secret);
  expect(cli.pawl("tasks", "--json").json().tasks).toMatchObject([
    { id: "t1", phase: "done", waiting: null, overrides: 0 },
  ]);
  const { code, error } = refuse(cli, "next");
  expect(code).toBe(1);
  expect(error.hint).toContain("pawl redo");
}

describe("who does the work", () => {
  it("evidence that a person left by hand counts like an agent's, and no agent is run", () => {
    const config = { test: ["grep -q hello hello.txt"], agents: { default: { command: ["false"] } } };
    const cli = makeCli({ config });
    const task = makeTask(cli);
    const next = (): string => cli.pawl("next", "--json").json().to;
    task.write("planning/plan.json", PLAN);
    expect(next()).toBe("plan_review");
    task.write("review/plan-review.json", { reviewers: [OK, { ...OK, name: "b" }], aggregate: OK });
    expect(next()).toBe("codegen");
    // Without an agent, pawl says where the change belongs, and the place is there.
    cli.config({ test: ["grep -q hello hello.txt"] });
    const { code, error } = refuse(cli, "next");
    expect(code).toBe(1);
    expect(error.hint).toContain(`make the change in the task's worktree ${task.worktree} yourself, then pawl next t1`);
    cli.config(config);
    task.edit("hello.txt", "hello\n");
    expect(next()).toBe("review");
    expect(cli.pawl("answer", "accepted", "--note", "read it", "--json").json().to).toBe("test");
    expect(task.readJson("review/code-review.json")).toMatchObject({
      ok: true,
      decision: "accepted",
      reasons: ["read it"],
    });
    expect(next()).toBe("accept");
  });

  it("a change outside the plan goes back to planning, with the list of files", () => {
    const cli = makeCli();
    const task = makeTask(cli, "codegen");
    task.edit("hello.txt", "hello\n");
    task.edit("src/more.txt", "more\n");
    const step = cli.pawl("next", "--json").json();
    expect(step).toMatchObject({ from: "codegen", to: "planning" });
    expect(task.readJson("code/changes.json")).toMatchObject({ out_of_scope: ["src/more.txt"] });
  });

  it("an agent cannot speak for a human, nor move its own task", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    const said = join(cli.root, "said");
    const body = `const { spawnSync } = require("node:child_process");
      const calls = [["override", "done", "--reason", "trust me"], ["answer", "accepted"], ["next"], ["redo", "planning", "--reason", "x"], ["verify", "--adopt", "x"]];
      fs.writeFileSync(${JSON.stringify(said)}, JSON.stringify(calls.map((args) => spawnSync("pawl", args).status)));
      leave("plan_review", ${JSON.stringify(NOT_OK)});`;
    cli.config({ agents: { plan_reviewer: { command: cli.agent("reviewer", body) } } });
    const step = cli.pawl("next", "--json");
    expect(step.json()).toMatchObject({ from: "plan_review", to: "planning" });
    const codes = JSON.parse(readFileSync(said, "utf8")) as number[];
    expect(codes.every((code) => code !== 0)).toBe(true);
    const types = cli
      .pawl("history", "--json")
      .json()
      .events.map(({ type }) => type);
    expect(types).not.toContain("override");
    expect(types).not.toContain("redo");
    expect(cli.pawl("verify").code).toBe(0);
    expect(task.readJson("state.json")["overrides"]).toBeUndefined();
  });
});
