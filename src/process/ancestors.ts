/** What the processes above this one were started with. */
import { environmentOf, statOf } from "./proc.js";

/** A chain that long is no chain of commands. */
const DEEPEST = 64;

/** The environments of the ancestors that have the variable, as far as they can be seen; the nearest first. */
export function ancestorsWith(variable: string): Record<string, string>[] {
  const found: Record<string, string>[] = [];
  let pid = process.ppid;
  for (let depth = 0; depth < DEEPEST && pid > 1; depth++) {
    const environment = environmentOf(pid);
    if (environment?.[variable] !== undefined) found.push(environment);
    pid = Number(statOf(pid)?.[1] ?? 0);
  }
  return found;
}
