/** How a run ended, as its record says. For people: an agent can write there, so that nothing is decided by it. */
import { runPath } from "../task/archive.js";
import { resolveInside } from "../task/paths.js";
import { readPlainFile } from "../task/plain-file.js";
import type { TaskContext } from "./context.js";

export interface RunEnd {
  summary: string;
  exitCode: number | null;
}

const MOST_BYTES = 1024 * 1024;
const MOST_CHARS = 300;

export function readEnd({ dir }: TaskContext, run: { phase: string; number: number }): RunEnd | null {
  const place = resolveInside(dir, `${runPath(run.phase, run.number)}/result.json`);
  if ("error" in place) return null;
  try {
    const { summary, exitCode } = JSON.parse(readPlainFile(place.path, MOST_BYTES).toString("utf8")) as Partial<RunEnd>;
    if (typeof summary !== "string") return null;
    return { summary: summary.slice(0, MOST_CHARS), exitCode: typeof exitCode === "number" ? exitCode : null };
  } catch {
    return null;
  }
}
