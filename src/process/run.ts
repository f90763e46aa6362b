/**
 * The one runner of processes. A command is an argument list; it runs in a process group of its own, so that ending it
 * ends its children too, and only them; children that left the group are known by a variable of their environment. A
 * result is a value: running never throws because of what the command did.
 */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync } from "node:fs";
import { codeOf } from "../errors.js";
import { GRACE_MS, markOf, signalAll, type Started } from "./end-process.js";
import { Kept } from "./kept.js";
import { Log, type OutputLog } from "./run-log.js";

export interface RunOptions {
  cwd: string;
  /** The whole environment of the process; nothing is inherited besides. */
  env: Record<string, string>;
  /** A variable of `env` with a value that no other run has: when this run is ended, all that carries it is ended too. */
  marker?: string;
  input?: string;
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Everything the command prints goes here, complete: a file that is not there yet. */
  logFile?: string;
  /** It goes here instead of into a file. */
  log?: OutputLog;
  /** How much of the output is kept in memory, for each stream: its beginning and its end. */
  keepBytes?: number;
  /** Keep both streams as one text too, in the order in which they came. */
  together?: boolean;
  /** Called with each chunk as it arrives. */
  onOutput?: (text: string) => void;
  /** Called once the process is there. */
  onStart?: (pid: number) => void;
}

export type RunOutcome = "exited" | "timeout" | "interrupted" | "not-found" | "not-started";

export interface RunResult {
  command: string[];
  outcome: RunOutcome;
  /** Null unless the process exited by itself. */
  exitCode: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
  /** Both streams as they came, where that was asked for. */
  output?: string;
  /** True where `stdout` or `stderr` lost its middle. */
  truncated: boolean;
  durationMs: number;
  /** Why the process could not be started, or its output could not be logged. */
  error?: string;
}

const KEEP_BYTES = 1024 * 1024;
/** After the process has exited, its children may still hold the pipes; what they print later is not waited for. */
const DRAIN_MS = 200;
/** Of a timer; one that is set for longer would ring at once. */
export const LONGEST_MS = 2 ** 31 - 1;

export function run(command: readonly string[], options: RunOptions): Promise<RunResult> {
  const [program, ...args] = command;
  if (program === undefined) throw new TypeError("run: expected a command, found an empty list");
  const started = performance.now();
  const keep = options.keepBytes ?? KEEP_BYTES;
  const stdout = new Kept(keep);
  const stderr = new Kept(keep);
  const both = options.together === true ? new Kept(keep) : undefined;

  return new Promise((resolve) => {
    // Before the command begins: it can write where its log is, and could put something in its place.
    const log = options.log ?? (options.logFile === undefined ? undefined : new Log(options.logFile));
    const child = start(program, args, options);
    if (child instanceof Error) {
      log?.discard();
      const nothing = { command: [...command], stdout: "", stderr: "", truncated: false, durationMs: 0 };
      resolve({ ...nothing, ...notStarted(child, options.cwd) });
      return;
    }
    log?.holdBack(child.stdout, child.stderr);
    const mark = markOf(options.env, options.marker);
    let ending: "timeout" | "interrupted" | undefined;
    let finalKill: NodeJS.Timeout | undefined;

    const end = (why: "timeout" | "interrupted"): void => {
      if (ending !== undefined || child.pid === undefined) return;
      ending = why;
      const started = { pid: child.pid, mark };
      signalAll(started, "SIGTERM");
      finalKill = setTimeout(() => signalAll(started, "SIGKILL"), GRACE_MS);
    };
    const timer =
      options.timeoutMs === undefined
        ? undefined
        : setTimeout(() => end("timeout"), Math.min(options.timeoutMs, LONGEST_MS));
    const onAbort = (): void => end("interrupted");
    if (child.pid !== undefined) {
      watchOver({ pid: child.pid, mark });
      options.onStart?.(child.pid);
    }
    options.signal?.addEventListener("abort", onAbort, { once: true });
    if (options.signal?.aborted === true) queueMicrotask(onAbort);

    const take = (kept: Kept) => (chunk: Buffer) => {
      kept.add(chunk);
      both?.add(chunk);
      log?.write(chunk);
      options.onOutput?.(chunk.toString("utf8"));
    };
    child.stdout.on("data", take(stdout));
    child.stderr.on("data", take(stderr));
    child.stdin.on("error", () => undefined); // The command may not read its input.
    child.stdin.end(options.input ?? "");

    let settled = false;
    let draining: NodeJS.Timeout | undefined;
    const settle = (end: End): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      clearTimeout(finalKill);
      clearTimeout(draining);
      if (child.pid !== undefined) running.delete(child.pid);
      options.signal?.removeEventListener("abort", onAbort);
      // What an ended command left running goes too; a command that exited by itself may leave a server.
      if (ending !== undefined && child.pid !== undefined) signalAll({ pid: child.pid, mark }, "SIGKILL");
      child.stdout.destroy();
      child.stderr.destroy();
      const result: RunResult = {
        command: [...command],
        ...end,
        stdout: stdout.text(),
        stderr: stderr.text(),
        ...(both === undefined ? {} : { output: both.text() }),
        truncated: stdout.truncated || stderr.truncated || both?.truncated === true,
        durationMs: Math.round(performance.now() - started),
      };
      if (log === undefined) resolve(result);
      else log.end((error) => resolve(error === null ? result : { ...result, error: error.message }));
    };

    child.once("error", (error) => {
      if (child.pid !== undefined) return;
      log?.discard();
      settle(notStarted(error, options.cwd));
    });
    const settleExit = (code: number | null, signal: string | null): void =>
      settle({ outcome: ending ?? "exited", exitCode: ending === undefined ? code : null, signal });
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      const drain = (): void => {
        // What waits for a slow disk was printed in time.
        if (log?.isFull === true) draining = setTimeout(drain, DRAIN_MS);
        else settleExit(code, signal);
      };
      // Whatever settles the run first ends this too: a log that has ended never becomes empty again.
      if (!settled) draining = setTimeout(drain, DRAIN_MS);
    });
    child.once("close", settleExit);
  });
}

/** If pawl itself ends politely, what it started goes with it. */
const running = new Map<number, Started>();

function watchOver(started: Started): void {
  if (!process.listeners("exit").includes(endAll)) process.once("exit", endAll);
  running.set(started.pid, started);
}

function endAll(): void {
  for (const started of running.values()) signalAll(started, "SIGKILL");
}

/** Most errors of a start come as an event; some, such as an argument that is too long, are thrown. */
function start(program: string, args: string[], { cwd, env }: RunOptions): ChildProcessWithoutNullStreams | Error {
  try {
    return spawn(program, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  } catch (error) {
    return error as Error;
  }
}

type End = Pick<RunResult, "outcome" | "exitCode" | "signal" | "error">;

function notStarted(error: Error, cwd: string): End {
  const absent = codeOf(error) === "ENOENT";
  // Node says of a missing directory that the program was not found.
  const noDirectory = absent && !existsSync(cwd);
  return {
    outcome: absent && !noDirectory ? "not-found" : "not-started",
    exitCode: null,
    signal: null,
    error: noDirectory ? `there is no directory ${cwd}` : error.message,
  };
}
