/** A program in a real pseudo-terminal. It is waited for by what it shows, never by time. */
import { spawn } from "node-pty";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished } from "vitest";

export interface Terminal {
  /** Sends keys as they come from a keyboard; Enter is `\r`. */
  type(keys: string): void;
  /** Waits until the text stands on the screen after what was waited for before; gives what came up to its end. */
  see(text: string | RegExp): Promise<string>;
  /** All that was shown, without colours and cursor movements. */
  shown(): string;
  kill(signal: NodeJS.Signals): void;
  exitCode: Promise<number>;
}

export const CTRL_C = "\u0003";
export const CTRL_D = "\u0004";
export const UP = "\u001b[A";
export const DOWN = "\u001b[B";

/** Only so that a test fails with what was on the screen, and not by the runner's time limit. */
const PATIENCE_MS = 30_000;

export function openTerminal(
  command: string[],
  options: { cwd: string; env: Record<string, string>; columns?: number },
): Terminal {
  const [program = "", ...args] = command;
  const pty = spawn(program, args, {
    name: "xterm-256color",
    cols: options.columns ?? 120,
    rows: 40,
    cwd: options.cwd,
    env: options.env,
  });
  let raw = "";
  let seenUntil = 0;
  let ended = false;
  let check: () => void = () => undefined;
  const exitCode = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode: code }) => {
      ended = true;
      check();
      resolve(code);
    });
  });
  pty.onData((data) => {
    raw += data;
    check();
  });
  onTestFinished(() => {
    if (!ended) pty.kill("SIGKILL");
  });
  const shown = (): string => stripVTControlCharacters(raw).replaceAll("\r", "");

  return {
    type: (keys) => pty.write(keys),
    see: (text) =>
      new Promise((resolve, reject) => {
        const give = (end: number, start: number): void => {
          const part = shown().slice(start, end);
          seenUntil = end;
          stop();
          resolve(part);
        };
        const fail = (why: string): void => {
          stop();
          reject(new Error(`${why} while waiting for ${String(text)}; shown since then:\n${shown().slice(seenUntil)}`));
        };
        const timer = setTimeout(() => fail("patience ended"), PATIENCE_MS);
        const stop = (): void => {
          clearTimeout(timer);
          check = () => undefined;
        };
        check = () => {
          const end = endOf(shown().slice(seenUntil), text);
          if (end !== null) give(seenUntil + end, seenUntil);
          else if (ended) fail("the program ended");
        };
        check();
      }),
    shown,
    kill: (signal) => pty.kill(signal),
    exitCode,
  };
}

function endOf(shown: string, text: string | RegExp): number | null {
  if (typeof text === "string") {
    const at = shown.indexOf(text);
    return at < 0 ? null : at + text.length;
  }
  const match = text.exec(shown);
  return match === null ? null : match.index + match[0].length;
}
