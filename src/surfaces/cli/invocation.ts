/** One call of a command: its words, and what it reports. Prints the report, as text or as one JSON document. */
import { usage } from "../../errors.js";
import { openContext, record, type Engine, type TaskContext } from "../../orchestrator/context.js";
import { findWorkspace, rememberTask } from "../../workspace/workspace.js";
import type { Io } from "../io.js";
import { styleFor, type Style } from "../style.js";

export interface Invocation {
  io: Io;
  style: Style;
  args: (string | undefined)[];
  options: Record<string, unknown>;
  json: boolean;
  engine: Engine;
  /** The value of an option that is text. */
  text(option: string): string | undefined;
  flag(option: string): boolean;
  /** The task that is meant; `command` goes to its transcript, unless it only looks. */
  task(named: string | undefined, command?: string): Promise<TaskContext>;
}

/** What a command has to say. `text` is made only when somebody will read it. */
export interface Report {
  /** Undefined where everything has been printed already. */
  json: unknown;
  text: () => string;
  exitCode?: number;
}

export function invoke(
  io: Io,
  args: (string | undefined)[],
  options: Record<string, unknown>,
  handler: (invocation: Invocation) => Promise<Report>,
): Promise<number> {
  return io.interruptible(async (signal) => {
    const json = options["json"] === true;
    const text = (option: string): string | undefined =>
      typeof options[option] === "string" ? options[option] : undefined;
    let lineIsOpen = false;
    const show = (output: string): void => {
      io.live(output);
      lineIsOpen = !output.endsWith("\n");
    };
    const engine: Engine = {
      workspace: findWorkspace(io.cwd, io.env, text("dir")),
      user: io.user,
      now: io.now,
      progress: json ? () => undefined : show,
      signal,
    };
    const invocation: Invocation = {
      io,
      style: styleFor(io, io.outIsTerminal),
      args,
      options,
      json,
      engine,
      text,
      flag: (option) => options[option] === true,
      task: (named, command) => openTaskContext(io, engine, named, command),
    };
    // What follows begins on a line of its own, though an agent's last one had no end.
    const report = await handler(invocation).finally(() => (lineIsOpen ? io.err("\n") : undefined));
    if (json) {
      if (report.json !== undefined) io.out(`${JSON.stringify(report.json, null, 2)}\n`);
    } else {
      const output = report.text();
      if (output !== "") io.out(output.endsWith("\n") ? output : `${output}\n`);
    }
    return report.exitCode ?? 0;
  });
}

export function requireText(invocation: Invocation, option: string, why: string): string {
  const text = invocation.text(option)?.trim() ?? "";
  if (text === "") throw usage(`--${option} is needed, and may not be blank: ${why}`, { hint: `add --${option} "…"` });
  return text;
}

async function openTaskContext(
  io: Io,
  engine: Engine,
  named: string | undefined,
  command: string | undefined,
): Promise<TaskContext> {
  const context = await openContext(engine, named);
  if (command !== undefined) {
    rememberTask(engine.workspace, context.id);
    record(context, { kind: "command", text: command });
    io.recorded?.();
  }
  return context;
}
