/**
 * A program in a pseudo-terminal of its own. It leads a session and a process group, so that ending the group ends it and
 * what it started. What goes through a terminal is for people: nothing that a machine reads is taken from it.
 */
import { closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { constants as os } from "node:os";
import type { IPty } from "node-pty";
import { messageOf } from "../errors.js";
import { findProgram } from "./find-program.js";
import { signalGroup } from "./marked.js";
import { Typed } from "./typed.js";

export interface TerminalOptions {
  cwd: string;
  /** The whole environment of the program. */
  env: Record<string, string | undefined>;
  columns: number;
  rows: number;
}

export interface Terminal {
  pid: number;
  /** Told once for all: from the first byte on. */
  onData(take: Take): void;
  /** As if it were typed. */
  write(bytes: Uint8Array): void;
  resize(columns: number, rows: number): void;
  /** What is not read makes the program wait. */
  pause(): void;
  resume(): void;
  /** Signals the program's group. */
  kill(signal: NodeJS.Signals): void;
  /** Everything that it printed has been told by then. */
  ended: Promise<TerminalEnd>;
}

export interface TerminalEnd {
  /** Null unless it exited by itself. */
  exitCode: number | null;
  signal: string | null;
  /** The system refused to run it. */
  refused?: NotOpened;
}

/** Named as the runner of processes names them. */
export interface NotOpened {
  outcome: "not-found" | "not-started";
  error: string;
}

/** The parts of the library's object that its types leave out. */
interface Pty extends Omit<IPty, "onData"> {
  fd: number;
  ptsName: string;
  _socket: { destroy(error?: Error): unknown; read(): Buffer | null };
  onData(take: Take): unknown;
}

type Take = (bytes: Buffer) => void;

/** Of one argument, on Linux; see execve(2). */
const LONGEST_ARGUMENT = process.platform === "linux" ? 128 * 1024 - 1 : Infinity;

export function openTerminal(command: readonly string[], options: TerminalOptions): Terminal | NotOpened {
  const { cwd, columns, rows } = options;
  const env = Object.fromEntries(Object.entries(options.env).filter(([, value]) => value !== undefined));
  // The library forks first: all that would go wrong after that looks like a program that exited with 1.
  const problem = whyNot(command, cwd, env["PATH"]);
  if (problem !== null) return problem;
  const [program = "", ...args] = command;
  let pty: Pty;
  try {
    const name = env["TERM"] ?? "xterm-256color";
    const made = library().spawn(program, args, { name, cols: columns, rows, cwd, env, encoding: null });
    pty = made as unknown as Pty;
  } catch (error) {
    return { outcome: "not-started", error: messageOf(error) };
  }
  return terminalOf(pty);
}

/** Why no terminal can be opened on this machine; null where one can. */
export function terminalProblem(): string | null {
  try {
    library();
    return null;
  } catch (error) {
    return messageOf(error).split("\n")[0] ?? "";
  }
}

/** Loaded late: it is a part of its own, built for one platform. */
function library(): typeof import("node-pty") {
  return createRequire(import.meta.url)("node-pty") as typeof import("node-pty");
}

function terminalOf(pty: Pty): Terminal {
  // While nobody holds the other side open, what was printed last is lost together with it.
  const other = openSync(pty.ptsName, constants.O_RDWR | constants.O_NOCTTY);
  const listeners: Take[] = [];
  const beginning: Buffer[] = [];
  let printed = 0;
  const tell: Take = (bytes) => {
    if (printed < LONGEST_REFUSAL) beginning.push(bytes);
    printed += bytes.length;
    for (const take of listeners) take(bytes);
  };
  pty.onData(tell);
  readAllBeforeTheEnd(pty, tell);
  const typed = new Typed(pty.fd);
  let isOpen = true;
  return {
    pid: pty.pid,
    onData: (take) => void listeners.push(take),
    write: (bytes) => typed.add(bytes),
    resize: (columns, rows) => {
      if (isOpen) pty.resize(columns, rows);
    },
    pause: () => pty.pause(),
    resume: () => pty.resume(),
    kill: (signal) => signalGroup(pty.pid, signal),
    ended: new Promise((resolve) => {
      pty.onExit(({ exitCode, signal = 0 }) => {
        isOpen = false;
        typed.close();
        closeSync(other);
        const refused = exitCode === 1 ? refusalIn(Buffer.concat(beginning).toString("utf8")) : null;
        if (signal !== 0) resolve({ exitCode: null, signal: nameOf(signal) });
        else resolve({ exitCode, signal: null, ...(refused === null ? {} : { refused }) });
      });
    }),
  };
}

/** Bounds what a program may print that goes on after it has exited. */
const MOST_AT_THE_END = 1024 * 1024;

/**
 * The library closes the terminal some time after the program has exited, whether all that lies in it was read or not: this
 * process may have been busy, or paused. What is left is read then and there.
 */
function readAllBeforeTheEnd(pty: Pty, tell: Take): void {
  const socket = pty._socket;
  const destroy = socket.destroy.bind(socket);
  let isDone = false;
  socket.destroy = (error) => {
    if (!isDone) {
      isDone = true;
      // What the stream has read already, it tells itself.
      while (socket.read() !== null);
      for (const bytes of restOf(pty.fd)) tell(bytes);
    }
    return destroy(error);
  };
}

function* restOf(fd: number): Generator<Buffer> {
  for (let read = 0; read < MOST_AT_THE_END;) {
    const buffer = Buffer.alloc(64 * 1024);
    let length = 0;
    try {
      length = readSync(fd, buffer);
    } catch {
      // EAGAIN: there is no more.
    }
    if (length === 0) return;
    read += length;
    yield buffer.subarray(0, length);
  }
}

function whyNot(command: readonly string[], cwd: string, path: string | undefined): NotOpened | null {
  const [program = ""] = command;
  const refuse = (error: string): NotOpened => ({ outcome: "not-started", error });
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) return refuse(`there is no directory ${cwd}`);
  if (command.some((part) => part.includes("\0"))) return refuse("an argument has a NUL byte in it");
  if (command.some((part) => Buffer.byteLength(part) > LONGEST_ARGUMENT))
    return refuse("an argument is too long (E2BIG)");
  const found = findProgram(program, cwd, path);
  if (found === "not-found") return { outcome: "not-found", error: `${program} was not found` };
  return found === "not-executable" ? refuse(`${program} may not be executed (EACCES)`) : null;
}

/** What the library's child prints when the system refuses to run the program after all, and nothing else. */
const REFUSAL = /^execvp\(3\) failed\.: ([^\r\n]*)\r?\n$/;
const LONGEST_REFUSAL = 300;

/** A script whose interpreter is missing, or all the arguments together that are too long. */
function refusalIn(text: string): NotOpened | null {
  const [, why] = REFUSAL.exec(text) ?? [];
  if (why === undefined) return null;
  if (why === "No such file or directory") return { outcome: "not-found", error: why };
  return { outcome: "not-started", error: why === "Argument list too long" ? `${why} (E2BIG)` : why };
}

function nameOf(signal: number): string {
  const [name] = Object.entries(os.signals).find(([, number]) => number === signal) ?? [];
  return name ?? `signal ${signal}`;
}
