/** What the processes above this one were started with. */
import { environmentOf, statOf } from "./proc.js";

/** A chain that long is no chain of commands. */
const DEEPEST = 64;

/** The environment of the nearest ancestor that has the variable; undefined where none has, or none can be seen. */
export function ancestorWith(variable: string): Record<string, string> | undefined {
  let pid = process.ppid;
  for (let depth = 0; depth < DEEPEST && pid > 1; depth++) {
    const environment = environmentOf(pid);
    if (environment?.[variable] !== undefined) return environment;
    pid = Number(statOf(pid)?.[1] ?? 0);
  }
  return undefined;
}
