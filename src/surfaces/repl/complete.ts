/** TAB: what could be meant by the word before the cursor. Pure. */
import { commandNames, FREE_TEXT } from "./parse-line.js";
import type { Shape } from "./shapes.js";

/** What the workspace and the current task offer to choose from. */
export interface Offers {
  tasks: string[];
  phases: string[];
  choices: string[];
  workflows: string[];
}

/** The candidates, and the part of the line that they stand for: what node:readline asks for. */
export type Completion = [candidates: string[], word: string];

export function complete(line: string, shapes: Shape[], offers: Offers): Completion {
  const words = line.trimStart().split(/\s+/);
  const word = words.pop() ?? "";
  const candidates = candidatesFor(words, word, shapes, offers).filter((candidate) => candidate.startsWith(word));
  const [only] = candidates;
  return [candidates.length === 1 ? [`${only ?? ""} `] : candidates, word];
}

function candidatesFor(before: string[], word: string, shapes: Shape[], offers: Offers): string[] {
  const [command, ...given] = before;
  if (command === undefined) return commandNames(shapes).map((name) => `/${name}`);
  if (!command.startsWith("/")) return [];
  const name = command.slice(1);
  if (name === "task" && given.length === 0) return offers.tasks;
  if (name === "help" && given.length === 0) return commandNames(shapes);
  const top = shapes.find((candidate) => candidate.name === name);
  if (top === undefined) return [];
  const sub = top.subcommands.find((candidate) => candidate.name === given[0]);
  if (sub === undefined && top.subcommands.length > 0)
    return given.length === 0 ? top.subcommands.map((candidate) => candidate.name) : [];
  return argumentsOf(sub ?? top, sub === undefined ? given : given.slice(1), word, offers);
}

function argumentsOf(shape: Shape, given: string[], word: string, offers: Offers): string[] {
  const option = shape.options.find(({ long, short }) => [long, short].includes(given.at(-1)));
  if (option?.takesValue === true) return valuesOf(option.long.slice(2), offers);
  if (word.startsWith("-"))
    return [...shape.options.map(({ long }) => long), "--help"].filter((long) => !given.includes(long));
  const taking = shape.options.filter(({ takesValue }) => takesValue).flatMap(({ long, short }) => [long, short]);
  const positionals = given.filter((text, at) => !text.startsWith("-") && !taking.includes(given[at - 1] ?? ""));
  const argument = shape.arguments[positionals.length];
  // After the arguments of such a command comes free text, not a task.
  if (argument === undefined || (argument.name === "task" && shape.name in FREE_TEXT)) return [];
  return valuesOf(argument.name, offers);
}

function valuesOf(name: string, offers: Offers): string[] {
  switch (name) {
    case "task":
      return offers.tasks;
    case "phase":
    case "to":
      return offers.phases;
    case "choice":
      return offers.choices;
    case "workflow":
      return offers.workflows;
    default:
      return [];
  }
}
