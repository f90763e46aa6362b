/** What the command line's own program knows of its commands, as plain values: nothing about them is said twice. */
import type { Command } from "commander";

export interface Shape {
  name: string;
  description: string;
  arguments: { name: string; required: boolean }[];
  options: { long: string; short: string | undefined; takesValue: boolean; description: string }[];
  subcommands: Shape[];
}

export function shapesOf(program: Command): Shape[] {
  return program.commands.map(shapeOf);
}

function shapeOf(command: Command): Shape {
  return {
    name: command.name(),
    description: command.description(),
    arguments: command.registeredArguments.map((argument) => ({ name: argument.name(), required: argument.required })),
    options: command.options.flatMap(({ long, short, required, optional, description }) =>
      typeof long === "string" ? [{ long, short, takesValue: required || optional, description }] : [],
    ),
    subcommands: command.commands.map(shapeOf),
  };
}
