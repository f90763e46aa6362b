import { commandNames, FREE_TEXT, OWN_COMMANDS } from "./parse-line.js";
import type { Shape } from "./shapes.js";
import type { Style } from "../style.js";

export function formatHelp(shapes: Shape[], style: Style): string {
  const here = commandNames(shapes);
  const rows: [string, string][] = [
    ...shapes
      .filter(({ name }) => here.includes(name) && !OWN_COMMANDS.some((own) => own.name === name))
      .map((shape): [string, string] => [usageOf(shape), shape.description]),
    ...OWN_COMMANDS.map((own): [string, string] => [`/${own.name} ${own.arguments}`.trimEnd(), own.description]),
  ];
  const width = Math.max(...rows.map(([usage]) => usage.length));
  return [
    ...rows.map(([usage, description]) => `${style.bold(usage.padEnd(width))}  ${description}`),
    "",
    "[task] is the current one unless you name another. /help <command> tells the options.",
    "The rest of the line after /override, /redo, /answer, /resume and /new is free text; quotes are optional:",
    "  /override test the flaky suite is known     /answer rejected --to codegen the names are wrong",
    "A line that begins with # is skipped. TAB completes. Ctrl-C interrupts the work under way, Ctrl-D leaves.",
    "Without a terminal, commands are read from standard input; the exit code is that of the last one that failed.",
    "With `pawl repl --json` each command prints its JSON document on one line.",
  ].join("\n");
}

function usageOf({ name, arguments: taken, subcommands }: Shape): string {
  const text = name === "new" ? "title" : FREE_TEXT[name]?.option;
  const words = taken
    .filter((argument) => text === undefined || argument.required)
    .map((argument) => (argument.required ? `<${argument.name}>` : `[${argument.name}]`));
  return [
    `/${name}`,
    ...(subcommands.length === 0 ? [] : [subcommands.map((sub) => sub.name).join("|")]),
    ...words,
    ...(text === undefined ? [] : [`<${text} …>`]),
  ].join(" ");
}
