/** Many tasks in one go: in their order, side by side, within their bounds, and again after whatever stopped them. */
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  appears,
  makeCli,
  NOT_OK,
  OK,
  PACKAGE,
  PLAN,
  PROGRAM,
  type Cli,
  type Result,
  type TaskFiles,
} from "../support/cli.js";
import { openTerminal } from "../support/terminal.js";

interface TaskResult {
  id: string;
  outcome: string;
  phase: string;
  steps: number;
  reason: string;
}
interface BatchReport {
  ok: boolean;
  totals: Record<string, number>;
  tasks: TaskResult[];
}

function reportIn(result: Result): BatchReport {
  return JSON.parse(result.stdout) as BatchReport;
}

/** id → outcome. */
function outcomes(result: Result): Record<string, string> {
  return Object.fromEntries(reportIn(result).tasks.map(({ id, outcome }) => [id, outcome]));
}

/** Tasks without a repository that the rehearsal brings to codegen. */
function makeBatch(tasks: Record<string, { after?: string[]; rehearsed?: boolean }>): Cli {
  const cli = makeCli({ git: false, config: {} });
  for (const [id, { after = [], rehearsed = true }] of Object.entries(tasks)) {
    const task = cli.task(id);
    const agent = rehearsed ? "agent: rehearsal\n" : "";
    task.write("task.md", `---\ntitle: Task ${id}\n${agent}after: ${JSON.stringify(after)}\n---\n\nSay hello.\n`);
    task.write("rehearsal/planning/1/plan.json", PLAN);
    task.write("rehearsal/plan_review/1/plan_review.json", OK);
  }
  return cli;
}

function runsOf(task: TaskFiles): Record<string, number> {
  const actors = task.readJson("state.json")["actors"] as Record<string, { runs: number }>;
  return Object.fromEntries(Object.entries(actors).map(([phase, { runs }]) => [phase, runs]));
}

const UNTIL = ["--until", "codegen", "--json"];

describe("the order of a batch", () => {
  it("a task begins when those that it waits for have arrived", () => {
    const cli = makeBatch({ a: { after: ["b", "c"] }, b: { after: ["c"] }, c: {} });
    const result = cli.pawl("batch", ".", "--jobs", "3", "--until", "codegen");
    expect(result.code, result.stderr).toBe(0);
    const arrivals = result.stderr.split("\n").filter((line) => line.includes("arrived"));
    expect(arrivals.map((line) => /(\w): arrived in codegen/.exec(line)?.[1])).toEqual(["c", "b", "a"]);
    // Without a terminal these are plain lines, and a summary on standard output.
    expect(result.stderr).toContain("c: planning → plan_review: ");
    expect(result.stderr).not.toContain("\u001b");
    expect(result.stdout).toBe("3 arrived\n");
  });

  it.each([
    { what: "a circle", a: ["b"], b: ["a"], message: /the tasks wait for each other: a → b → a/ },
    { what: "itself", a: ["a"], b: [], message: /the tasks wait for each other: a → a/ },
    { what: "an unknown name", a: ["bb"], b: [], message: /a waits for `bb`, which is no task of this batch/ },
  ])("$what is refused before anything runs", ({ a, b, message }) => {
    const cli = makeBatch({ a: { after: a }, b: { after: b }, c: {} });
    const result = cli.pawl("batch", ".", ...UNTIL);
    expect(result.code).toBe(3);
    expect(result.json().error.message).toMatch(message);
    expect(result.json().error.findings[0]).toMatchObject({ pointer: "/after" });
    for (const id of ["a", "b", "c"]) expect(cli.task(id).has("state.json"), id).toBe(false);
  });

  it("takes a workspace, its tasks, or single ones, each task once", () => {
    const cli = makeBatch({ a: {}, b: {}, c: {} });
    expect(Object.keys(outcomes(cli.pawl("batch", "tasks/b", "tasks/a", "tasks/b", ...UNTIL)))).toEqual(["b", "a"]);
    expect(Object.keys(outcomes(cli.pawl("batch", "tasks", ".", ...UNTIL)))).toEqual(["a", "b", "c"]);
    expect(cli.pawl("batch", "nowhere").code).toBe(2);
    expect(cli.pawl("batch").code).toBe(2);
  });
});

describe("a task that waits for one that is no part of the batch", () => {
  it("begins when that one has arrived, and is blocked with the reason when not", () => {
    const cli = makeBatch({ a: {}, b: { after: ["a"] } });
    const early = cli.pawl("batch", "tasks/b", ...UNTIL);
    expect(early.code).toBe(1);
    expect(reportIn(early).tasks).toMatchObject([
      {
        id: "b",
        outcome: "blocked",
        phase: "planning",
        reason: "a, which is no part of this batch, has not arrived: it is in planning",
      },
    ]);
    expect(cli.task("b").has("state.json")).toBe(false);
    expect(cli.pawl("batch", "tasks/a", ...UNTIL).code).toBe(0);
    // Without --until, only its end counts.
    expect(outcomes(cli.pawl("batch", "tasks/b", "--json"))).toEqual({ b: "blocked" });
    expect(outcomes(cli.pawl("batch", "tasks/b", ...UNTIL))).toEqual({ b: "arrived" });
  });

  it("begins when that one is at its end, whatever --until names", () => {
    const cli = makeBatch({ a: {}, b: { after: ["a"] } });
    expect(cli.pawl("override", "done", "--reason", "trial", "a").code).toBe(0);
    expect(outcomes(cli.pawl("batch", "tasks/b", ...UNTIL))).toEqual({ b: "arrived" });
  });
});

describe("what is below tasks/", () => {
  it("a task.md that cannot be read is its task's failure, and stops only those that wait for it", () => {
    const cli = makeBatch({ bad: {}, good: {}, later: { after: ["bad"] } });
    cli.task("bad").write("task.md", "---\ntitle: [\n---\n");
    const result = cli.pawl("batch", ".", ...UNTIL);
    expect(result.code).toBe(1);
    expect(outcomes(result)).toEqual({ bad: "failed", good: "arrived", later: "blocked" });
    const [bad] = reportIn(result).tasks;
    expect(bad).toMatchObject({ file: "bad/task.md", reason: expect.stringMatching(/^bad\/task\.md: \w/) as string });
  });

  it("a directory without any trace of a task is left out; named, it is wrong usage", () => {
    const cli = makeBatch({ a: {} });
    cli.write("tasks/notes/readme.md", "not a task\n");
    const refusal = cli.pawl("batch", "tasks/a", "tasks/notes", ...UNTIL);
    expect(refusal.code).toBe(2);
    expect(refusal.json().error.message).toContain("tasks/notes is no task: expected one of task.md, state.json");
    expect(cli.task("a").has("state.json")).toBe(false);
    expect(outcomes(cli.pawl("batch", ".", ...UNTIL))).toEqual({ a: "arrived" });
  });
});

describe("one task is no concern of the others", () => {
  const makeMixed = (): Cli => {
    const cli = makeBatch({ bad: {}, good: {}, later: { after: ["bad"] }, nobody: { rehearsed: false } });
    cli.task("bad").write("rehearsal/planning/1/exit", "1\n");
    cli.task("bad").write("rehearsal/planning/2/exit", "1\n");
    cli.task("good").write("task.md", '---\ntitle: "A <good> & \\"quoted\\" one"\nagent: rehearsal\n---\n\nHello.\n');
    return cli;
  };

  it("a failure stops only those that wait for it; report and JUnit say so", async () => {
    const cli = makeMixed();
    const result = cli.pawl("batch", ".", "--report", "out/report.json", "--junit", "out/junit.xml", ...UNTIL);
    expect(result.code).toBe(1);
    expect(result.stderr).toBe("");
    expect(reportIn(result).tasks.map(({ phase }) => phase)).toEqual(["planning", "codegen", "planning", "planning"]);
    expect(outcomes(result)).toEqual({ bad: "failed", good: "arrived", later: "blocked", nobody: "refused" });
    const report = reportIn(result);
    expect(report).toMatchObject({ ok: false, totals: { arrived: 1, waiting: 0, blocked: 1, refused: 1, failed: 1 } });
    expect(report.tasks.find(({ id }) => id === "later")?.reason).toBe("bad did not arrive");
    expect(JSON.parse(cli.read("out/report.json"))).toEqual(report);
    const xml = cli.read("out/junit.xml");
    await expectWellFormed(xml);
    expect(xml).toContain('<testsuite name="pawl batch" tests="4" failures="1" errors="1" skipped="1"');
    expect(xml.match(/<testcase /g)).toHaveLength(4);
  });

  it("--fail-fast stops all, and what had not begun can be run later", () => {
    const cli = makeMixed();
    const first = cli.pawl("batch", "tasks/nobody", "tasks/good", "--jobs", "1", "--fail-fast", ...UNTIL);
    expect(first.code).toBe(1);
    expect(outcomes(first)).toEqual({ nobody: "refused", good: "stopped" });
    expect(cli.task("good").has("state.json")).toBe(false);
    expect(cli.pawl("batch", "tasks/good", ...UNTIL).code).toBe(0);
  });

  it("--fail-fast stops when an agent failed so often that its task waits for a human", () => {
    const cli = makeMixed();
    const first = cli.pawl("batch", "tasks/bad", "tasks/good", "--jobs", "1", "--fail-fast", ...UNTIL);
    expect(first.code).toBe(1);
    expect(outcomes(first)).toEqual({ bad: "failed", good: "stopped" });
    expect(cli.pawl("status", "bad", "--json").json().waiting).toContain("planning");
  });

  it("a human's phase is waited in, unless --until names it", () => {
    const cli = makeBatch({ a: {} });
    cli.task("a").write("rehearsal/planning/1/plan.json", {
      ...PLAN,
      questions: [{ text: "Which one?", blocking: true }],
    });
    const waiting = cli.pawl("batch", ".", ...UNTIL);
    expect(waiting.code).toBe(10);
    expect(outcomes(waiting)).toEqual({ a: "waiting" });
    const sample = makeSamples(["one"]);
    const there = sample.pawl("batch", ".", "--until", "accept", "--json");
    expect(there.code, there.stdout).toBe(0);
    expect(reportIn(there).tasks).toMatchObject([{ id: "one", outcome: "arrived", phase: "accept" }]);
    const again = sample.pawl("batch", ".", "--json");
    expect(again.code).toBe(10);
    expect(reportIn(again).tasks).toMatchObject([{ id: "one", outcome: "waiting", phase: "accept", steps: 0 }]);
  });

  it("a review that says no goes its way within its own bounds", () => {
    const cli = makeBatch({ a: {}, b: {} });
    cli.config({ limits: { plan_rounds: 1 } });
    cli.task("a").write("rehearsal/plan_review/1/plan_review.json", NOT_OK);
    const result = cli.pawl("batch", ".", ...UNTIL);
    expect(result.code).toBe(10);
    expect(outcomes(result)).toEqual({ a: "waiting", b: "arrived" });
  });
});

/** A small parser is enough: elements that nest, attributes in quotes, no bare marks. */
async function expectWellFormed(xml: string): Promise<void> {
  const { execFileSync } = await import("node:child_process");
  let python = true;
  try {
    execFileSync("python3", ["-c", "0"], { stdio: "ignore" });
  } catch {
    python = false;
  }
  if (python)
    execFileSync("python3", ["-c", "import sys, xml.dom.minidom as m; m.parse(sys.stdin.buffer)"], { input: xml });
  const rest = xml.replace(/<\?xml [^<>]*\?>|<\/?[a-z]+(?: [a-z]+="[^"<]*")*\/?>|\s+/g, "");
  expect(rest).toBe("");
}

describe("the bounds of a batch", () => {
  it("never more at once than --jobs", () => {
    const ids = ["a", "b", "c", "d", "e"];
    const cli = makeBatch(Object.fromEntries(ids.map((id) => [id, { rehearsed: false }])));
    const marks = join(cli.root, "marks");
    cli.config({
      agents: {
        default: {
          command: cli.agent(
            "marking",
            `const marks = ${JSON.stringify(marks)};
            fs.mkdirSync(marks, { recursive: true });
            const mine = path.join(marks, env.PAWL_TASK);
            fs.writeFileSync(mine, "");
            const now = () => fs.readdirSync(marks).length;
            let most = now();
            // Stays until it has company once, so that work side by side is seen and not hoped for.
            const met = ${JSON.stringify(join(cli.root, "met"))};
            const go = () => {
              most = Math.max(most, now());
              if (most > 1) fs.writeFileSync(met, "");
              if (!fs.existsSync(met)) return void setTimeout(go, 5);
              fs.appendFileSync(${JSON.stringify(join(cli.root, "most"))}, most + "\\n");
              if (artifacts.plan) leave("plan", ${JSON.stringify(PLAN)});
              else leave("plan_review", ${JSON.stringify(OK)});
              fs.rmSync(mine);
            };
            go();`,
          ),
        },
      },
    });
    const result = cli.pawl("batch", ".", "--jobs", "2", ...UNTIL);
    expect(result.code, result.stdout).toBe(0);
    const most = cli.read("../most").trim().split("\n").map(Number);
    expect(most).toHaveLength(2 * ids.length);
    expect(Math.max(...most)).toBe(2);
  });

  it("--budget-runs: so many runs of agents, and a second batch goes on", () => {
    const cli = makeBatch({ a: {}, b: {}, c: {} });
    const first = cli.pawl("batch", ".", "--jobs", "1", "--budget-runs", "3", ...UNTIL);
    expect(first.code).toBe(1);
    expect(outcomes(first)).toEqual({ a: "arrived", b: "stopped", c: "stopped" });
    expect(reportIn(first).tasks[1]).toMatchObject({ reason: expect.stringMatching(/budget of agent runs/) as string });
    expect(runsOf(cli.task("b"))["planning"]).toBe(1);
    expect(cli.task("c").has("planning/runs/1")).toBe(false);
    const second = cli.pawl("batch", ".", "--jobs", "1", "--budget-runs", "3", ...UNTIL);
    expect(second.code, second.stdout).toBe(0);
    expect(runsOf(cli.task("b"))).toMatchObject({ planning: 1, plan_review: 1 });
  });

  it("--budget-runs used up inside a repair: the reason says so", () => {
    const cli = makeBatch({ a: {} });
    cli.task("a").write("rehearsal/planning/1/plan.json", {});
    cli.task("a").write("rehearsal/planning/1.1/plan.json", PLAN);
    const first = cli.pawl("batch", ".", "--budget-runs", "1", ...UNTIL);
    expect(first.code).toBe(1);
    expect(reportIn(first).tasks).toMatchObject([
      { outcome: "stopped", phase: "planning", reason: "the budget of agent runs is used up" },
    ]);
    expect(cli.pawl("batch", ".", "--budget-runs", "3", ...UNTIL).code).toBe(0);
  });

  it("--budget-time: an agent that never ends is interrupted, and its task can go on", () => {
    const cli = makeBatch({ a: { rehearsed: false }, b: { rehearsed: false, after: ["a"] } });
    cli.config({ agents: { default: { command: ["sleep", "600"] } } });
    const result = cli.pawl("batch", ".", "--budget-time", "1s", ...UNTIL);
    expect(result.code).toBe(1);
    expect(outcomes(result)).toEqual({ a: "stopped", b: "stopped" });
    expect(reportIn(result).tasks[0]?.reason).toBe("the time budget of the batch is used up");
    const { events } = cli.pawl("history", "a", "--json").json();
    expect(events.at(-1)?.type).toBe("run.interrupted");
    // The first attempt is used up; it was no failure.
    cli.task("a").write("rehearsal/planning/2/plan.json", PLAN);
    const second = cli.pawl("batch", ".", ...UNTIL, { env: { PAWL_AGENT: "rehearsal" } });
    expect(second.code, second.stdout).toBe(0);
    expect(runsOf(cli.task("a"))).toMatchObject({ planning: 2, plan_review: 1 });
    expect(cli.pawl("verify", "a").code).toBe(0);
  });

  it.each([
    ["--jobs", "0"],
    ["--jobs", "many"],
    ["--budget-runs", "-1"],
    ["--budget-time", "soon"],
    ["--until", "nope"],
    ["--report", "readme.md/report.json"],
    ["--junit", "tasks"],
  ])("%s %s is wrong usage", (option, value) => {
    const cli = makeBatch({ a: {} });
    expect(cli.pawl("batch", ".", option, value).code).toBe(2);
    expect(cli.task("a").has("state.json")).toBe(false);
  });
});

describe("the live view", () => {
  it("no line is wider than the terminal, or every redraw would leave a part of it", async () => {
    const ids = ["a-task-with-a-long-name", "another-task-with-a-long-name", "bad-one-with-a-long-name"];
    const cli = makeBatch(Object.fromEntries(ids.map((id) => [id, {}])));
    cli.task("bad-one-with-a-long-name").remove("rehearsal/planning");
    const columns = 50;
    const terminal = openTerminal([process.execPath, PROGRAM, "batch", ".", "--jobs", "3", "--until", "codegen"], {
      cwd: cli.dir,
      env: { ...cli.env, NO_COLOR: "1" },
      columns,
    });
    // What follows is the report.
    const drawn = (await terminal.see(" 3/3")).split(/\n|(?=[█░]{24})|(?=[✓•])/);
    await terminal.see("2 arrived, 1 failed");
    expect(await terminal.exitCode).toBe(1);
    expect(drawn.length).toBeGreaterThan(2 * ids.length);
    for (const line of drawn) expect(line.length, line).toBeLessThan(columns);
    expect(drawn.filter((line) => line.endsWith("…"))).not.toHaveLength(0);
  });
});

describe("a batch that was stopped goes on", () => {
  it("Ctrl-C: exit code 130, every task resumable, the second run completes", async () => {
    const cli = makeBatch({ a: { rehearsed: false }, b: { rehearsed: false }, c: { rehearsed: false } });
    const go = join(cli.root, "go");
    const command = cli.agent(
      "waiting",
      `fs.writeFileSync(${JSON.stringify(cli.root)} + "/at-" + env.PAWL_TASK, "");
      if (fs.existsSync(${JSON.stringify(go)})) leave(...(artifacts.plan ? ["plan", ${JSON.stringify(PLAN)}] : ["plan_review", ${JSON.stringify(OK)}]));
      else setInterval(() => undefined, 1000);`,
    );
    cli.config({ agents: { default: { command } } });
    const running = cli.start("batch", ".", "--jobs", "2", ...UNTIL);
    await Promise.all(["a", "b"].map((id) => appears(join(cli.root, `at-${id}`))));
    running.interrupt();
    const result = await running.finished;
    expect(result.code, result.stderr).toBe(130);
    expect(outcomes(result)).toEqual({ a: "stopped", b: "stopped", c: "stopped" });
    for (const id of ["a", "b"]) expect(cli.pawl("verify", id).code).toBe(0);
    cli.write("../go", "");
    const second = cli.pawl("batch", ".", ...UNTIL);
    expect(second.code, second.stdout).toBe(0);
    expect(runsOf(cli.task("a"))).toMatchObject({ planning: 2, plan_review: 1 });
    // The interrupted run was no failure.
    expect(cli.task("a").readJson("state.json")).toMatchObject({ actors: { planning: { failures: 0 } } });
  });

  it("kill -9 in the middle: the second run completes all, and nothing that was completed is done again", async () => {
    const ids = ["s1", "s2", "s3", "s4"];
    const cli = makeSamples(ids);
    const running = cli.start("batch", ".", "--jobs", "2", "--until", "accept");
    // In the middle: one task has come to its review.
    const reviewed = (): boolean => ids.some((id) => existsSync(join(cli.task(id).dir, "review/runs/1")));
    while (!reviewed()) await new Promise((resolve) => setTimeout(resolve, 1));
    process.kill(running.pid, "SIGKILL");
    expect((await running.finished).code).toBeNull();
    const completed = Object.fromEntries(ids.map((id) => [id, completedRuns(cli.task(id))]));
    expect(Object.values(completed).flat().length).toBeGreaterThan(0);

    const second = cli.pawl("batch", ".", "--jobs", "2", "--until", "accept", "--json");
    expect(second.code, second.stdout).toBe(0);
    for (const id of ids) {
      const task = cli.task(id);
      const runs = completedRuns(task);
      // What was completed stays the beginning of the story; no run is in it twice.
      expect(runs.slice(0, completed[id]?.length), id).toEqual(completed[id]);
      expect(new Set(runs).size, id).toBe(runs.length);
      expect(cli.pawl("verify", id).code, id).toBe(0);
      const repo = { cwd: join(task.dir, "repo") };
      // A commit for each change, and none twice.
      const commits = cli.git("log", "--format=%T", `main..pawl/${id}`, repo).split("\n");
      expect(new Set(commits).size, id).toBe(commits.length);
      expect(cli.pawl("answer", "accepted", "--note", "x", id).code).toBe(0);
      expect(cli.git("rev-list", "--count", "--merges", "main", repo), id).toBe("1");
    }
    const third = cli.pawl("batch", ".", "--json");
    expect(third.code).toBe(0);
    expect(reportIn(third).tasks.every(({ steps }) => steps === 0)).toBe(true);
  });
});

/** Copies of the sample task, without anything that a run left in it. */
function makeSamples(ids: string[]): Cli {
  const cli = makeCli({ git: false, config: null });
  for (const id of ids) {
    for (const part of ["task.md", "rehearsal"])
      cpSync(join(PACKAGE, "tasks/add-slugify", part), join(cli.task(id).dir, part), { recursive: true });
  }
  return cli;
}

/** `planning 1` and so on: the runs that the history says were finished, in order. */
function completedRuns(task: TaskFiles): string[] {
  const file = join(task.dir, "history.jsonl");
  if (!existsSync(file)) return [];
  const started: Record<string, number> = {};
  const completed: string[] = [];
  for (const line of readFileSync(file, "utf8").trimEnd().split("\n")) {
    let event: { type: string; from?: string; data?: { run?: number; finished?: object } };
    try {
      event = JSON.parse(line) as typeof event;
    } catch {
      continue; // Killed while it wrote this line.
    }
    const phase = event.from ?? "";
    if (event.type === "run.started") started[phase] = event.data?.run ?? 0;
    if (event.type === "run.finished" || event.data?.finished !== undefined)
      completed.push(`${phase} ${started[phase] ?? 0}`);
  }
  return completed;
}

describe("what a batch leaves behind", () => {
  it("no lock, no worktree of a task that has ended", () => {
    const cli = makeSamples(["one"]);
    expect(cli.pawl("batch", ".", "--until", "accept").code).toBe(0);
    expect(cli.pawl("answer", "accepted", "--note", "x", "one").code).toBe(0);
    const worktrees = join(cli.dir, ".pawl/worktrees");
    expect(existsSync(worktrees) ? readdirSync(worktrees) : []).toEqual([]);
  });
});
