/** What Linux shows of other processes, as far as it lets us; undefined where there is nothing to see. */
import { readFileSync } from "node:fs";

/** The fields after the command: state, parent, group, … */
export function statOf(pid: number): string[] | undefined {
  const stat = read(pid, "stat");
  // The second field is the command in parentheses and may itself contain spaces and parentheses.
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** What the process was started with. */
export function environmentOf(pid: number): Record<string, string> | undefined {
  const assignments = read(pid, "environ")?.split("\0");
  return assignments === undefined ? undefined : Object.fromEntries(assignments.map(split));
}

function split(assignment: string): [string, string] {
  const at = assignment.indexOf("=");
  return [assignment.slice(0, Math.max(at, 0)), assignment.slice(at + 1)];
}

function read(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}
