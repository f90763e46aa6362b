/** `record`: what scripted programs did becomes a rehearsal that goes the same way without them. */
import { cpSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeCli, makeTask, NOT_OK, OK, PLAN, type Cli } from "../support/cli.js";

function transitions(cli: Cli, id: string): string[] {
  const { events } = cli.pawl("history", id, "--json").json();
  return events.filter(({ from, to }) => from !== to).map(({ from, to }) => `${from ?? ""} → ${to ?? ""}`);
}

/** The failures, by their kind. */
function failures(cli: Cli, id: string): unknown[] {
  const { events } = cli.pawl("history", id, "--json").json();
  return events.flatMap(({ data }) => (data?.["kind"] === undefined ? [] : [data["kind"]]));
}

/** The recorded task in a workspace of its own, which knows no agents. */
function replay(cli: Cli): Cli {
  const other = makeCli({ git: false, config: null });
  cpSync(join(cli.dir, "tasks/again"), join(other.dir, "tasks/again"), { recursive: true, verbatimSymlinks: true });
  const auto = other.pawl("next", "again", "--auto", "--json");
  expect(auto.code, auto.stdout + auto.stderr).toBe(10);
  return other;
}

describe("record", () => {
  it("ways back, a crash and a repair included", () => {
    const cli = makeCli();
    cli.commit("More", { "old.txt": "old\n" });
    makeTask(cli);
    const plan = {
      ...PLAN,
      files: [...PLAN.files, { path: "old.txt", intent: "delete" }],
    };
    const command = cli.agent(
      "all",
      `const first = env.PAWL_ATTEMPT === "1";
      const verdict = (ok) => (ok ? ${JSON.stringify(OK)} : ${JSON.stringify(NOT_OK)});
      if (env.PAWL_PHASE === "planning") leave("plan", first && env.PAWL_REPAIR === undefined ? {} : ${JSON.stringify(plan)});
      if (env.PAWL_PHASE === "plan_review") leave("plan_review", verdict(!first));
      if (env.PAWL_PHASE === "codegen") {
        fs.writeFileSync("hello.txt", first ? "good bye\\n" : "hello\\n");
        if (!first) fs.rmSync("old.txt", { force: true });
      }
      if (env.PAWL_PHASE === "review") {
        if (first) process.exit(3);
        leave("code_review", verdict(true));
      }`,
    );
    cli.config({ test: ["grep -q hello hello.txt"], agents: { default: { command } } });
    expect(cli.pawl("next", "t1", "--auto").code).toBe(10);
    expect(cli.pawl("answer", "accepted", "--note", "fine", "t1").code).toBe(0);
    const recorded = cli.pawl("record", "t1", "--to", "tasks/again");
    expect(recorded.code, recorded.stderr).toBe(0);

    const other = replay(cli);
    expect(other.pawl("answer", "accepted", "--note", "fine", "again").code).toBe(0);
    expect(transitions(other, "again")).toEqual(transitions(cli, "t1"));
    expect(transitions(cli, "t1")).toContain("test → codegen");
    expect(failures(other, "again")).toEqual(failures(cli, "t1"));
    const repo = { cwd: join(other.dir, "tasks/again/repo") };
    expect(other.git("show", "main:hello.txt", repo)).toBe("hello");
    expect(other.git("ls-tree", "--name-only", "main", repo)).not.toContain("old.txt");
  });

  it("attempts that failed in different ways: each fails in its own way again", () => {
    const cli = makeCli({ git: false });
    makeTask(cli);
    const command = cli.agent(
      "planner",
      `const how = env.PAWL_ATTEMPT + (env.PAWL_PHASE === "planning" ? "" : " " + env.PAWL_PHASE);
      if (how === "1") leave("plan", { ...${JSON.stringify(PLAN)}, title: 7 });
      else if (how === "2") leave("plan", { ...${JSON.stringify(PLAN)}, summary: 7 });
      else if (env.PAWL_PHASE === "planning") leave("plan", ${JSON.stringify(PLAN)});
      else if (how === "1 plan_review") process.kill(process.pid, "SIGKILL");
      else if (how === "2 plan_review") process.exit(4);
      else leave("plan_review", ${JSON.stringify(OK)});`,
    );
    cli.config({ agents: { default: { command } } });
    expect(cli.pawl("next", "t1", "--auto", "--max-steps", "6").code).toBe(0);
    expect(failures(cli, "t1")).toEqual(["invalid-artifact", "invalid-artifact", "crashed", "crashed"]);
    expect(cli.pawl("status", "t1", "--json").json().phase).toBe("codegen");
    expect(cli.pawl("record", "t1", "--to", "tasks/again").code).toBe(0);
    const other = makeCli({ git: false, config: null });
    cpSync(join(cli.dir, "tasks/again"), join(other.dir, "tasks/again"), { recursive: true });
    const auto = other.pawl("next", "again", "--auto", "--max-steps", "6", "--json");
    expect(auto.code, auto.stdout).toBe(0);
    expect(failures(other, "again")).toEqual(failures(cli, "t1"));
    expect(transitions(other, "again")).toEqual(transitions(cli, "t1"));
  });

  it("what a human left in an agent's phase is an attempt of the replay, in its place", () => {
    const cli = makeCli({ git: false });
    makeTask(cli);
    const leave = (value: unknown): void => {
      cli.write("answer.json", JSON.stringify(value));
      const step = cli.pawl("answer", "@answer.json", "t1");
      expect(step.code, step.stderr).toBe(0);
    };
    const byAgent = (): void => expect(cli.pawl("next", "t1", { env: { PAWL_AGENT: "rehearsal" } }).code).toBe(0);
    leave({ ...PLAN, title: "By a human" });
    leave(NOT_OK);
    byAgent();
    byAgent();
    expect(cli.pawl("redo", "planning", "--reason", "once more", "t1").code).toBe(0);
    leave({ ...PLAN, title: "By a human again" });
    expect(cli.pawl("record", "t1", "--to", "tasks/again").code).toBe(0);
    const title = (attempt: number): unknown =>
      cli.task("again").readJson(`rehearsal/planning/${attempt}/plan.json`)["title"];
    expect([1, 2, 3].map(title)).toEqual(["By a human", PLAN.title, "By a human again"]);
    const other = makeCli({ git: false, config: null });
    cpSync(join(cli.dir, "tasks/again"), join(other.dir, "tasks/again"), { recursive: true });
    const auto = other.pawl("next", "again", "--auto", "--max-steps", "4", "--json");
    expect(auto.code, auto.stdout).toBe(0);
    expect(transitions(other, "again")).toEqual(transitions(cli, "t1").slice(0, 5));
  });

  it("a change that a human made in the worktree is made again", () => {
    const cli = makeCli();
    const task = makeTask(cli, "codegen");
    const test = ["grep -q hello hello.txt"];
    cli.config({ test, agents: { default: { use: "human" } } });
    task.edit("hello.txt", "hello by hand\n");
    const step = cli.pawl("next", "t1");
    expect(step.code, step.stderr).toBe(0);
    cli.config({ test });
    expect(cli.pawl("next", "t1", "--auto", { env: { PAWL_AGENT: "rehearsal" } }).code).toBe(10);
    expect(cli.pawl("record", "t1", "--to", "tasks/again").code).toBe(0);
    const other = replay(cli);
    expect(transitions(other, "again")).toEqual(transitions(cli, "t1"));
    expect(readFileSync(join(other.task("again").worktree, "hello.txt"), "utf8")).toBe("hello by hand\n");
  });

  it("relative links stay relative", () => {
    const cli = makeCli();
    makeTask(cli);
    const command = cli.agent(
      "linking",
      `if (env.PAWL_PHASE === "planning") leave("plan", ${JSON.stringify({ ...PLAN, files: [...PLAN.files, { path: "link", intent: "create" }] })});
      if (env.PAWL_PHASE === "plan_review") leave("plan_review", ${JSON.stringify(OK)});
      if (env.PAWL_PHASE === "codegen") {
        fs.writeFileSync("hello.txt", "hello\\n");
        fs.symlinkSync("hello.txt", "link");
      }
      if (env.PAWL_PHASE === "review") leave("code_review", ${JSON.stringify(OK)});`,
    );
    cli.config({ test: ["grep -q hello hello.txt"], agents: { default: { command } } });
    expect(cli.pawl("next", "t1", "--auto").code).toBe(10);
    expect(cli.pawl("record", "t1", "--to", "tasks/again").code).toBe(0);
    expect(readlinkSync(join(cli.task("again").dir, "rehearsal/codegen/1/files/link"))).toBe("hello.txt");
    const other = replay(cli);
    expect(readlinkSync(join(other.task("again").worktree, "link"))).toBe("hello.txt");
  });

  it("limits of the workspace that the replay needs are named", () => {
    const cli = makeCli({ git: false });
    makeTask(cli, "plan_review");
    expect(cli.pawl("record", "t1", "--to", "tasks/one").stdout).not.toContain("limits");
    cli.config({ limits: { plan_rounds: 1 } });
    expect(cli.pawl("record", "t1", "--to", "tasks/two").stdout).toContain(
      'the replay needs them in its pawl.json: "limits": {"plan_rounds":1}',
    );
  });

  it("refuses a target that is there, a task without runs, and a call without a target", () => {
    const cli = makeCli({ git: false });
    makeTask(cli);
    expect(cli.pawl("record", "t1", "--to", "tasks/again").code).toBe(1);
    expect(cli.has("tasks/again")).toBe(false);
    expect(cli.pawl("record", "t1", "--to", "tasks/t1").code).toBe(1);
    expect(cli.pawl("record", "t1").code).toBe(2);
  });
});
