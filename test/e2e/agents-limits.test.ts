/** Agents that misbehave while they run: too much output, children that outlive them, files that are not theirs or none. */
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, truncateSync } from "node:fs";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { identifyProcess, livenessOf } from "../../src/process/identity.js";
import { appears, makeCli, makeTask, OK, PLAN, PROGRAM, type Cli, type TaskFiles } from "../support/cli.js";

const LEAVE_OK = `leave("plan_review", ${JSON.stringify(OK)});`;

describe("output", () => {
  it("of 200 MB goes to the disk, complete, and not into memory", () => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli, "plan_review");
    const command = cli.agent(
      "talkative",
      `${LEAVE_OK}
      const piece = Buffer.alloc(1 << 20, "x");
      for (let count = 0; count < 200; count++) for (let at = 0; at < piece.length; ) {
        try { at += fs.writeSync(1, piece, at); } catch (error) { if (error.code !== "EAGAIN") throw error; }
      }
      fs.writeSync(1, "the end\\n");`,
    );
    cli.config({ agents: { default: { command } } });
    // Not enough for what is printed, were it kept; what node itself holds besides the heap is not counted by this.
    const step = cli.pawl("next", "--json", { env: { NODE_OPTIONS: "--max-old-space-size=64" } });
    expect(step.code, step.stderr).toBe(0);
    expect(step.json().to).toBe("codegen");
    const log = join(task.dir, "plan_review/runs/1/output.log");
    expect(statSync(log).size).toBe(200 * (1 << 20) + "the end\n".length);
    expect(tail(log, 9)).toBe("xthe end\n");
    truncateSync(log);
    // The records stay small.
    expect(statSync(join(task.dir, "plan_review/runs/1/result.json")).size).toBeLessThan(2000);
    expect(statSync(join(task.dir, "transcript.jsonl")).size).toBeLessThan(100_000);
  });

  it("that nobody reads in time is left out of what is shown, and is in the log", async () => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli, "plan_review");
    const printed = 32 << 20;
    const command = ["sh", "-c", `head -c ${printed} /dev/zero | tr '\\0' x; exit 3`];
    cli.config({ agents: { default: { command } } });
    const pawl = spawn(process.execPath, [PROGRAM, "next"], {
      cwd: cli.dir,
      env: cli.env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    await appears(join(task.dir, "plan_review/runs/1/result.json"));
    let shown = "";
    pawl.stderr.setEncoding("utf8").on("data", (text: string) => (shown += text));
    const code = await new Promise((resolve) => pawl.once("close", resolve));
    expect(code).toBe(4);
    expect(shown.length).toBeLessThan(printed / 4);
    expect(shown).toContain("the agent exited with 3");
    expect(statSync(join(task.dir, "plan_review/runs/1/output.log")).size).toBe(printed);
  });

  /** Prints a verdict with so many bytes of reasons. */
  const printing = (bytes: number): { cli: Cli; task: TaskFiles } => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli, "plan_review");
    const command = cli.agent(
      "talkative",
      `process.stdout.write(JSON.stringify({ ...${JSON.stringify(OK)}, reasons: ["x".repeat(${bytes})] }));`,
    );
    cli.config({ agents: { default: { command } } });
    return { cli, task };
  };

  it("that is an artifact may be as large as one", () => {
    const { cli, task } = printing(15 << 20);
    const step = cli.pawl("next", "--json");
    expect(step.code, step.stdout).toBe(0);
    expect((task.readJson("review/plan-review.json")["reasons"] as string[])[0]).toHaveLength(15 << 20);
  });

  it("that lost its middle is no artifact", () => {
    const { cli } = printing(17 << 20);
    const step = cli.pawl("next", "--json");
    expect(step.code).toBe(4);
    expect(step.json().error.message).toContain("the agent ended without leaving it");
  });
});

function tail(file: string, length: number): string {
  return readFileSync(file).subarray(-length).toString();
}

describe("a server that outlives its agent", () => {
  it("holds up nobody, and is left alone", async () => {
    const cli = makeCli({ git: false });
    makeTask(cli, "plan_review");
    // It keeps the agent's standard output open, which is what would hang a naive parent.
    const command = cli.agent(
      "forking",
      `const server = require("node:child_process").spawn(process.execPath,
        ["-e", "require('node:net').createServer().listen(0, '127.0.0.1')"], { stdio: "inherit", detached: true });
      fs.writeFileSync(${JSON.stringify(join(cli.root, "server"))}, String(server.pid));
      server.unref();
      ${LEAVE_OK}`,
    );
    cli.config({ agents: { default: { command } } });
    const step = cli.pawl("next", "--json");
    await appears(join(cli.root, "server"));
    const pid = Number(cli.read("../server"));
    onTestFinished(() => void process.kill(pid, "SIGKILL"));
    expect(step.code, step.stderr).toBe(0);
    expect(step.json().to).toBe("codegen");
    expect(existsSync(`/proc/${pid}`)).toBe(true);
  });
});

describe.runIf(process.platform === "linux")("an agent whose child leaves its process group", () => {
  /** A child in a session of its own; the agent waits for ever. */
  const runaway = (cli: Cli): string[] =>
    cli.agent(
      "runaway",
      `const child = require("node:child_process").spawn("sleep", ["1000"], { stdio: "ignore", detached: true });
      fs.writeFileSync(${JSON.stringify(join(cli.root, "child.new"))}, String(child.pid));
      fs.renameSync(${JSON.stringify(join(cli.root, "child.new"))}, ${JSON.stringify(join(cli.root, "child"))});
      setInterval(() => {}, 1 << 30);`,
    );
  const expectEnded = async (cli: Cli): Promise<void> => {
    const child = identifyProcess(Number(cli.read("../child")));
    while (child !== undefined && livenessOf(child) !== "gone") await new Promise((resolve) => setTimeout(resolve, 5));
  };

  it("is ended with it at its time limit", async () => {
    const cli = makeCli({ git: false });
    makeTask(cli, "plan_review");
    cli.config({ agents: { default: { command: runaway(cli), timeout: "2s" } } });
    expect(cli.pawl("next", "--json").json().error.message).toContain("time limit");
    await expectEnded(cli);
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("is ended with it by %s, and that is on record", async (signal) => {
    const cli = makeCli({ git: false });
    makeTask(cli, "plan_review");
    cli.config({ agents: { default: { command: runaway(cli) } } });
    const running = cli.start("next");
    await appears(join(cli.root, "child"));
    process.kill(running.pid, signal);
    const { code, stderr } = await running.finished;
    expect(code, stderr).toBe(130);
    await expectEnded(cli);
    expect(cli.pawl("history", "--json").json().events.at(-1)).toMatchObject({ type: "run.interrupted" });
  });

  it("is ended with it when its pawl was killed, by the next one", async () => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli, "plan_review");
    cli.config({ agents: { default: { command: runaway(cli) } } });
    const running = cli.start("next");
    await appears(join(cli.root, "child"));
    process.kill(running.pid, "SIGKILL");
    await running.finished;
    // Nothing that the agent could take away is needed for that.
    for (const file of readdirSync(join(task.dir, "plan_review/runs/1"))) task.remove(`plan_review/runs/1/${file}`);
    cli.config({});
    expect(cli.pawl("next").code).toBe(1);
    await expectEnded(cli);
  });
});

describe("an agent that leaves something else than a file", () => {
  const leaving = (body: string): { cli: Cli; task: TaskFiles } => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli, "plan_review");
    const prelude = `const { execFileSync } = require("node:child_process");
      const fifo = (place) => { fs.rmSync(place, { force: true }); execFileSync("mkfifo", [place]); };
      const link = (place) => { fs.rmSync(place, { force: true }); fs.symlinkSync(${JSON.stringify(join(cli.root, "elsewhere"))}, place); };
      const runDir = path.dirname(env.PAWL_PROMPT_FILE);`;
    cli.config({ agents: { default: { command: cli.agent("odd", `${prelude}\n${body}`), repairs: 0 } } });
    return { cli, task };
  };

  it.each(["fifo", "link"])("as its artifact (%s) fails, and what it prints is not written through it", (kind) => {
    const { cli } = leaving(`${kind}(artifacts.plan_review); console.log(${JSON.stringify(JSON.stringify(OK))});`);
    const step = cli.pawl("next", "--json");
    expect(step.code, step.stdout).not.toBe(0);
    expect(step.json().error.message).toMatch(/plan-review\.json/);
    expect(existsSync(join(cli.root, "elsewhere"))).toBe(false);
    expect(cli.pawl("status", "--json").json().phase).toBe("plan_review");
  });

  it.each(["fifo", "link"])("in the place of its records (%s): they are written, and nowhere else", (kind) => {
    const { cli, task } = leaving(
      `for (const name of ["result.json", "output.log", "prompt.md"]) ${kind}(path.join(runDir, name));
      const next = path.join(runDir, "..", "2");
      fs.mkdirSync(next);
      for (const name of ["result.json", "output.log", "prompt.md"]) ${kind}(path.join(next, name));`,
    );
    expect(cli.pawl("next").code).toBe(4);
    expect(task.readJson("plan_review/runs/1/result.json")).toMatchObject({ outcome: "finished", attempt: 1 });
    cli.config({ agents: { default: { command: cli.agent("plain", `console.log("said"); ${LEAVE_OK}`) } } });
    const step = cli.pawl("next", "--json");
    expect(step.code, step.stdout).toBe(0);
    expect(task.readJson("plan_review/runs/2/result.json")).toMatchObject({ outcome: "finished", attempt: 2 });
    expect(lstatSync(join(task.dir, "plan_review/runs/2/prompt.md")).isFile()).toBe(true);
    expect(existsSync(join(cli.root, "elsewhere"))).toBe(false);
  });
});

describe("an agent that writes what is not its own gains nothing", () => {
  it("the test report", () => {
    const cli = makeCli();
    const task = makeTask(cli, "codegen");
    const report = { overall_pass: true, summary: { passed: 1, failed: 0, skipped: 0 }, suites: [] };
    const forge = `fs.mkdirSync(path.join(env.PAWL_TASK_DIR, "eval"), { recursive: true });
      fs.writeFileSync(path.join(env.PAWL_TASK_DIR, "eval/eval-report.json"), ${JSON.stringify(JSON.stringify(report))});`;
    cli.config({
      test: ["grep -q hello hello.txt"],
      limits: { test_rounds: 1 },
      agents: {
        coder: { command: cli.agent("coder", `fs.writeFileSync("hello.txt", "good bye\\n"); ${forge}`) },
        code_reviewer: { command: cli.agent("reviewer", `leave("code_review", ${JSON.stringify(OK)}); ${forge}`) },
      },
    });
    expect(cli.pawl("next", "--auto").code).toBe(10);
    expect(cli.pawl("status", "--json").json()).toMatchObject({
      phase: "test",
      waiting: expect.stringMatching(/tests failed/) as string,
    });
    expect(task.readJson("eval/eval-report.json")).toMatchObject({ overall_pass: false });
  });

  it("the state file", () => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli, "plan_review");
    const command = cli.agent(
      "forger",
      `const file = path.join(env.PAWL_TASK_DIR, "state.json");
      fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace('"phase": "plan_review"', '"phase": "accept"'));
      ${LEAVE_OK}`,
    );
    cli.config({ agents: { default: { command } } });
    expect(cli.pawl("next").code).toBe(3);
    // Nobody goes on from there by himself, and everybody is told.
    for (const args of [["next"], ["answer", "accepted"], ["verify"]]) expect(cli.pawl(...args).code, args[0]).toBe(3);
    const events = task
      .read("history.jsonl")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { to?: string });
    expect(events.filter(({ to }) => to === "accept" || to === "codegen")).toEqual([]);
  });

  it("its own verdict through pawl: an agent is no human", () => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli, "plan_review");
    const command = cli.agent(
      "climber",
      `const { spawnSync } = require("node:child_process");
      const codes = [["answer", "accepted"], ["override", "accept", "--reason", "x"], ["resume", "--note", "x"]].map(
        (args) => spawnSync("pawl", [...args, env.PAWL_TASK], { encoding: "utf8" }).status);
      fs.writeFileSync(${JSON.stringify(join(cli.root, "codes"))}, JSON.stringify(codes));
      process.exit(1);`,
    );
    cli.config({ agents: { default: { command } } });
    expect(cli.pawl("next").code).toBe(4);
    const codes = JSON.parse(cli.read("../codes")) as number[];
    expect(codes).toHaveLength(3);
    expect(codes).not.toContain(0);
    expect(task.readJson("state.json")).toMatchObject({ phase: "plan_review" });
  });

  it.each([
    {
      what: "an artifact of a phase that is not its own",
      file: "review/plan-review.json",
      content: { ...OK, reasons: ["I say so."] },
      expected: "plan_review",
    },
    {
      what: "another plan than was reviewed",
      file: "planning/plan.json",
      content: { ...PLAN, title: "Mine" },
      expected: "codegen",
    },
  ])("of another task: $what", ({ file, content, expected }) => {
    const cli = makeCli();
    const other = makeTask(cli, expected, "other");
    const before = hashOf(other);
    makeTask(cli, "plan_review");
    const command = cli.agent(
      "neighbour",
      `fs.mkdirSync(path.dirname(${JSON.stringify(join(other.dir, file))}), { recursive: true });
      fs.writeFileSync(${JSON.stringify(join(other.dir, file))}, ${JSON.stringify(JSON.stringify(content))});
      ${LEAVE_OK}`,
    );
    const coder = cli.agent("coder", `fs.writeFileSync("hello.txt", "hello\\n");`);
    cli.config({ agents: { default: { command }, coder: { command: coder } } });
    expect(cli.pawl("next", "t1", "--json").json().to).toBe("codegen");
    expect(hashOf(other)).toBe(before);
    expectGainedNothing(cli, expected, file);
  });
});

function hashOf(task: TaskFiles): string {
  return createHash("sha256").update(task.read("state.json")).digest("hex");
}

/** A verdict that lies there is a claim like any other; one whose plan was exchanged is stale. */
function expectGainedNothing(cli: Cli, phase: string, file: string): void {
  const status = cli.pawl("status", "other", "--json").json();
  expect(status.phase).toBe(phase);
  if (file !== "planning/plan.json") return;
  const next = cli.pawl("next", "other", "--json");
  expect(next.code, next.stdout).not.toBe(0);
  expect(next.json().error.message).toMatch(/plan/);
}
