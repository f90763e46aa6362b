import { userInfo } from "node:os";
import { isatty } from "node:tty";
import { exitCode } from "../errors.js";
import type { Io } from "./io.js";

/** Those of standard input, output and error that are one. */
const terminals = [0, 1, 2].filter((fd) => isatty(fd));

/** Where there is no terminal, or one that does not say. */
const COLUMNS = 80;

/** The real thing: this process's streams, environment and signals. */
export function processIo(): Io {
  const { stdout, stderr, env } = process;
  for (const stream of [stdout, stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => readerLeft(error, stream.isTTY));
  return {
    cwd: process.cwd(),
    env,
    user: env["PAWL_USER"] ?? env["USER"] ?? userInfo().username,
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    live: liveOutput(stderr),
    outIsTerminal: terminals.includes(1),
    errIsTerminal: terminals.includes(2),
    inIsTerminal: terminals.includes(0),
    columns: () => (stderr.columns > 0 ? stderr.columns : COLUMNS),
    now: () => new Date(),
    interruptible,
    streams: () => ({ stdin: process.stdin, stdout, stderr }),
  };
}

/** An agent may print faster than a pipe is read. */
const MOST_UNREAD = 1024 * 1024;

function liveOutput(stream: NodeJS.WriteStream): Io["live"] {
  let leftOut = false;
  return (text) => {
    if (stream.writableLength > MOST_UNREAD) leftOut = true;
    else {
      stream.write(
        leftOut ? `\n[… left out here, because nobody read it in time; the log has all of it …]\n${text}` : text,
      );
      leftOut = false;
    }
  };
}

/**
 * Whoever reads may go away early. To a command that is done anyway (`pawl history | head`) that is nothing; work under way,
 * which nobody would see any more, is ended and recorded as interrupted.
 */
function readerLeft({ code }: NodeJS.ErrnoException, wasTerminal: boolean): void {
  if (wasTerminal && code === "EIO") hangUp();
  // The second is what the next word to the same reader comes to.
  else if (code === "EPIPE" || code === "ERR_STREAM_DESTROYED") endAll();
  else process.exit(exitCode("failed"));
}

function endAll(): void {
  for (const controller of running) controller.abort();
}

let hungUp = false;

/** The terminal was closed. A signal says so, or the first word that cannot be written, whichever is first. */
function hangUp(): void {
  if (hungUp) return;
  hungUp = true;
  // All work is ended and recorded as interrupted, though nobody will read what is said about it.
  endAll();
  process.once("exit", () => {
    if (terminals.every((fd) => isatty(fd))) return;
    // Node would try to put the closed terminal back in order, and abort. So the process ends by the signal, as if nobody
    // had listened to it.
    process.removeAllListeners("SIGHUP");
    process.kill(process.pid, "SIGHUP");
  });
}

/** Work inside work (a command in the REPL): the last one is the innermost. */
const running: AbortController[] = [];

async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let asked = 0;
  const stop = (signal: NodeJS.Signals): void => {
    // Ctrl-C means the innermost work alone; whoever asks the process to end means all of it.
    if (signal === "SIGINT" && running.at(-1) !== controller) return;
    controller.abort();
    asked++;
    // The first signal asks the work to stop and lets it be recorded; a second one does not wait for that. Inside the
    // REPL, where Ctrl-C should not end the program, only a third one does.
    if (asked > (running[0] === controller ? 1 : 2)) process.exit(exitCode("interrupted"));
  };
  running.push(controller);
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  process.on("SIGHUP", hangUp);
  try {
    return await work(controller.signal);
  } finally {
    running.splice(running.indexOf(controller), 1);
    process.removeListener("SIGINT", stop);
    process.removeListener("SIGTERM", stop);
    process.removeListener("SIGHUP", hangUp);
  }
}
