/** What the processes above this one were started with. Only where the system shows it; elsewhere there is nothing to see. */
import { readFileSync } from "node:fs";

/** A chain that long is no chain of commands. */
const DEEPEST = 64;

/** The environment of the nearest ancestor that has the variable; undefined where none has, or none can be seen. */
export function ancestorWith(variable: string): Record<string, string> | undefined {
  let pid = process.ppid;
  for (let depth = 0; depth < DEEPEST && pid > 1; depth++) {
    const environment = environmentOf(pid);
    if (environment?.[variable] !== undefined) return environment;
    pid = parentOf(pid);
  }
  return undefined;
}

function environmentOf(pid: number): Record<string, string> | undefined {
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    return Object.fromEntries(
      entries.flatMap((entry) => {
        const at = entry.indexOf("=");
        return at <= 0 ? [] : [[entry.slice(0, at), entry.slice(at + 1)]];
      }),
    );
  } catch {
    return undefined;
  }
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command in parentheses may itself contain spaces and parentheses; state and parent follow it.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? 0);
  } catch {
    return 0;
  }
}
