/** Commit messages of pawl's own commits, and words that several messages share. */
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

export function revertMessage(settings: Pick<TaskSettings, "id" | "title">, reason: string, reverted: string): string {
  const subject = `Revert ${oneLine(settings.title) || settings.id}`;
  const message = taskMessage(subject, settings, { [REVERT_TRAILER]: reverted });
  return message.replace("\n\n", () => `\n\n${oneLine(reason)}\n\n`);
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Names for a message, not more of them than people read. */
export function list(names: readonly string[]): string {
  const more = names.length > LISTED ? ` and ${names.length - LISTED} more` : "";
  return `${names.slice(0, LISTED).join(", ")}${more}`;
}

const LISTED = 10;
