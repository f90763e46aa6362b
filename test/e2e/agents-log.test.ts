/** `log`: what the runs of a task printed. */
import { execFileSync } from "node:child_process";
import { appendFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeCli, makeTask, refuse, type Cli, type TaskFiles } from "../support/cli.js";

interface Log {
  task: string;
  phase: string;
  run: number;
  file: string;
  text: string;
}

/** Planned once; reviewed twice, by a reviewer that says which time it is and fails. */
function makeStory(): { cli: Cli; task: TaskFiles } {
  const cli = makeCli({ git: false });
  const task = makeTask(cli, "plan_review");
  const command = cli.agent("reviewer", `console.log("review " + env.PAWL_ATTEMPT); process.exit(1);`);
  cli.config({ agents: { default: { command } } });
  cli.pawl("next");
  cli.pawl("resume", "--note", "again");
  cli.pawl("next");
  return { cli, task };
}

const logOf = (cli: Cli, ...args: string[]): Log => cli.pawl("log", ...args, "--json").json() as unknown as Log;

describe("log", () => {
  it("is that of the newest run of the current phase, or of the phase and run that are named", () => {
    const { cli } = makeStory();
    expect(cli.pawl("log").stdout).toBe("review 2\n");
    expect(cli.pawl("log", "t1", "--run", "1").stdout).toBe("review 1\n");
    expect(cli.pawl("log", "--phase", "planning").stdout).toBe("rehearsed planning, attempt 1\n");
    expect(logOf(cli)).toEqual({
      task: "t1",
      phase: "plan_review",
      run: 2,
      file: "plan_review/runs/2/output.log",
      text: "review 2\n",
    });
  });

  it("is the newest of all where the phase has not been run", () => {
    const { cli } = makeStory();
    cli.pawl("override", "accept", "--reason", "trial");
    expect(logOf(cli)).toMatchObject({ phase: "plan_review", run: 2 });
  });

  it("of tests is that of the last command", () => {
    const cli = makeCli({ config: { test: ["echo one", "echo two; false"] } });
    makeTask(cli, "test");
    cli.pawl("next");
    expect(logOf(cli, "--phase", "test")).toMatchObject({ run: 1, file: "test/runs/1/2.log", text: "two\n" });
  });

  it("that is not there: says which there are", () => {
    const { cli } = makeStory();
    const { code, error } = refuse(cli, "log", "--phase", "codegen");
    expect(code).toBe(2);
    expect(error.message).toBe("there is no log of codegen; there are: planning 1; plan_review 1, 2");
    expect(refuse(cli, "log", "--run", "7").text).toContain("there is no log of run 7; there are: planning 1");
    makeTask(cli, "planning", "fresh");
    expect(refuse(cli, "log", "fresh").text).toContain("fresh has no log yet");
  });

  it("that is long comes whole as text, and its end as JSON", () => {
    const { cli, task } = makeStory();
    const log = join(task.dir, "plan_review/runs/2/output.log");
    for (let n = 0; n < 3; n++) appendFileSync(log, "ü".repeat(500_000));
    const whole = cli.pawl("log").stdout;
    expect(whole.length).toBe("review 2\n".length + 1_500_000);
    expect(whole).toMatch(/^review 2\nü+$/);
    expect(Buffer.byteLength(logOf(cli).text)).toBe(64 * 1024);
  });

  it("is read though the state cannot be trusted", () => {
    const { cli, task } = makeStory();
    task.write("state.json", task.read("state.json").replace('"phase": "plan_review"', '"phase": "done"'));
    expect(cli.pawl("log").stdout).toBe("review 2\n");
  });

  it.each([
    ["a pipe", (place: string) => execFileSync("mkfifo", [place])],
    ["a link", (place: string) => symlinkSync("/etc/hostname", place)],
  ])("that an agent replaced by %s is refused", (_what, put) => {
    const { cli, task } = makeStory();
    const log = join(task.dir, "plan_review/runs/2/output.log");
    rmSync(log);
    put(log);
    const { code, text } = refuse(cli, "log");
    expect(code).toBe(3);
    expect(text).toContain("plan_review/runs/2/output.log is not a plain file");
    writeFileSync(join(task.dir, "plan_review/runs/1/output.log"), "one\n");
    expect(cli.pawl("log", "--run", "1").stdout).toBe("one\n");
  });
});
