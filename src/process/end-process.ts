/** Ending what was started: its process group, and whatever left that group but still carries its mark. */
import { signalGroup, signalMarked, type Mark } from "./marked.js";

export interface Started {
  pid: number;
  mark: Mark | undefined;
}

/** Between the polite and the final signal. */
export const GRACE_MS = 2000;

/** `marker` names a variable of `env` with a value that no other run has. */
export function markOf(env: Record<string, string>, marker: string | undefined): Mark | undefined {
  const own = marker === undefined ? undefined : env[marker];
  // An empty value would be everybody's.
  if (marker === undefined || own === undefined || own === "") return undefined;
  return { variable: marker, holds: (value) => value === own };
}

export function signalAll({ pid, mark }: Started, signal: NodeJS.Signals): void {
  signalGroup(pid, signal);
  if (mark !== undefined) signalMarked(mark, signal, new Set([pid]));
}
