/**
 * Processes known by a variable of their environment. A child that leaves its process group (`setsid`) still carries what
 * it was started with, and nobody else does: so it can be ended with the rest, and nothing else can be mistaken for it.
 */
import { readdirSync } from "node:fs";
import { groupOf } from "./identity.js";
import { environmentOf } from "./proc.js";

export interface Mark {
  variable: string;
  /** Whether this is the value; whoever knows only its hash can tell too. */
  holds(value: string): boolean;
}

/** Each round finds what was started while the one before went on; something that goes on for so long cannot be caught. */
const MOST_ROUNDS = 100;

/**
 * Sends a signal to the group of every process that carries the mark, once to each, and not to `told`. Where environments
 * of other processes cannot be seen, to none.
 */
export function signalMarked(mark: Mark, signal: NodeJS.Signals, told = new Set<number>()): void {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const groups = new Set(markedGroups(mark).filter((group) => !told.has(group)));
    if (groups.size === 0) return;
    for (const group of groups) {
      told.add(group);
      signalGroup(group, signal);
    }
  }
}

export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // It is gone already.
  }
}

function markedGroups(mark: Mark): number[] {
  return visibleProcesses()
    .filter((pid) => isMarked(pid, mark))
    .map(groupOf)
    .filter((group) => group !== undefined)
    .filter((group) => group > 1); // To the system, -1 is everybody.
}

function visibleProcesses(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isSafeInteger);
  } catch {
    return [];
  }
}

function isMarked(pid: number, { variable, holds }: Mark): boolean {
  const own = environmentOf(pid)?.[variable];
  return own !== undefined && holds(own);
}
