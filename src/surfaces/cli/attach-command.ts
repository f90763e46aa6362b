/** `attach`: into an agent's terminal, and out of it again while the agent goes on. */
import { refused, usage } from "../../errors.js";
import { connectSession, type Session, type SessionEnd } from "../../orchestrator/tending/attach.js";
import type { Io } from "../io.js";
import { splitAtDetach } from "./detach-key.js";
import type { Invocation, Report } from "./invocation.js";

export interface AttachOptions {
  task: string;
  /** Pawl is asked to end. */
  signal?: AbortSignal;
}

/** `gone`: nobody was there to begin with. */
export type Left = "detached" | "ended" | "gone";

export async function attachCommand(call: Invocation): Promise<Report> {
  if (call.json) throw usage("attach shows a terminal, which is no JSON document", { hint: FOLLOW });
  requireTerminal(call.io);
  const { requireSession } = await import("../../orchestrator/tending/session-of.js");
  const context = await call.task(call.args[0]);
  const { socket } = await requireSession(context);
  const { signal } = call.engine;
  const left = await attachTo(call.io, socket, { task: context.id, ...(signal === undefined ? {} : { signal }) });
  if (left === "gone")
    throw refused(`the agent of ${context.id} is at work, and its host cannot be reached`, {
      hint: `${FOLLOW} ${context.id}`,
    });
  return { json: undefined, text: () => "" };
}

/** The terminal is left as it was, whatever happens. */
export async function attachTo(io: Io, socket: string, { task, signal }: AttachOptions): Promise<Left> {
  requireTerminal(io);
  const { stdin, stdout } = io.streams();
  const session = await connectSession(socket, sizeOf(stdout));
  if (session === null) return "gone";
  io.err(`attached to ${task}; Ctrl-] detaches\n`);
  const wasRaw = stdin.isRaw;
  const restore = (): void => {
    stdin.setRawMode(wasRaw);
    stdout.write(RESTORED);
  };
  // Being told to end twice ends pawl at once, wherever it is.
  process.once("exit", restore);
  let end: End = "detached";
  try {
    stdin.setRawMode(true);
    stdout.write(beginning(task, stdout));
    end = await untilLeft({ stdin, stdout }, session, signal);
  } finally {
    process.removeListener("exit", restore);
    session.close();
    stdin.pause();
    restore();
  }
  io.err(`${noticeOf(task, end)}\n`);
  return end === "detached" ? "detached" : "ended";
}

const FOLLOW = "pawl log --follow";

function requireTerminal({ inIsTerminal, outIsTerminal }: Io): void {
  if (inIsTerminal && outIsTerminal) return;
  throw usage("attach needs a terminal to show an agent's terminal on", { hint: FOLLOW });
}

/** Null: its host went away without a word. */
type End = SessionEnd | null | "detached";

interface Streams {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
}

function untilLeft({ stdin, stdout }: Streams, session: Session, signal: AbortSignal | undefined): Promise<End> {
  return new Promise((resolve) => {
    const finish = (end: End): void => {
      stdin.off("data", onKeys);
      stdin.off("end", onLeave);
      stdout.off("resize", onResize);
      stdout.off("drain", session.resume);
      signal?.removeEventListener("abort", onLeave);
      resolve(end);
    };
    const onLeave = (): void => finish("detached");
    const onKeys = (typed: Buffer): void => {
      const { before, detaches } = splitAtDetach(typed);
      if (before.length > 0) session.input(before);
      if (detaches) finish("detached");
    };
    const onResize = (): void => {
      const { columns, rows } = sizeOf(stdout);
      session.resize(columns, rows);
    };
    stdin.on("data", onKeys);
    stdin.once("end", onLeave);
    stdout.on("resize", onResize);
    stdout.on("drain", session.resume);
    signal?.addEventListener("abort", onLeave, { once: true });
    session.onEnd(finish);
    session.onOutput((bytes) => {
      if (!stdout.write(bytes)) session.pause();
    });
    stdin.resume();
    if (signal?.aborted === true) onLeave();
  });
}

function sizeOf({ columns, rows }: NodeJS.WriteStream): { columns: number; rows: number } {
  return { columns, rows };
}

/** What stood on the screen moves up, so that the agent's own begins below it; the title says how to leave, and is put back. */
function beginning(task: string, { rows }: NodeJS.WriteStream): string {
  return `\u001b[22;0t\u001b]2;${task}: Ctrl-] detaches\u0007${"\n".repeat(rows)}`;
}

/**
 * Off with all that an agent may have switched on. Leaving the other screen also puts the cursor where it was left, and so
 * does setting the margins: where there was no other screen, it is to stay.
 */
const RESTORED = [
  "\u001b7\u001b[?1049l",
  "\u001b7\u001b[r\u001b8",
  "\u001b[0m\u001b[4l\u001b>\u001b[<u\u001b[>4;0m",
  ...[1, 9, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026].map((mode) => `\u001b[?${mode}l`),
  "\u001b[?7h\u001b[?25h\u001b[23;0t\r\n",
].join("");

function noticeOf(task: string, end: End): string {
  if (end === "detached") return `detached from ${task}; its agent goes on`;
  if (end === null) return `the host of ${task}'s agent has ended`;
  const how = end.exitCode === null ? (end.signal ?? end.outcome) : `exit code ${end.exitCode}`;
  return `the agent of ${task} has ended: ${how}`;
}
