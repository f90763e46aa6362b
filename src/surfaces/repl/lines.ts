/**
 * Where lines come from: a person at a terminal, or standard input.
 *
 * The editor of a terminal is open only while a line is being typed: a running command leaves the terminal in its usual
 * mode, where Ctrl-C is a signal and a menu can read for itself. What is typed meanwhile waits in the terminal.
 */
import { createInterface, type AsyncCompleter } from "node:readline";

export type Line =
  | {
      kind: "line";
      text: string;
      /** It was pasted or typed ahead, and its prompt has not been seen. */ ahead: boolean;
    }
  /** Ctrl-C, and what stood on the line. */
  | { kind: "interrupt"; text: string }
  | { kind: "end" };

export interface Lines {
  /** `history` has the oldest line first. */
  next(prompt: string, history: readonly string[]): Promise<Line>;
  /** Forgets what was typed ahead, and tells it. */
  drop(): string[];
  close(): void;
}

export interface TerminalOptions {
  stdin: NodeJS.ReadStream;
  /** The prompt is shown here, and not with the results. */
  stderr: NodeJS.WriteStream;
  complete: (line: string) => Promise<[string[], string]>;
  signal: AbortSignal | undefined;
}

const ERASE_LINE = "\r\u001b[K";

export function terminalLines({ stdin, stderr, complete, signal }: TerminalOptions): Lines {
  const ahead: string[] = [];
  let unfinished = "";
  let ended = false;
  // node:readline takes a function of two parameters for one that answers later.
  const completer: AsyncCompleter = (line, done) =>
    void complete(line).then(
      (result) => done(null, result),
      () => done(null, [[], line]),
    );

  const edit = (prompt: string, history: readonly string[]): Promise<Line> =>
    new Promise((resolve) => {
      const editor = createInterface({
        input: stdin,
        output: stderr,
        terminal: true,
        prompt,
        history: [...history].reverse(),
        historySize: Math.max(history.length, 1),
        completer,
      });
      let result: Line | undefined;
      const settle = (line: Line): void => {
        if (result !== undefined) return;
        result = line;
        // Not at once: the rest of what was pasted is on its way through this editor, and would be lost.
        setImmediate(() => {
          unfinished = line.kind === "interrupt" ? "" : editor.line;
          editor.removeListener("close", onClose);
          signal?.removeEventListener("abort", onAbort);
          editor.close();
          if (line.kind === "line" && unfinished !== "") stderr.write(ERASE_LINE);
          resolve(line);
        });
      };
      const onClose = (): void => {
        ended = true;
        settle({ kind: "end" });
      };
      const onAbort = (): void => editor.close();
      editor.on("line", (text) => {
        if (result === undefined) settle({ kind: "line", text, ahead: false });
        else ahead.push(text);
      });
      editor.on("SIGINT", () => {
        ahead.length = 0;
        settle({ kind: "interrupt", text: editor.line });
      });
      editor.on("close", onClose);
      // The terminal was closed: there is nothing to put back in order.
      editor.on("error", onClose);
      signal?.addEventListener("abort", onAbort);
      editor.prompt();
      if (unfinished !== "") editor.write(unfinished);
    });

  return {
    next: (prompt, history) => {
      const text = ahead.shift();
      if (text !== undefined) return Promise.resolve({ kind: "line", text, ahead: true });
      return ended || signal?.aborted === true ? Promise.resolve({ kind: "end" }) : edit(prompt, history);
    },
    drop: () => ahead.splice(0),
    close: () => undefined,
  };
}

export function pipedLines(stdin: NodeJS.ReadableStream, signal: AbortSignal | undefined): Lines {
  const reader = createInterface({ input: stdin, crlfDelay: Infinity });
  const lines = reader[Symbol.asyncIterator]();
  signal?.addEventListener("abort", () => reader.close(), { once: true });
  return {
    next: async () => {
      const result = await lines.next();
      return result.done === true ? { kind: "end" } : { kind: "line", text: result.value, ahead: false };
    },
    drop: () => [],
    close: () => reader.close(),
  };
}
