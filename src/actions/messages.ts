/** Commit messages of pawl's own commits. */
import type { TaskSettings } from "./types.js";

export const TASK_TRAILER = "Pawl-Task";
export const REVERT_TRAILER = "Pawl-Revert-Of";

/** One line, and trailers by which the commit is found again. */
export function taskMessage(
  subject: string,
  { id }: Pick<TaskSettings, "id">,
  trailers: Record<string, string> = {},
): string {
  const all = { ...trailers, [TASK_TRAILER]: id };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `${oneLine(subject) || id}\n\n${lines.join("\n")}\n`;
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
