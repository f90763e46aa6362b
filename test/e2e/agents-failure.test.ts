/** The ways in which an agent fails: each with its own reason, each counted, each bounded. */
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { appears, makeCli, makeTask, OK, type Cli, type TaskFiles } from "../support/cli.js";

interface Expected {
  kind: string;
  reason: RegExp;
  outcome: string;
  exitCode: number | null;
  code?: number;
}

/** A task in plan_review whose reviewer is this program; nobody may see a repository, so that it is quick. */
function makeReviewer(agent: (cli: Cli) => { command: string[]; timeout?: string }): { cli: Cli; task: TaskFiles } {
  const cli = makeCli({ git: false });
  const task = makeTask(cli, "plan_review");
  cli.config({ agents: { default: { ...agent(cli), repairs: 0 } } });
  return { cli, task };
}

function expectFailure({ cli, task }: { cli: Cli; task: TaskFiles }, expected: Expected): void {
  const step = cli.pawl("next", "--json");
  expect(step.code, step.stdout).toBe(expected.code ?? 4);
  expect(step.json().error.message).toMatch(/^plan_review failed \(attempt 1\): /);
  expect(step.json().error.message).toMatch(expected.reason);
  const event = cli.pawl("history", "--json").json().events.at(-1);
  expect(event).toMatchObject({ from: "plan_review", to: "plan_review", data: { kind: expected.kind } });
  expect(event?.data?.["failure"]).toMatch(expected.reason);
  expect(task.readJson("state.json")).toMatchObject({
    phase: "plan_review",
    actors: { plan_review: { status: "failed", runs: 1, failures: 1 } },
  });
  expect(task.has("review/plan-review.json")).toBe(false);
  const result = task.readJson("plan_review/runs/1/result.json");
  expect(result).toMatchObject({
    outcome: expected.outcome,
    exitCode: expected.exitCode,
    attempt: 1,
    repair: 0,
    role: "plan_reviewer",
    phase: "plan_review",
    cost: "unknown",
    inputTokens: "unknown",
    outputTokens: "unknown",
  });
  expect(Number.isInteger(result["durationMs"])).toBe(true);
  expect(Object.keys(result["artifacts"] as object)).toEqual(["plan_review"]);
}

const LEAVE_OK = `leave("plan_review", ${JSON.stringify(OK)});`;

describe("each failure has its own reason", () => {
  it("a crash", () => {
    const given = makeReviewer((cli) => ({ command: cli.agent("a", `console.error("no network"); process.exit(3);`) }));
    expectFailure(given, { kind: "crashed", reason: /the agent exited with 3$/, outcome: "crashed", exitCode: 3 });
    expect(given.task.read("plan_review/runs/1/output.log")).toBe("no network\n");
    expect(given.task.readJson("plan_review/runs/1/result.json")["artifacts"]).toEqual({ plan_review: null });
  });

  it("ended by a signal", () => {
    const given = makeReviewer((cli) => ({ command: cli.agent("a", `process.kill(process.pid, "SIGKILL");`) }));
    expectFailure(given, { kind: "crashed", reason: /ended by SIGKILL$/, outcome: "crashed", exitCode: null });
  });

  it("nothing left, though all seemed well", () => {
    const given = makeReviewer(() => ({ command: ["true"] }));
    const reason = /plan-review\.json is missing: the agent ended without leaving it$/;
    expectFailure(given, { kind: "no-artifact", reason, outcome: "finished", exitCode: 0 });
  });

  it("a program that is not there", () => {
    const given = makeReviewer(() => ({ command: ["no-such-agent-anywhere"] }));
    const reason = /the agent's program no-such-agent-anywhere was not found$/;
    expectFailure(given, { kind: "not-found", reason, outcome: "not-found", exitCode: null });
  });

  it("a program that is neither in the workspace nor in the worktree", () => {
    const given = makeReviewer(() => ({ command: ["./no-such-agent.sh"] }));
    const { cli, task } = given;
    const reason = new RegExp(
      `program \\./no-such-agent\\.sh was not found, neither in the workspace ${cli.dir} nor in its working directory ${task.dir}$`,
    );
    expectFailure(given, { kind: "not-found", reason, outcome: "not-found", exitCode: null });
  });

  it("a script whose interpreter is not there", () => {
    const given = makeReviewer(() => ({ command: ["./my-agent.sh"] }));
    given.cli.write("my-agent.sh", "#!/no/such/shell\n");
    const script = join(given.cli.dir, "my-agent.sh");
    chmodSync(script, 0o755);
    const reason = new RegExp(
      `program ${script} is there, but the interpreter that its first line names was not found$`,
    );
    expectFailure(given, { kind: "not-found", reason, outcome: "not-found", exitCode: null });
  });

  it("a prompt that is too long for an argument", () => {
    const given = makeReviewer(() => ({ command: ["echo", "{prompt}"] }));
    given.cli.write("system/agents/plan_reviewer.md", `Review it. ${"x".repeat(1 << 20)}\n`);
    const reason =
      /its prompt of \d+ bytes is too long for an argument; leave \{prompt\} out of its command, and the prompt comes on standard input$/;
    expectFailure(given, { kind: "not-found", reason, outcome: "not-found", exitCode: null });
  });

  it("a valid artifact and another exit code than 0: it does not count", () => {
    const given = makeReviewer((cli) => ({ command: cli.agent("a", `${LEAVE_OK} process.exit(9);`) }));
    const reason = /exited with 9, so that the review\/plan-review\.json it left does not count$/;
    expectFailure(given, { kind: "crashed-with-artifact", reason, outcome: "crashed", exitCode: 9 });
    // It is kept, with the hash that the record names.
    const kept = readFileSync(join(given.task.dir, "plan_review/runs/1/archive/plan-review.json"));
    expect(given.task.readJson("plan_review/runs/1/result.json")["artifacts"]).toEqual({
      plan_review: createHash("sha256").update(kept).digest("hex"),
    });
  });

  it("an artifact that does not fit", () => {
    const given = makeReviewer((cli) => ({
      command: cli.agent("a", `leave("plan_review", { ...${JSON.stringify(OK)}, ok: "yes" });`),
    }));
    const reason = /review\/plan-review\.json: \/ok expected .*found "yes"/;
    expectFailure(given, { kind: "invalid-artifact", reason, outcome: "finished", exitCode: 0, code: 3 });
  });

  it("a time limit: the agent, its child and its grandchild are ended", async () => {
    const given = makeReviewer((cli) => ({
      // The shells stay, so that there is a child and a grandchild; none listens to a polite word.
      command: ["sh", "-c", `trap '' TERM; sh -c "trap '' TERM; sleep 600 & echo \\$! > ${cli.root}/pid; wait" & wait`],
      timeout: "2s",
    }));
    const reason = /the agent was ended after its time limit of 2000 ms$/;
    expectFailure(given, { kind: "timeout", reason, outcome: "timeout", exitCode: null });
    await appears(join(given.cli.root, "pid"));
    const pid = Number(given.cli.read("../pid"));
    while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});

it("a program beside pawl.json is run from there, though the task works in a worktree that does not have it", () => {
  const cli = makeCli();
  const task = makeTask(cli, "review");
  const [, script = ""] = cli.agent("mine", `leave("code_review", ${JSON.stringify(OK)}); console.log(process.cwd());`);
  cli.write("my-agent.sh", `#!/bin/sh\nexec ${process.execPath} ${script}\n`);
  chmodSync(join(cli.dir, "my-agent.sh"), 0o755);
  cli.config({ agents: { default: { command: ["./my-agent.sh"] } } });
  const step = cli.pawl("next", "--json");
  expect(step.code, step.stdout).toBe(0);
  expect(existsSync(join(task.worktree, "my-agent.sh"))).toBe(false);
  expect(task.read("review/runs/1/output.log")).toBe(`${task.worktree}\n`);
});

/** Ended, though nobody may have collected it yet. */
function isRunning(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && !/\) Z /.test(readFileSync(stat, "utf8"));
}

describe("failures are bounded", () => {
  const failingBy = (modes: Record<number, string>) =>
    makeReviewer((cli) => ({
      command: cli.agent(
        "failing",
        `(${JSON.stringify(modes)}[env.PAWL_ATTEMPT] ?? "crash") === "crash" ? process.exit(1) : 0;`,
      ),
    }));

  it("the same one twice in a row is for a human, not for a third try", () => {
    const { cli, task } = failingBy({});
    expect(cli.pawl("next").code).toBe(4);
    const second = cli.pawl("next", "--json");
    expect(second.code).toBe(10);
    expect(second.json().error).toMatchObject({
      kind: "halted",
      message: expect.stringContaining("t1 now waits for a human") as string,
      hint: 'pawl resume --note "…" t1',
    });
    expect(cli.pawl("status", "--json").json().waiting).toMatch(/failed twice in the same way/);
    expect(cli.pawl("next").code).toBe(10);
    expect(task.has("plan_review/runs/3")).toBe(false);
  });

  it("another one in between, and it may go on to limits.attempts", () => {
    const { cli, task } = failingBy({ 2: "nothing" });
    expect(cli.pawl("next", "--auto").code).toBe(10);
    expect(cli.pawl("status", "--json").json()).toMatchObject({
      waiting: expect.stringMatching(/as often as the limits allow/) as string,
      actor: { runs: 3 },
    });
    const kinds = cli
      .pawl("history", "--json")
      .json()
      .events.flatMap(({ data }) => (data?.["kind"] === undefined ? [] : [data["kind"]]));
    expect(kinds).toEqual(["crashed", "no-artifact", "crashed"]);
    expect(task.has("plan_review/runs/4")).toBe(false);
  });

  it("after a human's note it starts to count anew, and the agent reads the note", () => {
    const { cli, task } = failingBy({});
    expect(cli.pawl("next", "--auto").code).toBe(10);
    expect(cli.pawl("resume", "--note", "use the other network", "--json").json().waiting).toBeNull();
    expect(cli.pawl("next").code).toBe(4);
    expect(task.read("plan_review/runs/3/prompt.md")).toContain("use the other network");
    expect(task.read("plan_review/runs/3/prompt.md")).toContain("the agent exited with 1");
  });
});
