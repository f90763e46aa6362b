/** One line: parsed, completed by asking where something is missing, run through the command line's own program. */
import { usage } from "../../errors.js";
import { lastTask, listTaskIds, rememberTask, resolveTask } from "../../workspace/workspace.js";
import { main, reportError } from "../cli/main.js";
import type { Io } from "../io.js";
import { styleFor } from "../style.js";
import { formatHelp } from "./help.js";
import { askForMissing, type Asker } from "./menus.js";
import { phaseOfTask, readOffers, targetsOf } from "./offers.js";
import { commandNames, FREE_TEXT, parseLine, toArgv, type CommandRequest, type Request } from "./parse-line.js";
import { openScreen } from "./screen.js";
import { engineOf, recordTyped, type Session } from "./session.js";
import { slashHints } from "./slash-hints.js";

/** A spinner would be drawn over their questions, or what they show. */
const HAVE_THE_SCREEN = ["form", "attach", "watch"];

/** The exit code that the line would have as a command of its own; null: leave. */
export async function runLine(session: Session, line: string): Promise<number | null> {
  try {
    const { current, shapes } = session;
    const request = parseLine(line, { shapes, current, taskIds: listTaskIds(engineOf(session).workspace) });
    return await runRequest(session, request, line);
  } catch (error) {
    return quietly(session, (io) => Promise.resolve(reportError(error, io, session.call.json)));
  }
}

async function runRequest(session: Session, request: Request, line: string): Promise<number | null> {
  switch (request.kind) {
    case "nothing":
      return 0;
    case "quit":
      recordTyped(session, line);
      return null;
    case "help":
      recordTyped(session, line);
      return help(session, request.topic);
    case "task":
      return switchTask(session, request.id, line);
    case "command":
      return runCommand(session, request, line);
  }
}

function help(session: Session, topic: string | undefined): Promise<number> {
  const { shapes, io, call } = session;
  if (topic !== undefined && shapes.some(({ name }) => name === topic))
    return quietly(session, (quiet) => main([topic, "--help"], quiet));
  const text = formatHelp(shapes, styleFor(io, io.outIsTerminal));
  io.out(call.json ? `${JSON.stringify({ help: text })}\n` : `${text}\n`);
  return Promise.resolve(0);
}

async function switchTask(session: Session, id: string | undefined, line: string): Promise<number> {
  const engine = engineOf(session);
  const ids = listTaskIds(engine.workspace);
  if (id === undefined && (!session.interactive || ids.length === 0)) {
    throw usage("/task needs the id of a task", {
      hint: ids.length === 0 ? "make one: /new <title>" : `/task ${ids.slice(0, 10).join("|")}`,
    });
  }
  const chosen = id ?? (await (await askerOf(session)).select("Which task?", ids));
  if (chosen === null) return cancelled(session);
  const task = resolveTask(engine.workspace, chosen);
  session.current = task;
  rememberTask(engine.workspace, task);
  recordTyped(session, line);
  const phase = await phaseOfTask(engine, task);
  session.io.out(session.call.json ? `${JSON.stringify({ task, phase })}\n` : `now at ${task}, in ${phase}\n`);
  return 0;
}

async function runCommand(session: Session, request: CommandRequest, line: string): Promise<number> {
  let recorded = false;
  try {
    const complete = request.missing.length === 0 ? request : await completed(session, request);
    if (complete === null) return cancelled(session);
    const argv = toArgv(complete);
    const { call } = session;
    const [name = ""] = complete.path;
    if (call.json && !argv.includes("--json")) argv.splice(complete.path.length, 0, "--json");
    const directory = call.text("dir");
    if (directory !== undefined && !argv.some((word) => word.startsWith("--dir=")))
      argv.splice(complete.path.length, 0, `--dir=${directory}`);
    const label = HAVE_THE_SCREEN.includes(name) ? undefined : `/${name}`;
    const code = await quietly(session, (io) => main(argv, { ...io, recorded: () => (recorded = true) }), label);
    if (name === "new" && code === 0) {
      // The new task's transcript begins with it.
      recorded = true;
      session.current = lastTask(engineOf(session).workspace) ?? session.current;
    }
    return code;
  } finally {
    if (!recorded) recordTyped(session, line, request.task);
  }
}

/** What is missing is asked for at a terminal; elsewhere it is an error. */
async function completed(session: Session, request: CommandRequest): Promise<CommandRequest | null> {
  const engine = engineOf(session);
  const aboutTask = request.missing.some((name) => name === "phase" || name === "choice");
  const task = aboutTask ? resolveTask(engine.workspace, request.task) : request.task;
  const offers = await readOffers(engine, task);
  if (request.missing.includes("choice") && offers.choices.length === 0) {
    throw usage(`${await phaseOfTask(engine, task ?? "")} asks nothing that could be answered`, { hint: "see /why" });
  }
  if (!session.interactive) throw incomplete(request, offers.choices);
  return askForMissing(request, {
    asker: await askerOf(session),
    offers,
    targets: (choice) => targetsOf(engine, task ?? "", choice),
  });
}

function incomplete(request: CommandRequest, choices: string[]): Error {
  const command = `/${request.path.join(" ")}`;
  const [name = ""] = request.path;
  const text = FREE_TEXT[name]?.option;
  const words = [
    ...request.positionals,
    ...request.missing
      .filter((word) => word !== text)
      .map((word) => (word === "choice" ? choices.join("|") : `<${word}>`)),
    ...(text === undefined ? [] : [`<the ${text}, in free text>`]),
  ];
  return usage(`${command} needs a ${request.missing.join(" and a ")}`, { hint: `${command} ${words.join(" ")}` });
}

async function askerOf(session: Session): Promise<Asker> {
  const { inquirerAsker } = await import("./inquirer-asker.js");
  return inquirerAsker(session.io.streams(), session.call.engine.signal);
}

function cancelled(session: Session): number {
  session.io.err("cancelled\n");
  return 0;
}

/** Runs something whose output has to share the screen with a spinner, the JSON lines, and the REPL's way of speaking. */
async function quietly(session: Session, work: (io: Io) => Promise<number>, label?: string): Promise<number> {
  const { io, call, interactive, shapes } = session;
  const drawing = interactive && label !== undefined && io.env["TERM"] !== "dumb";
  const screen = openScreen(label ?? "", drawing ? (text) => io.err(text) : null);
  const names = commandNames(shapes);
  const spoken = (text: string): string => slashHints(text, names);
  let document = "";
  const err = screen.through((text) => io.err(spoken(text)));
  const live = screen.through((text) => io.live(spoken(text)));
  const out = screen.through((text) => io.out(spoken(text)));
  try {
    return await work({ ...io, err, live, out: call.json ? (text) => (document += text) : out });
  } finally {
    screen.close();
    if (document !== "") io.out(oneLine(document));
  }
}

function oneLine(text: string): string {
  try {
    return `${JSON.stringify(JSON.parse(text))}\n`;
  } catch {
    return text; // Help is no JSON document.
  }
}
