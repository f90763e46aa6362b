/**
 * Starting a program that is to outlive this one: in a session and a process group of its own, so that no signal from this
 * one's terminal reaches it.
 */
import { spawn, type StdioOptions } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";

export interface Detached {
  /** Undefined where it could not be started. */
  pid: number | undefined;
  stdin: Writable;
  stdout: Readable;
  /** Nobody, once it has been seen to end: another process may have its number by then. */
  kill(signal: NodeJS.Signals): void;
  /** From now on this process waits for its answer. */
  hold(): void;
  /** How it ended, for as long as this process is there to see it. From now on this process waits for that. */
  ended(): Promise<{ exitCode: number | null; signal: string | null }>;
}

export interface DetachedOptions {
  cwd: string;
  /** The whole environment of the process; nothing is inherited besides. */
  env: Record<string, string | undefined>;
  /** What it says of its troubles goes nowhere unless a file is named; that is written on. */
  stderrFile?: string;
}

/** It can be told something, and answer. This process does not wait for it; with this process, its standard input ends. */
export function startDetached(command: readonly string[], options: DetachedOptions): Detached {
  const child = start(command, options, ["pipe", "pipe"]);
  const ended = new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
    child.once("error", () => resolve({ exitCode: null, signal: null }));
  });
  const { stdin, stdout } = child as { stdin: Writable; stdout: Readable };
  stdin.on("error", () => undefined); // It may have ended without reading.
  for (const stream of [stdin, stdout]) (stream as Socket).unref();
  return {
    pid: child.pid,
    stdin,
    stdout,
    kill: (signal) => void child.kill(signal),
    hold: () => {
      for (const stream of [stdin, stdout]) (stream as Socket).ref();
    },
    ended: () => {
      child.ref();
      return ended;
    },
  };
}

/**
 * Its standard input ends with this process, shortly before the system says that this process is gone. `$0` is that one. One
 * that only waits for its parent to take note of it has ended. It is not waited for without end: a parent that was stopped would never take note of it.
 */
const WHEN_GONE = [
  "read -r _",
  'ended() { ! kill -0 "$0" 2>/dev/null || case "$(cat "/proc/$0/stat" 2>/dev/null)" in *") Z "*) true ;; *) false ;; esac; }',
  "n=0; while ! ended && [ $n -lt 100 ]; do sleep 0.05; n=$((n + 1)); done",
  'exec "$@" </dev/null',
].join("; ");

/** Begins when this process has ended, however that comes about: it may look for whether it has. It talks to nobody. */
export function startAfterThis(command: readonly string[], options: DetachedOptions): void {
  const child = start(["/bin/sh", "-c", WHEN_GONE, String(process.pid), ...command], options, ["pipe", "ignore"]);
  child.once("error", () => undefined);
  child.stdin?.on("error", () => undefined);
  (child.stdin as Socket | null)?.unref();
}

function start(
  [program = "", ...args]: readonly string[],
  { cwd, env, stderrFile }: DetachedOptions,
  streams: ["pipe", "pipe" | "ignore"],
): ReturnType<typeof spawn> {
  const stderr = stderrFile === undefined ? "ignore" : openSync(stderrFile, APPEND);
  const stdio: StdioOptions = [...streams, stderr];
  try {
    const child = spawn(program, args, { cwd, env, detached: true, stdio });
    child.unref();
    return child;
  } finally {
    if (typeof stderr === "number") closeSync(stderr);
  }
}

const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
