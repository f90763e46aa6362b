/** The REPL: reads a line, runs it, reads the next. Holds nothing that a restart would lose. */
import { exitCode, PawlError } from "../../errors.js";
import { openContext } from "../../orchestrator/context.js";
import { suggest } from "../../orchestrator/suggest.js";
import { packageVersion } from "../../system/locate.js";
import { listTaskIds, rememberTask, resolveTask, type Workspace } from "../../workspace/workspace.js";
import { createProgram } from "../cli/commands.js";
import { formatSuggestion } from "../cli/format.js";
import type { Invocation, Report } from "../cli/invocation.js";
import { reportError } from "../cli/main.js";
import { styleFor } from "../style.js";
import { complete } from "./complete.js";
import { readHistoryFile, remember } from "./history.js";
import { pipedLines, terminalLines, type Lines } from "./lines.js";
import { phaseOfTask, readOffers } from "./offers.js";
import { commandNames } from "./parse-line.js";
import { runLine } from "./run-line.js";
import { engineOf, type Session } from "./session.js";
import { shapesOf } from "./shapes.js";
import { slashHints } from "./slash-hints.js";

const INTERRUPTED = exitCode("interrupted");

export async function repl(call: Invocation): Promise<Report> {
  const interactive = call.io.inIsTerminal && call.io.errIsTerminal;
  const session: Session = {
    call,
    // Colours are for a person at a terminal, not for a script's log that happens to be shown on one.
    io: interactive ? call.io : { ...call.io, outIsTerminal: false, errIsTerminal: false },
    interactive,
    shapes: shapesOf(createProgram(call.io, () => undefined)),
    current: taskToBeginWith(call.engine.workspace, call.args[0]),
  };
  const lines = openLines(session);
  try {
    if (interactive) await greet(session);
    const code = await readAndRun(session, lines);
    return { json: undefined, text: () => "", exitCode: code };
  } finally {
    lines.close();
  }
}

async function readAndRun(session: Session, lines: Lines): Promise<number> {
  const { io, interactive } = session;
  const { signal } = session.call.engine;
  let history = interactive ? readHistoryFile(engineOf(session).workspace) : [];
  let failed = 0;
  for (;;) {
    const prompt = interactive ? await promptOf(session) : "";
    const line = await lines.next(prompt, history);
    if (signal?.aborted === true) return INTERRUPTED;
    if (line.kind === "end") {
      if (interactive) io.err("\n");
      break;
    }
    if (line.kind === "interrupt") {
      io.err(line.text === "" ? "\nto leave: /quit or Ctrl-D\n" : "^C\n");
      continue;
    }
    if (line.ahead) io.err(`${prompt}${line.text}\n`);
    if (interactive) history = remember(engineOf(session).workspace, history, line.text);
    const code = await runLine(session, line.text);
    if (code === null) break;
    if (code !== 0) failed = code;
    if (code === INTERRUPTED) {
      // Whoever stops the work does not want the lines after it, which rely on it.
      if (!interactive) return INTERRUPTED;
      const dropped = lines.drop();
      if (dropped.length > 0) io.err(`not run: ${dropped.join(" · ")}\n`);
    }
  }
  return interactive ? 0 : failed;
}

function openLines(session: Session): Lines {
  const { stdin, stderr } = session.io.streams();
  const { signal } = session.call.engine;
  if (!session.interactive) return pipedLines(stdin, signal);
  return terminalLines({
    stdin,
    stderr,
    signal,
    complete: async (line) => complete(line, session.shapes, await readOffers(engineOf(session), session.current)),
  });
}

async function promptOf(session: Session): Promise<string> {
  const { current, io } = session;
  const style = styleFor(io, io.errIsTerminal);
  if (current === undefined) return `${style.bold("pawl")}> `;
  return `${style.bold("pawl")} ${current} · ${style.cyan(await phaseOfTask(engineOf(session), current))}> `;
}

/** Named, or meant by where we are, or used last. Having none is no error here: there is /new. */
function taskToBeginWith(workspace: Workspace, named: string | undefined): string | undefined {
  if (named !== undefined) {
    const task = resolveTask(workspace, named);
    rememberTask(workspace, task);
    return task;
  }
  try {
    return resolveTask(workspace);
  } catch (error) {
    if (error instanceof PawlError && error.kind === "usage") return undefined;
    throw error;
  }
}

async function greet(session: Session): Promise<void> {
  const { io, current, shapes, call } = session;
  const style = styleFor(io, io.errIsTerminal);
  io.err(`pawl ${packageVersion()}: /help lists the commands, /quit leaves\n`);
  const engine = engineOf(session);
  if (current === undefined) {
    const ids = listTaskIds(engine.workspace);
    if (ids.length > 0) await runLine(session, "/tasks");
    io.err(ids.length > 0 ? "choose one: /task <id>\n" : "no task yet; make one: /new <title>\n");
    return;
  }
  try {
    const suggestion = await suggest(await openContext(engine, current));
    io.err(`${slashHints(formatSuggestion(suggestion, style), commandNames(shapes))}\n`);
  } catch (error) {
    // A task that cannot be opened is no reason not to begin: /verify and /task are there for that.
    reportError(error, { ...io, out: io.err }, call.json);
  }
}
