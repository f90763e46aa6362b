/** The logs of a task's runs: which there are, and what they say. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { previousPart } from "../agents/session/rotating-log.js";
import { invalid, usage } from "../errors.js";
import { runPath } from "../task/archive.js";
import { resolveInside } from "../task/paths.js";
import { loadTask } from "../task/store.js";
import type { TaskContext } from "./context.js";

export interface RunLog {
  phase: string;
  run: number;
  /** Relative to the task directory. */
  file: string;
}

/** The log that is asked for; otherwise that of the newest run of the current phase, or of the newest run of all. */
export function findLog(context: TaskContext, { phase, run }: { phase?: string; run?: number }): RunLog {
  const logs = context.workflow.phases.flatMap(({ name }) => logsOf(context.dir, name));
  if (logs.length === 0)
    throw usage(`${context.id} has no log yet: nothing has been run`, { hint: `pawl next ${context.id}` });
  const asked = logs.filter((log) => log.phase === (phase ?? log.phase) && log.run === (run ?? log.run));
  const [newest] = asked.sort((one, other) => writtenAt(context, other) - writtenAt(context, one));
  if (newest === undefined) {
    const what = [...(run === undefined ? [] : [`run ${run}`]), ...(phase === undefined ? [] : [phase])].join(" of ");
    throw usage(`there is no log of ${what}; there are: ${list(logs)}`, {
      hint: `pawl log ${context.id} --phase ${logs[0]?.phase ?? ""} --run ${logs[0]?.run ?? 1}`,
    });
  }
  const current = phase === undefined ? currentPhase(context) : phase;
  const there = asked.filter((log) => log.phase === current).sort((one, other) => other.run - one.run);
  return there[0] ?? newest;
}

/** Piece by piece: a log may be larger than memory. What was put aside before comes first. */
export function* readLog(context: TaskContext, log: RunLog, lastBytes = Infinity): Generator<string> {
  const before = previousPart(log.file);
  const files = [...(isThere(join(context.dir, before)) ? [before] : []), log.file];
  const fds = files.map((file) => openLog(context, { file }));
  try {
    const decoder = new StringDecoder("utf8");
    const sizes = fds.map((fd) => fstatSync(fd).size);
    let skipped = Math.max(0, sizes.reduce((sum, size) => sum + size, 0) - lastBytes);
    for (const [index, fd] of fds.entries()) {
      const size = sizes[index] ?? 0;
      for (const piece of readPieces(fd, Math.min(skipped, size), size)) yield decoder.write(piece);
      skipped = Math.max(0, skipped - size);
    }
    yield decoder.end();
  } finally {
    for (const fd of fds) closeSync(fd);
  }
}

function* readPieces(fd: number, start: number, end: number): Generator<Buffer> {
  const piece = Buffer.alloc(PIECE_BYTES);
  for (let at = start; at < end;) {
    const length = readSync(fd, piece, 0, Math.min(piece.length, end - at), at);
    if (length === 0) return;
    at += length;
    yield piece.subarray(0, length);
  }
}

const PIECE_BYTES = 1024 * 1024;

/** Throws where something else than a plain file of the task is in its place. */
export function openLog(context: TaskContext, { file }: Pick<RunLog, "file">): number {
  const place = resolveInside(context.dir, file);
  // An agent can write there: a pipe must not be waited for.
  if (!("error" in place)) {
    const fd = openSync(place.path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (fstatSync(fd).isFile()) return fd;
    closeSync(fd);
  }
  throw invalid(`${file} is not a plain file of the task`, {
    findings: [{ message: `${file} is not a plain file`, file, expected: "a plain file", found: "something else" }],
    hint: "look at it by hand; pawl leaves it as it is",
  });
}

/** One for each run: of an agent's repairs, and of several test commands, the last. */
function logsOf(directory: string, phase: string): RunLog[] {
  const runs = namesIn(join(directory, phase, "runs")).map(Number);
  return runs.filter(Number.isSafeInteger).flatMap((run) => {
    const folder = runPath(phase, run);
    const names = namesIn(join(directory, folder));
    const repairs = names.filter((name) => /^repair-\d+$/.test(name)).map((name) => join(name, "output.log"));
    const commands = names.filter((name) => /^\d+\.log$/.test(name));
    const candidates = ["output.log", ...inOrder(repairs), ...inOrder(commands)].map((name) => join(folder, name));
    const last = candidates.findLast((file) => isThere(join(directory, file)));
    return last === undefined ? [] : [{ phase, run, file: last }];
  });
}

function inOrder(names: string[]): string[] {
  const number = (name: string): number => Number(/\d+/.exec(name)?.[0]);
  return names.sort((one, other) => number(one) - number(other));
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function writtenAt(context: TaskContext, { file }: RunLog): number {
  return lstatSync(join(context.dir, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Where the state cannot be trusted somebody wants to read the logs all the more. */
function currentPhase(context: TaskContext): string | undefined {
  try {
    return loadTask(context.dir, context.workflow).state.phase;
  } catch {
    return undefined;
  }
}

function list(logs: RunLog[]): string {
  const phases = [...new Set(logs.map(({ phase }) => phase))];
  const runsOf = (name: string): number[] => logs.filter(({ phase }) => phase === name).map(({ run }) => run);
  return phases
    .map(
      (phase) =>
        `${phase} ${runsOf(phase)
          .sort((one, other) => one - other)
          .join(", ")}`,
    )
    .join("; ");
}
