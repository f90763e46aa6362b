import type { BoardRow } from "../../orchestrator/tending/board.js";
import { interrupted } from "../../errors.js";
import type { Invocation, Report } from "./invocation.js";
import { formatBoard } from "./format-board.js";
import { milliseconds } from "../../workspace/config.js";

const INTERVAL = "2s";

/** The live board, which is the monitor as well: whoever is looked at is looked after. */
export async function watchCommand(call: Invocation): Promise<Report> {
  const [task] = call.args;
  if (call.flag("once") || call.json) return once(call, task);
  const intervalMs = milliseconds(call.text("interval") ?? INTERVAL);
  if (call.io.outIsTerminal && call.io.inIsTerminal) {
    const { watchLive } = await import("./watch-live.js");
    await watchLive(call, task, intervalMs);
    return { json: undefined, text: () => "" };
  }
  await watchLines(call, task, intervalMs);
  throw interrupted("the watch was ended; the agents go on", { hint: "pawl watch" });
}

async function once(call: Invocation, task: string | undefined): Promise<Report> {
  const { board } = await import("../../orchestrator/tending/board.js");
  const rows = await board(call.engine, task);
  return {
    json: { workspace: call.engine.workspace.root, tasks: rows },
    text: () => formatBoard(rows, { style: call.style, now: call.io.now() }),
  };
}

/** Without a terminal: a line for each thing that is new. */
async function watchLines(call: Invocation, task: string | undefined, intervalMs: number): Promise<void> {
  const { monitor } = await import("../../orchestrator/tending/monitor.js");
  const shown = new Map<string, string>();
  await monitor(call.engine, {
    ...(task === undefined ? {} : { task }),
    intervalMs,
    onBoard: (rows) => {
      for (const row of rows) {
        const line = lineOf(row);
        if (shown.get(row.task) === line) continue;
        shown.set(row.task, line);
        call.io.out(`${call.io.now().toISOString()} ${row.task}: ${line}\n`);
      }
    },
  });
}

function lineOf({ phase, round, agent, waiting, problem }: BoardRow): string {
  if (problem !== null) return problem;
  const who = agent === null ? "" : `, ${agent.role} ${agent.state}${agent.prompt === null ? "" : `: ${agent.prompt}`}`;
  return `${phase}, round ${round}${who}${waiting === null ? "" : `, waits: ${waiting}`}`;
}
