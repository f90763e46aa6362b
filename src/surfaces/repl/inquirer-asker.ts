/** The asker of a terminal. A module of its own, loaded late: the library costs more than the rest of a start. */
import { confirm, editor, input, select } from "@inquirer/prompts";
import { NEEDED, type FormAsker } from "../form.js";

/** All phases of a workflow on one page, where they fit. */
const PAGE = 16;

interface Streams {
  stdin: NodeJS.ReadStream;
  stderr: NodeJS.WriteStream;
}

interface Context {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
  signal: AbortSignal;
}

/** `signal`: pawl itself is asked to end. */
export function inquirerAsker(streams: Streams, signal: AbortSignal | undefined): FormAsker {
  return {
    select: (message, choices) =>
      ask(streams, signal, (context) =>
        select({ message, pageSize: PAGE, choices: choices.map((value) => ({ value, name: value })) }, context),
      ),
    confirm: (message) => ask(streams, signal, (context) => confirm({ message, default: false }, context)),
    // The editor covers the screen: a reason is waited with until it has been read.
    editor: (message, again) =>
      ask(streams, signal, (context) =>
        editor(
          again === undefined
            ? { message, waitForUserInput: false }
            : { message: `${message}: ${again}`, waitForUserInput: true },
          context,
        ),
      ),
    input: (message, { required, problem }) =>
      ask(streams, signal, (context) =>
        input(
          {
            message,
            validate: (text) => (required && text.trim() === "" ? NEEDED : (problem?.(text) ?? true)),
          },
          context,
        ),
      ),
  };
}

async function ask<T>(
  { stdin, stderr }: Streams,
  signal: AbortSignal | undefined,
  question: (context: Context) => Promise<T>,
): Promise<T | null> {
  const cancel = new AbortController();
  const onAbort = (): void => cancel.abort();
  // The library takes Ctrl-C for "cancelled". After Ctrl-D it would never answer, and pawl would end for want of work.
  const onKey = (_text: unknown, key: { ctrl?: boolean; name?: string }): void => {
    if (key.ctrl === true && key.name === "d") cancel.abort();
  };
  stdin.on("keypress", onKey);
  signal?.addEventListener("abort", onAbort);
  try {
    return await question({ input: stdin, output: stderr, signal: cancel.signal });
  } catch (error) {
    if (error instanceof Error && ["ExitPromptError", "AbortPromptError"].includes(error.name)) return null;
    throw error;
  } finally {
    stdin.removeListener("keypress", onKey);
    signal?.removeEventListener("abort", onAbort);
  }
}
