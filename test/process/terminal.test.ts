import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openTerminal, type NotOpened, type Terminal, type TerminalOptions } from "../../src/process/terminal.js";
import { makeDirectory } from "../support/workspace.js";

const PATH = process.env["PATH"] ?? "";

interface Opened extends Terminal {
  bytes(): Buffer;
  shown(): string;
  /** Waits until the text has been shown. */
  see(text: string): Promise<void>;
}

function open(command: string[], more: Partial<TerminalOptions> = {}): Opened {
  const terminal = openTerminal(command, { cwd: process.cwd(), env: { PATH }, columns: 80, rows: 24, ...more });
  if ("outcome" in terminal) throw new Error(terminal.error);
  const chunks: Buffer[] = [];
  let check = (): void => undefined;
  terminal.onData((bytes) => {
    chunks.push(bytes);
    check();
  });
  onTestFinished(() => terminal.kill("SIGKILL"));
  const bytes = (): Buffer => Buffer.concat(chunks);
  const shown = (): string => bytes().toString("utf8");
  const see = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      check = () => (shown().includes(text) ? resolve() : undefined);
      check();
      void terminal.ended.then(() => reject(new Error(`it ended without showing ${text}: ${shown()}`)));
    });
  return { ...terminal, bytes, shown, see };
}

const shell = (script: string, more: Partial<TerminalOptions> = {}): Opened => open(["sh", "-c", script], more);

function refuse(command: string[], more: Partial<TerminalOptions> = {}): NotOpened {
  const terminal = openTerminal(command, { cwd: process.cwd(), env: { PATH }, columns: 80, rows: 24, ...more });
  if ("outcome" in terminal) return terminal;
  throw new Error("it was opened");
}

describe("a program in a terminal", () => {
  it("has a terminal of the size that was asked for, and sees it change", async () => {
    const terminal = shell("trap 'stty size; exit' WINCH; stty size; while :; do sleep 0.01; done");
    await terminal.see("24 80\r\n");
    terminal.resize(132, 50);
    await terminal.see("50 132\r\n");
    expect(await terminal.ended).toEqual({ exitCode: 0, signal: null });
  });

  it("gets what is typed", async () => {
    const terminal = shell("read line; echo got $line");
    terminal.write(Buffer.from("hello\r"));
    await terminal.see("got hello\r\n");
  });

  it("gets the given environment, without what is not defined, and the given directory", async () => {
    const cwd = makeDirectory();
    const terminal = shell("echo $TERM ${B-none}; pwd", { cwd, env: { PATH, TERM: "xterm-256color", B: undefined } });
    await terminal.ended;
    expect(terminal.shown()).toBe(`xterm-256color none\r\n${cwd}\r\n`);
  });

  it.each([0, 1, 3, 255])("ends with exit code %i", async (exitCode) => {
    expect(await shell(`exit ${exitCode}`).ended).toEqual({ exitCode, signal: null });
  });

  it("ends by a signal to its group, with what it started", async () => {
    const terminal = shell("sleep 1000 & echo ready; wait");
    await terminal.see("ready");
    terminal.kill("SIGTERM");
    expect(await terminal.ended).toEqual({ exitCode: null, signal: "SIGTERM" });
  });

  it("is given its bytes as they are", async () => {
    const terminal = shell("printf '\\303\\251\\377\\000|'");
    await terminal.ended;
    expect([...terminal.bytes()]).toEqual([0o303, 0o251, 0o377, 0, 0x7c]);
  });
});

describe("what is printed right before the exit", () => {
  const SIZE = 300_000;
  const script = `process.stdout.write("x".repeat(${SIZE - 4}) + "end.", () => process.exit(0))`;

  it.each(Array.from({ length: 8 }, (_, n) => n + 1))("arrives whole (%i)", async () => {
    const terminal = open([process.execPath, "-e", script]);
    await terminal.ended;
    expect(terminal.shown().length).toBe(SIZE);
    expect(terminal.shown().endsWith("end.")).toBe(true);
  });

  it("arrives whole though nobody read when it exited", async () => {
    // Less than the terminal takes by itself: the program can exit while nobody reads.
    const terminal = shell(`printf 'first\\n'; printf '%02000d' 7; printf ' last'`);
    terminal.pause();
    await terminal.ended;
    expect(terminal.shown()).toBe(`first\r\n${"7".padStart(2000, "0")} last`);
  });

  it("arrives whole though this process was busy when it exited", async () => {
    const file = join(makeDirectory(), "done");
    const terminal = shell(`printf '%02000d' 7; echo > ${file}`);
    while (!existsSync(file));
    const until = performance.now() + 400;
    while (performance.now() < until);
    await terminal.ended;
    expect(terminal.shown()).toBe("7".padStart(2000, "0"));
  });
});

describe("typing", () => {
  it("more than the program reads does not stop this process, and arrives when it does read", async () => {
    const go = join(makeDirectory(), "go");
    const line = `${"x".repeat(99)}\n`;
    const count = 2000;
    const terminal = shell(
      `stty raw -echo; echo ready; while [ ! -e ${go} ]; do sleep 0.01; done; head -c ${count * 100} | wc -c`,
    );
    await terminal.see("ready");
    terminal.write(Buffer.from(line.repeat(count)));
    writeFileSync(go, "");
    await terminal.see(`${count * 100}`);
    await terminal.ended;
  });
});

describe("a program that cannot be run is found out before anything is started", () => {
  it.each([
    ["a name that is nowhere on the PATH", ["pawl-no-such-program"]],
    ["a path where nothing is", ["./no/such/program"]],
    ["no name at all", [""]],
  ])("%s", (_what, command) => {
    expect(refuse(command)).toMatchObject({ outcome: "not-found" });
  });

  it("it is looked for on the PATH that the program would have", () => {
    const bin = join(makeDirectory(), "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "only-here"), "#!/bin/sh\n", { mode: 0o755 });
    expect(refuse(["only-here"])).toMatchObject({ outcome: "not-found" });
    expect(
      openTerminal(["only-here"], { cwd: "/", env: { PATH: `/nowhere:${bin}` }, columns: 80, rows: 24 }),
    ).toHaveProperty("pid");
  });

  it("a path is meant from its directory, and has to be executable", async () => {
    const cwd = makeDirectory();
    writeFileSync(join(cwd, "agent.sh"), "#!/bin/sh\necho here\n");
    expect(refuse(["./agent.sh"], { cwd })).toMatchObject({ outcome: "not-started" });
    chmodSync(join(cwd, "agent.sh"), 0o755);
    const terminal = open(["./agent.sh"], { cwd });
    await terminal.ended;
    expect(terminal.shown()).toBe("here\r\n");
  });

  it.each([
    ["a directory that is not there", ["sh"], { cwd: "/no/such/directory" }, "there is no directory"],
    ["a NUL in an argument", ["sh", "a\0b"], {}, "NUL"],
  ])("%s", (_what, command, more, error) => {
    expect(refuse(command, more)).toEqual({ outcome: "not-started", error: expect.stringContaining(error) as string });
  });

  it.runIf(process.platform === "linux")("an argument that is longer than the system takes", async () => {
    expect(refuse(["echo", "x".repeat(131_072)])).toEqual({
      outcome: "not-started",
      error: expect.stringContaining("E2BIG") as string,
    });
    const terminal = open(["sh", "-c", 'printf %s "$1" | wc -c', "sh", "x".repeat(131_071)]);
    await terminal.ended;
    expect(terminal.shown().trim()).toBe("131071");
  });

  it("arguments that are too long together are told from a program that exited with 1", async () => {
    const many = Array.from({ length: 40 }, () => "x".repeat(100_000));
    expect(await open(["echo", ...many]).ended).toMatchObject({
      refused: { outcome: "not-started", error: expect.stringContaining("E2BIG") as string },
    });
  });

  it("a script without its interpreter is told from one that exited with 1", async () => {
    const file = join(makeDirectory(), "agent");
    writeFileSync(file, "#!/no/such/interpreter\n", { mode: 0o755 });
    expect(await open([file]).ended).toMatchObject({ refused: { outcome: "not-found" } });
    expect(await shell("echo 'execvp(3) failed.: nothing'; exit 2").ended).toEqual({ exitCode: 2, signal: null });
  });
});
