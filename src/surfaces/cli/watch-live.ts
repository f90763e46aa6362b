/** The board in a terminal: redrawn in place, with keys. Nothing of it is kept. */
import { lookAfter } from "../../orchestrator/tending/look-after.js";
import { monitor } from "../../orchestrator/tending/monitor.js";
import { sessionOf } from "../../orchestrator/tending/session-of.js";
import type { BoardRow } from "../../orchestrator/tending/board.js";
import { runPhase } from "../../orchestrator/run-phase.js";
import { messageOf } from "../../errors.js";
import type { Invocation } from "./invocation.js";
import { attachTo } from "./attach-command.js";
import { formatBoard } from "./format-board.js";

const SCREEN_ON = "\u001b[?1049h\u001b[?25l";
const SCREEN_OFF = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const ERASE_LINE = "\u001b[K";
const ERASE_BELOW = "\u001b[J";
const HELP = "↑↓ choose   Enter attach, or start again what ended   q quit";

type Key = "up" | "down" | "enter" | "quit";
const KEYS: Record<string, Key> = {
  "\u001b[A": "up",
  k: "up",
  "\u001b[B": "down",
  j: "down",
  "\r": "enter",
  q: "quit",
  "\u0003": "quit",
};

export async function watchLive(call: Invocation, task: string | undefined, intervalMs: number): Promise<void> {
  // Enter leads into an agent's terminal and back; the board begins anew then.
  for (let selected = 0, note = ""; ;) {
    const left = await showBoard(call, task, intervalMs, { selected, note });
    if (left.row === undefined) return;
    selected = left.selected;
    note = await enter(call, left.row);
  }
}

interface Left {
  selected: number;
  /** Undefined: somebody wants to leave. */
  row?: BoardRow;
}

async function showBoard(
  call: Invocation,
  task: string | undefined,
  intervalMs: number,
  { selected: first, note }: { selected: number; note: string },
): Promise<Left> {
  const { io, style } = call;
  const { stdin } = io.streams();
  const stop = new AbortController();
  let rows: BoardRow[] = [];
  let selected = first;
  let chosen: BoardRow | undefined;
  const draw = (): void => {
    const lines = formatBoard(rows, { style, now: io.now(), columns: io.columns(), selected }).split("\n");
    const all = [...lines, "", style.dim(HELP), ...(note === "" ? [] : [style.yellow(note)])];
    io.out(`${HOME}${all.map((line) => `${line}${ERASE_LINE}\r\n`).join("")}${ERASE_BELOW}`);
  };
  const onKeys = (data: Buffer): void => {
    const key = KEYS[data.toString("utf8")];
    if (key === "up") selected = Math.max(0, selected - 1);
    if (key === "down") selected = Math.min(rows.length - 1, selected + 1);
    if (key === "enter") chosen = rows[selected];
    if (key === "quit" || chosen !== undefined) stop.abort();
    else draw();
  };
  const onAbort = (): void => stop.abort();
  call.engine.signal?.addEventListener("abort", onAbort, { once: true });
  if (call.engine.signal?.aborted === true) onAbort();
  io.out(SCREEN_ON);
  stdin.setRawMode(true);
  stdin.resume();
  stdin.on("data", onKeys);
  try {
    await monitor(
      { ...call.engine, signal: stop.signal, progress: () => undefined },
      {
        ...(task === undefined ? {} : { task }),
        intervalMs,
        onBoard: (next) => {
          rows = next;
          selected = Math.max(0, Math.min(selected, rows.length - 1));
          draw();
        },
      },
    );
  } finally {
    stdin.off("data", onKeys);
    stdin.setRawMode(false);
    stdin.pause();
    call.engine.signal?.removeEventListener("abort", onAbort);
    io.out(SCREEN_OFF);
  }
  return { selected, ...(chosen === undefined ? {} : { row: chosen }) };
}

/** Into the agent's terminal, or a new agent for one that has ended; what cannot be done is said below the board. */
async function enter(call: Invocation, row: BoardRow): Promise<string> {
  try {
    const context = await call.task(row.task);
    await lookAfter(context);
    const place = await sessionOf(context);
    if (place !== null) {
      await attachTo(call.io, place.socket, { task: row.task });
      return "";
    }
    if (row.agent === null) return `nobody is at work on ${row.task}: pawl why ${row.task}`;
    await runPhase(context, row.phase);
    return `the agent of ${row.phase} is started for ${row.task}`;
  } catch (error) {
    return messageOf(error).split("\n")[0] ?? "";
  }
}
