import { userInfo } from "node:os";
import { isatty } from "node:tty";
import type { Io } from "./io.js";

/** The real thing: this process's streams, environment and signals. */
export function processIo(): Io {
  const { stdout, stderr, env } = process;
  // Whoever reads may go away early (`pawl history | head`): that is no error.
  for (const stream of [stdout, stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 4));
  return {
    cwd: process.cwd(),
    env,
    user: env["PAWL_USER"] ?? env["USER"] ?? userInfo().username,
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    outIsTerminal: isatty(1),
    errIsTerminal: isatty(2),
    inIsTerminal: isatty(0),
    now: () => new Date(),
    interruptible,
    streams: () => ({ stdin: process.stdin, stderr }),
  };
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
    if (asked > (running[0] === controller ? 1 : 2)) process.exit(130);
  };
  running.push(controller);
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  try {
    return await work(controller.signal);
  } finally {
    running.splice(running.indexOf(controller), 1);
    process.removeListener("SIGINT", stop);
    process.removeListener("SIGTERM", stop);
  }
}
