/** The board as text. Pure: rows in, lines out. */
import type { AgentView } from "../../orchestrator/tending/agent-view.js";
import type { BoardRow } from "../../orchestrator/tending/board.js";
import { cutToWidth } from "../cut-to-width.js";
import type { Style } from "../style.js";

export interface BoardLook {
  style: Style;
  now: Date;
  /** Of the terminal; unbounded where there is none. */
  columns?: number;
  /** The row that keys are about. */
  selected?: number;
}

const HEADER = ["task", "status", "round", "agent", "active", "files", ""];
const LONGEST_PROMPT = 60;

export function formatBoard(rows: BoardRow[], look: BoardLook): string {
  if (rows.length === 0) return 'no task yet; make one: pawl new "<title>"';
  const cells = rows.map((row) => cellsOf(row, look.now));
  const widths = HEADER.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]): string =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd();
  const cut = (text: string): string => (look.columns === undefined ? text : cutToWidth(text, look.columns - 3));
  const mark = (index: number): string => (look.selected === undefined ? "" : index === look.selected ? "> " : "  ");
  return [
    look.style.dim(cut(mark(-1) + line(HEADER))),
    ...cells.map((row, index) => colour(rows[index] as BoardRow, cut(mark(index) + line(row)), look.style)),
  ].join("\n");
}

function cellsOf(row: BoardRow, now: Date): string[] {
  return [
    row.task,
    row.phase,
    row.round === 0 ? "" : String(row.round),
    agentCell(row),
    row.lastActivity === null ? "" : ago(now.getTime() - Date.parse(row.lastActivity)),
    row.changes === null ? "" : String(row.changes),
    noteOf(row),
  ];
}

function agentCell({ agent, turn }: BoardRow): string {
  if (agent !== null) return `${SIGNS[agent.state]} ${agent.role}`;
  return turn === "human" ? "you" : "";
}

/** What is to be done about it, where something is. */
function noteOf({ problem, waiting, agent, task, phase }: BoardRow): string {
  if (problem !== null) return oneLine(problem);
  if (waiting !== null) return `waits: ${oneLine(waiting)}`;
  if (agent === null) return "";
  if (agent.state === "waiting") return `asks: ${oneLine(agent.prompt ?? "").slice(0, LONGEST_PROMPT)}`;
  return agent.state === "gone" ? `ended; pawl run ${phase} ${task}` : agent.state;
}

const SIGNS: Record<AgentView["state"], string> = {
  working: "●",
  waiting: "?",
  stalled: "…",
  ending: "○",
  gone: "✗",
  unknown: "~",
};

function colour({ problem, waiting, agent }: BoardRow, text: string, style: Style): string {
  if (problem !== null || agent?.state === "gone") return style.red(text);
  if (waiting !== null || agent?.state === "waiting" || agent?.state === "stalled") return style.yellow(text);
  return agent?.state === "working" ? style.green(text) : text;
}

function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
