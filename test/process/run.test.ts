import { execFileSync, spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
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

  describe.runIf(process.platform === "linux")("when its child has left its group", () => {
    /** A child in a session of its own, which tells its pid, and its parent, which goes on too. */
    const runaway = (file: string): string =>
      `setsid sh -c 'echo $$ > ${file}; while :; do sleep 1; done' & while :; do sleep 1; done`;

    it.each(["time limit", "interrupt"])("ends it too, by the variable that it carries: %s", async (why) => {
      const file = join(makeDirectory(), "pid");
      const stop = new AbortController();
      const running = shell(runaway(file), {
        env: { ...env, MARK: file },
        marker: "MARK",
        signal: stop.signal,
        ...(why === "time limit" ? { timeoutMs: 1500 } : {}),
      });
      const pid = Number(await contentOf(file));
      if (why === "interrupt") stop.abort();
      await running;
      await untilGone(pid);
    });

    it("ends nobody who carries another value, or the variable within another", async () => {
      const directory = makeDirectory();
      const others = [
        { MARK: "other" },
        { MARK: `${directory}-longer` },
        { NO: `MARK=${directory}` },
        { MARK: "" },
      ].map((more) => {
        const child = spawn("sleep", ["1000"], { env: { ...env, ...more }, detached: true });
        onTestFinished(() => void child.kill("SIGKILL"));
        return child.pid ?? 0;
      });
      const file = join(directory, "pid");
      const stop = new AbortController();
      const running = shell(runaway(file), { env: { ...env, MARK: directory }, marker: "MARK", signal: stop.signal });
      const pid = Number(await contentOf(file));
      stop.abort();
      await running;
      await untilGone(pid);
      for (const other of others) expect(identifyProcess(other)).toBeDefined();
    });

    it("leaves it alone where the command exits by itself", async () => {
      const file = join(makeDirectory(), "pid");
      const script = `setsid sh -c 'echo $$ > ${file}; exec sleep 1000' & while [ ! -s ${file} ]; do :; done`;
      const result = await shell(script, { env: { ...env, MARK: file }, marker: "MARK" });
      const pid = Number(await contentOf(file));
      onTestFinished(() => void process.kill(pid, "SIGKILL"));
      expect(result).toMatchObject({ outcome: "exited", exitCode: 0 });
      expect(identifyProcess(pid)).toBeDefined();
    });

    it("asks each of them once, and politely first", async () => {
      const directory = makeDirectory();
      const stop = new AbortController();
      const script = `require("node:child_process").spawn("sleep", ["1000"], { stdio: "ignore" });
        process.on("SIGTERM", () => { console.log("asked"); setTimeout(() => process.exit(0), 100); });
        console.log("ready"); setInterval(() => {}, 1000);`;
      const result = await node(script, {
        env: { ...env, MARK: directory },
        marker: "MARK",
        signal: stop.signal,
        onOutput: (text) => text.includes("ready") && stop.abort(),
      });
      expect(result).toMatchObject({ outcome: "interrupted", stdout: "ready\nasked\n" });
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

  it.each([300_000, 300_001, 450_000])(
    "of %i bytes keeps exactly its two ends, however small the pieces",
    async (size) => {
      const numbers = Array.from({ length: Math.ceil(size / 7) }, (_, n) => String(n).padStart(7, ".")).join("");
      const text = numbers.slice(0, size);
      const script = `const text = Array.from({ length: ${Math.ceil(size / 7)} }, (_, n) => String(n).padStart(7, ".")).join("").slice(0, ${size});
      for (let at = 0; at < text.length; at += 97) require("node:fs").writeSync(1, text.slice(at, at + 97));`;
      const { stdout, truncated } = await node(script, { keepBytes: 300_000 });
      expect(truncated).toBe(size > 300_000);
      const [head, tail] = stdout.split(/\n\[… .* …\]\n/);
      expect(head === (truncated ? text.slice(0, 150_000) : text)).toBe(true);
      expect(tail === (truncated ? text.slice(-150_000) : undefined)).toBe(true);
    },
  );

  it("of both streams comes into the log, and to whoever listens", async () => {
    const logFile = join(makeDirectory(), "output.log");
    const heard: string[] = [];
    await node(`process.stdout.write("o".repeat(300000)); process.stderr.write("e".repeat(300000));`, {
      logFile,
      onOutput: (text) => heard.push(text),
    });
    for (const text of [readFileSync(logFile, "utf8"), heard.join("")])
      expect([text.split("o").length - 1, text.split("e").length - 1]).toEqual([300_000, 300_000]);
  });

  it.each([
    ["a file", (place: string) => writeFileSync(place, "mine\n")],
    ["a pipe", (place: string) => execFileSync("mkfifo", [place])],
    ["a link to another file", (place: string) => symlinkSync(`${place}.other`, place)],
  ])("goes into no log where there is %s already, and says so", async (_what, put) => {
    const logFile = join(makeDirectory(), "output.log");
    writeFileSync(`${logFile}.other`, "");
    put(logFile);
    const before = lstatSync(logFile);
    const result = await shell("echo said", { logFile });
    expect(result).toMatchObject({ outcome: "exited", exitCode: 0, stdout: "said\n" });
    expect(result.error).toContain("EEXIST");
    expect(lstatSync(logFile)).toMatchObject({ ino: before.ino, size: before.size });
    expect(readFileSync(`${logFile}.other`, "utf8")).toBe("");
  });

  it("goes on into its log, though the command puts something else in its place", async () => {
    const logFile = join(makeDirectory(), "output.log");
    const result = await shell(`echo one; mv ${logFile} ${logFile}.moved; mkfifo ${logFile}; echo two`, { logFile });
    expect(result).toMatchObject({ outcome: "exited", exitCode: 0 });
    expect(readFileSync(`${logFile}.moved`, "utf8")).toBe("one\ntwo\n");
  });

  it.each([["pawl-no-such-program"], ["echo", "a\0b"]])(
    "of a command that never began leaves no log: %j",
    async (...command) => {
      const logFile = join(makeDirectory(), "output.log");
      await run(command, { cwd: process.cwd(), env, logFile });
      expect(existsSync(logFile)).toBe(false);
    },
  );

  it("that cannot be logged does not stop the command, nor pawl", async () => {
    const logFile = join(makeDirectory(), "nowhere", "output.log");
    const result = await node(`process.stdout.write("x".repeat(1000000))`, { logFile });
    expect(result).toMatchObject({ outcome: "exited", exitCode: 0, stdout: "x".repeat(1_000_000) });
    expect(result.error).toContain("nowhere");
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
