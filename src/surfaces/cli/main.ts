/** `main(argv, io)` returns an exit code; nothing below it ends the process. */
import { CommanderError, type Command } from "commander";
import { exitCode, messageOf, nearest, PawlError, usage } from "../../errors.js";
import type { Io } from "../io.js";
import { createProgram } from "./commands.js";
import { formatError } from "./format-error.js";

const HELP = "see `pawl <command> --help`";

export async function main(argv: string[], io: Io): Promise<number> {
  try {
    return await runCommand(argv, io);
  } catch (error) {
    return reportError(error, io, argv.includes("--json"));
  }
}

/** Says what went wrong, and gives the exit code for it. */
export function reportError(error: unknown, io: Io, asJson: boolean): number {
  const problem = toPawlError(error);
  if (problem === null) return 0;
  if (asJson) io.out(`${JSON.stringify(errorJson(problem), null, 2)}\n`);
  else io.err(formatError(problem, io));
  return exitCode(problem.kind);
}

async function runCommand(argv: string[], io: Io): Promise<number> {
  let code = 0;
  const program = createProgram(io, (result) => (code = result));
  const words = commandFirst(argv);
  const [first = ""] = words;
  if (!first.startsWith("-")) requireCommand(program, first);
  await program.parseAsync(words, { from: "user" });
  return code;
}

/** Options may stand before the command, which is the REPL when there is none. */
function commandFirst(argv: string[]): string[] {
  const leading: string[] = [];
  const rest = [...argv];
  while (rest[0] === "--json" || rest[0] === "-C" || rest[0]?.startsWith("--dir") === true) {
    const option = rest.shift() ?? "";
    leading.push(option);
    const value = option === "-C" || option === "--dir" ? rest.shift() : undefined;
    if (value !== undefined) leading.push(value);
  }
  if (rest.length === 0) return ["repl", ...leading];
  const [command = "", ...words] = rest;
  // A subcommand takes them where its own would stand.
  return command === "spec" || command === "task" ? [command, ...words, ...leading] : [command, ...leading, ...words];
}

function requireCommand(program: Command, word: string): void {
  const names = program.commands.flatMap((command) => [command.name(), ...command.aliases()]);
  if (names.includes(word) || word === "help") return;
  const near = nearest(word.replace(/^\//, ""), names);
  throw usage(`there is no command \`${word}\``, {
    hint: near === undefined ? "see `pawl --help`" : `did you mean \`pawl ${near}\`?`,
  });
}

/** Null: nothing is wrong, help was asked for and printed. */
function toPawlError(error: unknown): PawlError | null {
  if (error instanceof PawlError) return error;
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return null;
    // `pawl spec` alone: commander would print its help on standard error.
    if (error.code === "commander.help") return usage("a word is missing after the command", { hint: HELP });
    const [message = "", suggestion] = error.message.replace(/^error: /, "").split("\n");
    return usage(message, { hint: suggestion?.replace(/^\(Did you mean (.*)\?\)$/, "did you mean `$1`?") ?? HELP });
  }
  const { code } = error as { code?: string };
  // What the system refuses (a full disk, a missing permission) is said as it is; anything else is a fault of pawl's.
  if (code !== undefined)
    return new PawlError("failed", messageOf(error), {
      hint: "nothing was changed after this point; mend it and try again",
      cause: error,
    });
  return new PawlError(
    "failed",
    `a fault in pawl itself: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    { cause: error },
  );
}

function errorJson(error: PawlError): Record<string, unknown> {
  const { kind, message, hint, findings, data } = error;
  return {
    error: { kind, message, ...(hint === undefined ? {} : { hint }), exitCode: exitCode(kind), findings },
    ...data,
  };
}
