/** Whoever reads what pawl prints goes away: `pawl … | head -1`. */
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { makeCli, makeTask, PROGRAM, type Cli } from "../support/cli.js";

/** The exit code of pawl itself, its output cut off after the first line. */
function firstLineOf(cli: Cli, ...words: string[]): { code: number | null; line: string } {
  const script = '"$@" 2>&1 | head -1; exit "${PIPESTATUS[0]}"';
  const result = spawnSync("bash", ["-c", script, "bash", process.execPath, PROGRAM, ...words], {
    cwd: cli.dir,
    env: cli.env,
    encoding: "utf8",
  });
  return { code: result.status, line: result.stdout };
}

describe("a pipe that is closed", () => {
  it("interrupts work under way, which is recorded and can go on", () => {
    const cli = makeCli({ git: false });
    makeTask(cli);
    const command = cli.agent("chatty", 'setInterval(() => console.log("still at it"), 5);');
    cli.config({ agents: { default: { command } } });
    expect(firstLineOf(cli, "next", "t1", "--auto")).toEqual({ code: 130, line: "still at it\n" });
    expect(cli.pawl("history", "t1", "--json").json().events.at(-1)?.type).toBe("run.interrupted");
    const again = cli.pawl("next", "t1", { env: { PAWL_AGENT: "rehearsal" } });
    expect(again.code, again.stderr).toBe(0);
  });

  it("is nothing to a command that is done: it ends with its own code", () => {
    const cli = makeCli({ git: false });
    for (let count = 0; count < 300; count++)
      cli.task(`t${count}`).write("task.md", `---\ntitle: ${"long ".repeat(100)}\n---\n`);
    expect(firstLineOf(cli, "tasks").code).toBe(0);
    expect(firstLineOf(cli, "status", "nowhere").code).toBe(2);
  });
});
