/** A log as it is written, until its run has ended. It may be put aside while it is read, for a new one to begin. */
import { closeSync, fstatSync, lstatSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as pause } from "node:timers/promises";
import { previousPart } from "../agents/session/rotating-log.js";
import { livenessOf } from "../process/identity.js";
import { agentMarks } from "../task/agent-mark.js";
import { actorOf } from "../task/state.js";
import { loadTask } from "../task/store.js";
import type { TaskContext } from "./context.js";
import { openLog, type RunLog } from "./logs.js";

const LOOK_MS = 100;
/** Whether somebody is at work is asked less often: it means reading the state. */
const LOOKS_BETWEEN = 10;
const PIECE_BYTES = 1024 * 1024;

export async function* followLog(
  context: TaskContext,
  log: RunLog,
  { signal }: { signal?: AbortSignal } = {},
): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  const parts = new Parts(context, log);
  try {
    for (let look = 0; signal?.aborted !== true; look++) {
      // Before reading: what it printed last is there by then.
      const isOver = hasResult(context, log) || (look % LOOKS_BETWEEN === 0 && !isAtWork(context, log));
      for (const piece of parts.readOn(isOver)) yield decoder.write(piece);
      if (isOver) break;
      await pause(LOOK_MS, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
    }
    yield decoder.end();
  } finally {
    parts.close();
  }
}

/** The file that is being read, and whichever comes after it. */
class Parts {
  private current: { fd: number; ino: number } | null = null;
  private isPutAside = false;

  constructor(
    private readonly context: TaskContext,
    private readonly log: RunLog,
  ) {}

  *readOn(isOver: boolean): Generator<Buffer> {
    if (this.current === null) {
      this.current = this.open(this.log.file);
      // What was put aside before anybody looked comes first.
      yield* this.readPrevious();
    }
    if (this.current !== null) yield* readToEnd(this.current.fd);
    if (!this.hasSuccessor()) return;
    // One more look at the old one: the last of it may still be on its way to the disk.
    if (!this.isPutAside && !isOver) {
      this.isPutAside = true;
      return;
    }
    this.isPutAside = false;
    yield* this.moveOn();
  }

  close(): void {
    if (this.current !== null) closeSync(this.current.fd);
    this.current = null;
  }

  private *moveOn(): Generator<Buffer> {
    const before = this.current;
    this.current = this.open(this.log.file);
    // It went so fast that there is one between the two.
    yield* this.readPrevious(before?.ino);
    if (before !== null) closeSync(before.fd);
    if (this.current !== null) yield* readToEnd(this.current.fd);
  }

  private *readPrevious(known?: number): Generator<Buffer> {
    const previous = this.open(previousPart(this.log.file));
    if (previous === null) return;
    try {
      if (previous.ino !== known && previous.ino !== this.current?.ino) yield* readToEnd(previous.fd);
    } finally {
      closeSync(previous.fd);
    }
  }

  private hasSuccessor(): boolean {
    const stat = lstatSync(join(this.context.dir, this.log.file), { throwIfNoEntry: false });
    return stat !== undefined && stat.ino !== this.current?.ino;
  }

  /** Null for none, or for what is no plain file. */
  private open(file: string): { fd: number; ino: number } | null {
    try {
      const fd = openLog(this.context, { file });
      return { fd, ino: fstatSync(fd).ino };
    } catch {
      return null;
    }
  }
}

/** From where it was read to. */
function* readToEnd(fd: number): Generator<Buffer> {
  const piece = Buffer.alloc(PIECE_BYTES);
  for (;;) {
    const length = readSync(fd, piece);
    if (length === 0) return;
    yield piece.subarray(0, length);
  }
}

function hasResult({ dir }: TaskContext, { file }: RunLog): boolean {
  return lstatSync(join(dir, dirname(file), "result.json"), { throwIfNoEntry: false }) !== undefined;
}

/** A state that cannot be read says nothing: then a result is waited for. */
function isAtWork(context: TaskContext, { phase, run: number }: RunLog): boolean {
  try {
    const { state } = loadTask(context.dir, context.workflow);
    const { run } = actorOf(state, phase);
    if (run?.number === number) return livenessOf(run.owner) !== "gone";
    const mark = agentMarks(state.fields).find((each) => each.phase === phase && each.number === number);
    return mark !== undefined && livenessOf(mark.host) !== "gone";
  } catch {
    return true;
  }
}
