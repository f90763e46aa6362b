/** The other end of an agent's socket. */
import { connect, type Socket } from "node:net";
import type { AgentOutcome } from "../types.js";
import { frame, FRAME, FrameReader, numbers, type Frame } from "./frames.js";
import type { Size } from "./size.js";
import { isOurSocket } from "./socket-path.js";

export interface SessionEnd {
  exitCode: number | null;
  signal: string | null;
  outcome: AgentOutcome;
}

export interface Session {
  /** First the screen as it is, then what is printed. */
  onOutput(take: (bytes: Buffer) => void): void;
  /** Once; null where the host went away without a word. */
  onEnd(take: (end: SessionEnd | null) => void): void;
  /** As if it were typed. */
  input(bytes: Uint8Array): void;
  resize(columns: number, rows: number): void;
  /** The agent has done its part: it may end by itself, and is ended after that time. The first word counts. */
  dismiss(graceMs: number): void;
  /** The agent is ended now. */
  end(): void;
  /** What is not read may be left out; then the screen comes anew. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Null: nobody is there. `size`: that of the screen on which it is shown. */
export async function connectSession(path: string, size?: Size): Promise<Session | null> {
  if (!isOurSocket(path)) return null;
  const socket = await open(path);
  if (socket === null) return null;
  const { columns, rows } = size ?? { columns: 0, rows: 0 };
  socket.write(frame(FRAME.size, numbers(columns, rows)));
  return sessionOf(socket);
}

/** Whatever the system says (there is none, nobody listens, it may not be opened): it is not there for us. */
function open(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    // Nothing is read until somebody takes it.
    socket.pause();
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      resolve(socket);
    });
    socket.once("error", () => resolve(null));
  });
}

function sessionOf(socket: Socket): Session {
  const reader = new FrameReader();
  let output: (bytes: Buffer) => void = () => undefined;
  let ended: (end: SessionEnd | null) => void = () => undefined;
  let isOver = false;
  const over = (end: SessionEnd | null): void => {
    if (isOver) return;
    isOver = true;
    ended(end);
  };
  const take = ({ type, payload }: Frame): void => {
    if (type === FRAME.output) output(payload);
    else if (type === FRAME.ended) over(JSON.parse(payload.toString("utf8")) as SessionEnd);
  };
  socket.on("data", (chunk) => {
    const frames = reader.add(chunk);
    if (frames === null) socket.destroy();
    else for (const each of frames) take(each);
  });
  socket.pause();
  socket.on("error", () => undefined); // It closes after that.
  socket.on("close", () => over(null));
  const say = (type: number, payload?: Uint8Array): void => {
    if (socket.writable) socket.write(frame(type, payload));
  };
  return {
    onOutput: (given) => {
      output = given;
      socket.resume();
    },
    onEnd: (given) => {
      ended = given;
      socket.resume();
    },
    input: (bytes) => say(FRAME.input, bytes),
    resize: (columns, rows) => say(FRAME.size, numbers(columns, rows)),
    dismiss: (graceMs) => say(FRAME.dismiss, numbers(graceMs)),
    end: () => say(FRAME.end),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    close: () => {
      isOver = true;
      output = () => undefined;
      // What was said still goes out; what would be answered is of no interest.
      socket.end();
      socket.resume();
    },
  };
}
