/** What lies in a task directory is anybody's: pawl neither waits for it, nor follows it, nor writes through it. */
import { spawnSync } from "node:child_process";
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeCli, makeTask, PROGRAM, type Cli } from "../support/cli.js";

const LONGEST_MS = 20_000;

/** As a user would call it, but ended when it does not end by itself. */
function call(cli: Cli, ...args: string[]): { code: number | null; stderr: string } {
  const options = { cwd: cli.dir, env: cli.env, encoding: "utf8", timeout: LONGEST_MS, killSignal: "SIGKILL" } as const;
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], options);
  return { code: status, stderr };
}

describe("in the place of a file of the task", () => {
  it.each([
    ["state.json", "next"],
    ["history.jsonl", "next"],
    ["history.jsonl", "status"],
    ["history.jsonl", "history"],
    ["transcript.jsonl", "next"],
    ["transcript.jsonl", "transcript"],
    ["review/plan-review.json", "next"],
  ])("a pipe instead of %s keeps `pawl %s` waiting for nobody", (file, command) => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    const path = join(task.dir, file);
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true });
    expect(spawnSync("mkfifo", [path]).status).toBe(0);
    const { code, stderr } = call(cli, command, "t1");
    expect(code, stderr).toBe(3);
    expect(stderr).toContain(file);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(lstatSync(path).isFIFO()).toBe(true);
  });

  it.each(["state.json", "history.jsonl", "transcript.jsonl"])(
    "a link instead of %s is refused before anything happens, and what it leads to stays as it is",
    (file) => {
      const cli = makeCli();
      const task = makeTask(cli, "plan_review");
      const path = join(task.dir, file);
      const elsewhere = join(cli.root, "theirs");
      renameSync(path, elsewhere);
      symlinkSync(elsewhere, path);
      // That it was refused may be written down; nothing else is.
      const records = [join(task.dir, "state.json"), join(task.dir, "history.jsonl"), elsewhere];
      const before = records.map((record) => readFileSync(record, "utf8"));
      const { code, stderr } = call(cli, "next", "t1");
      expect(code, stderr).toBe(3);
      expect(stderr).toContain(file);
      expect(stderr).toContain("symbolic link");
      expect(records.map((record) => readFileSync(record, "utf8"))).toEqual(before);
      expect(lstatSync(path).isSymbolicLink()).toBe(true);
    },
  );

  it("a directory instead of task.md is named", () => {
    const cli = makeCli();
    const task = makeTask(cli);
    rmSync(join(task.dir, "task.md"));
    task.write("task.md/x", "");
    const { code, stderr } = call(cli, "next", "t1");
    expect(code, stderr).toBe(3);
    expect(stderr).toContain("task.md cannot be read: a directory");
  });
});

describe("an adoption", () => {
  it("makes no stale review count again", () => {
    const cli = makeCli();
    const task = makeTask(cli, "codegen");
    const plan = JSON.parse(task.read("planning/plan.json")) as Record<string, unknown>;
    task.write("planning/plan.json", { ...plan, summary: "something else altogether" });
    writeFileSync(join(task.dir, "state.json"), task.read("state.json").replace('"revision": ', '"revision": 1'));
    expect(call(cli, "verify", "--adopt", "an editor's slip", "t1").code).toBe(0);
    const { code, stderr } = call(cli, "next", "t1");
    expect(code).not.toBe(0);
    expect(stderr).toContain("review/plan-review.json is stale");
  });
});

describe("a link that an agent leaves", () => {
  it("in the place of a folder leads no file of pawl's out of the task directory", () => {
    const cli = makeCli();
    const task = makeTask(cli, "codegen");
    const outside = join(cli.root, "precious");
    mkdirSync(outside);
    writeFileSync(join(outside, "diff.patch"), "theirs");
    const body = `fs.writeFileSync("hello.txt", "hello"); fs.symlinkSync(${JSON.stringify(outside)}, path.join(env.PAWL_TASK_DIR, "code"));`;
    cli.config({ agents: { coder: { command: cli.agent("coder", body) } } });
    const result = cli.pawl("next", "--json");
    expect(result.code).toBe(3);
    expect(result.json().error.message).toContain("code is a symbolic link");
    expect(readFileSync(join(outside, "diff.patch"), "utf8")).toBe("theirs");
    expect(task.readJson("state.json")).toMatchObject({ phase: "codegen" });
  });
});
