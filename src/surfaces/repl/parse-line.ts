/** A line that was typed, as a request. Pure; throws a usage error that says what was expected. */
import { nearest, usage } from "../../errors.js";
import type { Shape } from "./shapes.js";
import { splitWords, textOf, type Word } from "./words.js";

export type Request =
  | { kind: "nothing" }
  | { kind: "quit" }
  | { kind: "help"; topic: string | undefined }
  | { kind: "task"; id: string | undefined }
  | ({ kind: "command" } & CommandRequest);

export interface CommandRequest {
  /** The command, and its subcommand where it has some. */
  path: string[];
  options: string[];
  positionals: string[];
  task: string | undefined;
  /** What it cannot do without and was not given: names of arguments, or of options for text. */
  missing: string[];
}

export interface Surroundings {
  shapes: Shape[];
  current: string | undefined;
  taskIds: readonly string[];
}

/** What the REPL has besides the commands of the command line. */
export const OWN_COMMANDS: { name: string; arguments: string; description: string }[] = [
  { name: "task", arguments: "<id>", description: "go over to another task" },
  { name: "help", arguments: "[command]", description: "this list, or the options of a command" },
  { name: "quit", arguments: "", description: "leave; so do /exit and Ctrl-D" },
];

/** The option that takes the words after the arguments, and whether it may be left out. */
export const FREE_TEXT: Record<string, { option: string; required: boolean }> = {
  override: { option: "reason", required: true },
  redo: { option: "reason", required: true },
  resume: { option: "note", required: true },
  answer: { option: "note", required: false },
};

/** Options whose value is prose: without quotes it goes on to the next option. */
const PROSE = ["--reason", "--note", "--override", "--adopt"];
/** Commands that would take the REPL's own input. */
const NOT_HERE = ["repl"];

export function parseLine(line: string, around: Surroundings): Request {
  const [first, ...rest] = splitWords(line);
  if (first === undefined || first.text.startsWith("#")) return { kind: "nothing" };
  // What messages suggest is typed as it stands there.
  const [command] = rest;
  if (first.text === "pawl" && command !== undefined)
    return parseCommand(line, command.text, rest.slice(1), around, { freeText: false });
  if (!first.text.startsWith("/")) throw noSlash(first.text, around.shapes);
  const name = first.text.slice(1);
  if (name === "quit" || name === "exit") return { kind: "quit" };
  if (name === "help") return { kind: "help", topic: rest[0]?.text.replace(/^\//, "") };
  if (name === "task" && !hasSubcommand(around.shapes, "task", rest[0])) return { kind: "task", id: rest[0]?.text };
  return parseCommand(line, name, rest, around, { freeText: true });
}

export function toArgv({ path, options, positionals, task }: CommandRequest): string[] {
  // A title may begin with a dash; everything else is held against the options by the command line itself.
  const separator = path[0] === "new" && positionals.length > 0 ? ["--"] : [];
  return [...path, ...options, ...separator, ...positionals, ...(task === undefined ? [] : [task])];
}

export function commandNames(shapes: Shape[]): string[] {
  const names = shapes.map(({ name }) => name).filter((name) => !NOT_HERE.includes(name));
  return [...new Set([...names, ...OWN_COMMANDS.map(({ name }) => name), "exit"])];
}

function parseCommand(
  line: string,
  name: string,
  words: Word[],
  around: Surroundings,
  { freeText }: { freeText: boolean },
): Request {
  const top = around.shapes.find((shape) => shape.name === name);
  if (top === undefined || NOT_HERE.includes(name)) throw unknownCommand(name, around.shapes);
  const sub = top.subcommands.find((shape) => shape.name === words[0]?.text);
  const shape = sub ?? top;
  const path = sub === undefined ? [name] : [name, sub.name];
  const { options, given, rest } = takeOptions(line, shape, sub === undefined ? words : words.slice(1), around);
  const request: CommandRequest = { path, options, positionals: [], task: undefined, missing: [] };
  if (given.has("--help")) return { kind: "command", ...request };

  const needed = shape.arguments.filter(({ required }) => required);
  const free = freeText ? FREE_TEXT[name] : undefined;
  if (name === "new" && freeText) {
    if (rest.length > 0) request.positionals = [textOf(line, rest)];
    else if (!given.has("--from")) request.missing.push("title");
  } else if (free !== undefined && !given.has(`--${free.option}`)) {
    const [fixed, words] = cut(rest, needed.length);
    request.positionals = fixed.map(({ text }) => text);
    const [only] = words;
    if (words.length === 1 && only?.quoted === false && around.taskIds.includes(only.text)) request.task = only.text;
    else if (words.length > 0) options.push(`--${free.option}=${textOf(line, words)}`);
  } else request.positionals = rest.map(({ text }) => text);

  request.missing.push(...needed.slice(request.positionals.length).map((argument) => argument.name));
  const hasText = (option: string): boolean =>
    given.has(`--${option}`) || options.some((word) => word.startsWith(`--${option}=`));
  const prose = FREE_TEXT[name];
  if (prose?.required === true && !hasText(prose.option)) request.missing.push(prose.option);
  fillTask(request, shape, given, around.current);
  return { kind: "command", ...request };
}

/** The task that is meant stands last; where none was named it is the current one. */
function fillTask(request: CommandRequest, shape: Shape, given: Set<string>, current: string | undefined): void {
  const index = shape.arguments.findIndex(({ name }) => name === "task");
  if (index >= 0) {
    if (request.positionals.length === index + 1 && request.missing.length === 0)
      request.task ??= request.positionals.pop();
    else if (request.positionals.length <= index) request.task ??= current;
    return;
  }
  const asOption = shape.options.some(({ long }) => long === "--task");
  if (asOption && current !== undefined && request.positionals.length === 0 && !given.has("--task"))
    request.options.push(`--task=${current}`);
}

interface Taken {
  options: string[];
  /** Long names of the options that were given. */
  given: Set<string>;
  rest: Word[];
}

function takeOptions(line: string, shape: Shape, words: Word[], around: Surroundings): Taken {
  const known = new Map<string, { long: string; takesValue: boolean }>([
    ["--help", { long: "--help", takesValue: false }],
    ["-h", { long: "--help", takesValue: false }],
  ]);
  for (const { long, short, takesValue } of shape.options)
    for (const flag of [long, short]) if (flag !== undefined) known.set(flag, { long, takesValue });
  const optionOf = (word: Word | undefined): { long: string; takesValue: boolean } | undefined =>
    word === undefined || word.quoted ? undefined : known.get(word.text.replace(/=.*$/s, ""));

  const taken: Taken = { options: [], given: new Set(), rest: [] };
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) break;
    if (word.text === "--" && !word.quoted) {
      taken.rest.push(...words.slice(at + 1));
      break;
    }
    const option = optionOf(word);
    if (option === undefined) {
      taken.rest.push(word);
      continue;
    }
    taken.given.add(option.long);
    if (!option.takesValue || word.text.includes("=")) {
      taken.options.push(word.text);
      continue;
    }
    const value = [words[at + 1]].filter((next) => next !== undefined && optionOf(next) === undefined) as Word[];
    if (PROSE.includes(option.long) && value[0]?.quoted === false) {
      for (let next = at + 2; next < words.length && optionOf(words[next]) === undefined; next++)
        value.push(words[next] as Word);
      // `--reason because other-task`, as on the command line.
      if (value.length > 1 && around.taskIds.includes(value.at(-1)?.text ?? "")) value.pop();
    }
    // Without a value the option goes on as it is: the command line says what is missing.
    taken.options.push(value.length === 0 ? option.long : `${option.long}=${textOf(line, value)}`);
    at += value.length;
  }
  return taken;
}

function cut<T>(items: T[], at: number): [T[], T[]] {
  return [items.slice(0, at), items.slice(at)];
}

function hasSubcommand(shapes: Shape[], name: string, word: Word | undefined): boolean {
  const shape = shapes.find((candidate) => candidate.name === name);
  return shape?.subcommands.some((sub) => sub.name === word?.text) === true;
}

function noSlash(word: string, shapes: Shape[]): Error {
  const near = nearest(word, commandNames(shapes));
  return usage(`commands begin with a slash, found \`${word}\``, {
    hint: near === undefined ? "see /help" : `did you mean /${near}?`,
  });
}

function unknownCommand(name: string, shapes: Shape[]): Error {
  if (NOT_HERE.includes(name)) return usage(`/${name} does not go here: this is the REPL already`);
  const near = nearest(name, commandNames(shapes));
  return usage(`there is no command \`/${name}\``, {
    hint: near === undefined ? "see /help" : `did you mean /${near}?`,
  });
}
