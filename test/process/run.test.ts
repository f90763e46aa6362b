import { closeSync, existsSync, openSync, readFileSync, readSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { identifyProcess, livenessOf } from "../../src/process/identity.js";
import { run, type RunOptions, type RunResult } from "../../src/process/run.js";
import { makeDirectory } from "../support/workspace.js";

const env = { PATH: process.env["PATH"] ?? "" };

function node(script: string, more: Partial<RunOptions> = {}): Promise<RunResult> {
  return run([process.execPath, "-e", script], { cwd: process.cwd(), env, ...more });
}

const shell = (script: string, more: Partial<RunOptions> = {}): Promise<RunResult> =>
  run(["sh", "-c", script], { cwd: process.cwd(), env, ...more });

/** Waits until a file has content: how a process says that it has got so far. */
async function contentOf(path: string): Promise<string> {
  while (!existsSync(path) || statSync(path).size === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  return readFileSync(path, "utf8").trim();
}

async function untilGone(pid: number): Promise<void> {
  const identity = identifyProcess(pid);
  while (identity !== undefined && livenessOf(identity) !== "gone")
    await new Promise((resolve) => setTimeout(resolve, 2));
}

describe("how a command ends", () => {
  it.each([0, 1, 3, 127, 255])("exit code %i", async (code) => {
    expect(await shell(`exit ${code}`)).toMatchObject({
      outcome: "exited",
      exitCode: code,
      signal: null,
      truncated: false,
    });
  });

  it("both streams, each in its order", async () => {
    const result = await node(`for (let n = 0; n < 2000; n++) { console.log("out " + n); console.error("err " + n); }`);
    const lines = (word: string): string => Array.from({ length: 2000 }, (_, n) => `${word} ${n}\n`).join("");
    expect(result.stdout).toBe(lines("out"));
    expect(result.stderr).toBe(lines("err"));
  });

  it("a signal from elsewhere", async () => {
    expect(await shell("kill -9 $$")).toMatchObject({ outcome: "exited", exitCode: null, signal: "SIGKILL" });
  });

  it("a program that is not there", async () => {
    const result = await run(["pawl-no-such-program"], { cwd: process.cwd(), env });
    expect(result).toMatchObject({ outcome: "not-found", exitCode: null, stdout: "", stderr: "" });
    expect(result.error).toContain("pawl-no-such-program");
  });

  it("a program that may not be run", async () => {
    const file = join(makeDirectory(), "plain.txt");
    writeFileSync(file, "text");
    expect(await run([file], { cwd: process.cwd(), env })).toMatchObject({ outcome: "not-started", exitCode: null });
  });

  it("a directory that is not there is not a program that is not there", async () => {
    const cwd = join(makeDirectory(), "nowhere");
    expect(await shell("true", { cwd })).toMatchObject({
      outcome: "not-started",
      error: `there is no directory ${cwd}`,
    });
  });

  it.each([
    ["too long", "x".repeat(3 * 1024 * 1024)],
    ["with a NUL", "a\0b"],
  ])("an argument that no process can be given: %s", async (_what, argument) => {
    const result = await run(["echo", argument], { cwd: process.cwd(), env });
    expect(result).toMatchObject({ outcome: "not-started", exitCode: null });
    expect(result.error).toBeTruthy();
  });

  it("no command at all is a mistake of the caller", () => {
    expect(() => run([], { cwd: process.cwd(), env })).toThrow(TypeError);
  });

  it("nothing but the given environment, and the given directory", async () => {
    const cwd = makeDirectory();
    const result = await node("console.log(process.cwd(), Object.keys(process.env).sort().join())", {
      cwd,
      env: { ...env, A: "1" },
    });
    expect(result.stdout.trim()).toBe(`${cwd} A,PATH`);
  });

  it("arguments as they are: no shell looks at them", async () => {
    const args = ["$HOME", "a b", "*", "'\"", "", "ü🦀", "; exit 3"];
    const result = await run(
      [process.execPath, "-e", "console.log(JSON.stringify(process.argv.slice(1)))", "--", ...args],
      { cwd: process.cwd(), env },
    );
    expect(JSON.parse(result.stdout)).toEqual(args);
  });
});

describe("standard input", () => {
  it("is given whole, and ended", async () => {
    const input = "ü🦀\n".repeat(100_000);
    expect((await run(["wc", "-c"], { cwd: process.cwd(), env, input })).stdout.trim()).toBe(
      String(Buffer.byteLength(input)),
    );
  });

  it("is empty where there is none", async () => {
    expect(await shell("cat; echo end")).toMatchObject({ stdout: "end\n", exitCode: 0 });
  });

  it("may be closed, or not read, by the command", async () => {
    const input = "x".repeat(5_000_000);
    expect(await shell("exec 0<&-; echo closed", { input })).toMatchObject({ stdout: "closed\n", exitCode: 0 });
    expect(await shell("echo unread", { input })).toMatchObject({ stdout: "unread\n", exitCode: 0 });
  });
});

describe("ending a command", () => {
  /** A command whose child, of the same group, outlives a polite word to its parent. */
  const family = (file: string, ignore = ""): string =>
    `sh -c '${ignore} echo $$ > ${file}; while :; do sleep 1; done' & ${ignore} wait; wait; while :; do sleep 1; done`;

  it("at its time limit, with all that it started", async () => {
    const file = join(makeDirectory(), "pid");
    const running = shell(family(file), { timeoutMs: 1500 });
    const pid = Number(await contentOf(file));
    expect(await running).toMatchObject({ outcome: "timeout", exitCode: null, signal: "SIGTERM" });
    await untilGone(pid);
  });

  it("on a word from the user, with all that it started", async () => {
    const file = join(makeDirectory(), "pid");
    const stop = new AbortController();
    const running = shell(family(file), { signal: stop.signal });
    const pid = Number(await contentOf(file));
    stop.abort();
    expect(await running).toMatchObject({ outcome: "interrupted", exitCode: null });
    await untilGone(pid);
  });

  it("that does not listen: first politely, then not", async () => {
    const file = join(makeDirectory(), "pid");
    const stop = new AbortController();
    const running = shell(family(file, 'trap "" TERM;'), { signal: stop.signal });
    const pid = Number(await contentOf(file));
    stop.abort();
    expect(await running).toMatchObject({ outcome: "interrupted", signal: "SIGKILL" });
    await untilGone(pid);
  });

  it("that cleans up after itself when it is asked: what it says then is kept", async () => {
    const stop = new AbortController();
    const running = node(
      `process.on("SIGTERM", () => { console.log("cleaned"); process.exit(0); }); console.log("ready"); setInterval(() => {}, 1000);`,
      { signal: stop.signal, onOutput: (text) => text.includes("ready") && stop.abort() },
    );
    expect(await running).toMatchObject({ outcome: "interrupted", exitCode: null, stdout: "ready\ncleaned\n" });
  });

  it("before it began", async () => {
    const stop = new AbortController();
    stop.abort();
    expect(await node("setInterval(() => {}, 1000)", { signal: stop.signal })).toMatchObject({
      outcome: "interrupted",
    });
  });

  it("leaves nobody listening", async () => {
    const before = process.listenerCount("exit");
    await Promise.all([shell("true"), run(["pawl-no-such-program"], { cwd: process.cwd(), env })]);
    expect(process.listenerCount("exit")).toBe(before);
  });
});

describe("a child that the command leaves behind", () => {
  it("does not keep it from ending, though it holds the pipes; and lives on", async () => {
    const file = join(makeDirectory(), "pid");
    const result = await shell(`sleep 1000 & echo $! > ${file}; echo done; exit 7`);
    const pid = Number(readFileSync(file, "utf8"));
    expect(result).toMatchObject({ outcome: "exited", exitCode: 7, stdout: "done\n" });
    expect(identifyProcess(pid)).toBeDefined();
    process.kill(pid, "SIGKILL");
  });
});

describe("much output", () => {
  it("is complete on the disk, and only its two ends are kept in memory", async () => {
    const directory = makeDirectory();
    const logFile = join(directory, "output.log");
    // 800,000 numbered lines of 64 bytes: about 50 MB.
    const lines = 800_000;
    const script = `let n = 0;
      const more = () => { while (n < ${lines}) if (!process.stdout.write(String(n++).padEnd(63, ".") + "\\n")) return process.stdout.once("drain", more); };
      more();`;
    const result = await node(script, { logFile, keepBytes: 10_000 });
    expect(result).toMatchObject({ outcome: "exited", exitCode: 0, truncated: true });
    expect(statSync(logFile).size).toBe(lines * 64);
    expect(result.stdout.length).toBeLessThan(10_200);
    expect(result.stdout.startsWith(`${"0".padEnd(63, ".")}\n${"1".padEnd(63, ".")}\n`)).toBe(true);
    expect(result.stdout.endsWith(`${String(lines - 1).padEnd(63, ".")}\n`)).toBe(true);
    expect(result.stdout).toContain("output left out here");
    expectInOrder(logFile, lines);
  });

  it("is not cut where it fits exactly", async () => {
    const result = await node(`process.stdout.write("x".repeat(1000))`, { keepBytes: 1000 });
    expect(result).toMatchObject({ stdout: "x".repeat(1000), truncated: false });
    expect(await node(`process.stdout.write("x".repeat(1001))`, { keepBytes: 1000 })).toMatchObject({
      truncated: true,
    });
  });

  it("of both streams comes into the log, after what is there already, and to whoever listens", async () => {
    const logFile = join(makeDirectory(), "output.log");
    writeFileSync(logFile, "before\n");
    const heard: string[] = [];
    await node(`process.stdout.write("o".repeat(300000)); process.stderr.write("e".repeat(300000));`, {
      logFile,
      onOutput: (text) => heard.push(text),
    });
    const log = readFileSync(logFile, "utf8");
    expect(log.startsWith("before\n")).toBe(true);
    for (const text of [log, heard.join("")])
      expect([text.split("o").length - 1, text.split("e").length - 1].map((n) => n >= 300_000)).toEqual([true, true]);
  });

  it("that cannot be logged does not stop the command, nor pawl", async () => {
    const logFile = join(makeDirectory(), "nowhere", "output.log");
    const result = await node(`process.stdout.write("x".repeat(1000000))`, { logFile });
    expect(result).toMatchObject({ outcome: "exited", exitCode: 0, stdout: "x".repeat(1_000_000) });
    expect(result.error).toContain("nowhere");
  });

  it("says when the process has started", async () => {
    const pids: number[] = [];
    const result = await node("console.log(process.pid)", { onStart: (pid) => pids.push(pid) });
    expect(pids).toEqual([Number(result.stdout)]);
  });
});

/** Reads the log piece by piece: each line has its number, in order. */
function expectInOrder(file: string, lines: number): void {
  const fd = openSync(file, "r");
  const piece = Buffer.alloc(64 * 4096);
  let next = 0;
  for (let length = readSync(fd, piece); length > 0; length = readSync(fd, piece)) {
    for (let at = 0; at < length; at += 64, next++) {
      const number = piece.toString("latin1", at, at + 8).replaceAll(".", "");
      if (number !== String(next)) throw new Error(`line ${next} is ${piece.toString("latin1", at, at + 64)}`);
    }
  }
  closeSync(fd);
  expect(next).toBe(lines);
}
