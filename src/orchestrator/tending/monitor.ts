/** `pawl watch`: rounds of the board, until somebody has seen enough. */
import { setTimeout as pause } from "node:timers/promises";
import type { Engine } from "../context.js";
import { board, type BoardRow, type Counted } from "./board.js";

export interface MonitorOptions {
  task?: string;
  intervalMs: number;
  onBoard: (rows: BoardRow[]) => void;
}

export async function monitor(engine: Engine, { task, intervalMs, onBoard }: MonitorOptions): Promise<void> {
  const counted: Counted = new Map();
  const { signal } = engine;
  while (signal?.aborted !== true) {
    onBoard(await board(engine, task, counted));
    await pause(intervalMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  }
}
