/** `.pawl/repl-history`: what was typed, oldest first, kept between starts; secrets masked. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { maskSecrets } from "../../task/mask.js";
import type { Workspace } from "../../workspace/workspace.js";

const MAX_LINES = 1000;

export function historyFile(workspace: Workspace): string {
  return join(workspace.root, ".pawl", "repl-history");
}

export function readHistoryFile(workspace: Workspace): string[] {
  try {
    return readFileSync(historyFile(workspace), "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch {
    return [];
  }
}

/** With a line more. The same line twice in a row is kept once, and no more lines than the bound. */
export function withLine(lines: readonly string[], line: string): string[] {
  const added = line.trim();
  if (added === "" || lines.at(-1) === added) return [...lines].slice(-MAX_LINES);
  return [...lines, added].slice(-MAX_LINES);
}

/**
 * Adds to what the file holds now, which may be more than at the start: another REPL may be open. Gives what to recall from.
 * A convenience: that it cannot be kept is no reason to fail.
 */
export function remember(workspace: Workspace, known: readonly string[], line: string): string[] {
  const masked = maskSecrets(line, workspace.env);
  if (isWorkspace(workspace)) {
    try {
      const file = historyFile(workspace);
      mkdirSync(dirname(file), { recursive: true });
      const text = `${withLine(readHistoryFile(workspace), masked).join("\n")}\n`;
      writeFileSync(`${file}.${process.pid}`, text, { mode: 0o600 });
      renameSync(`${file}.${process.pid}`, file);
    } catch {
      // A read-only workspace.
    }
  }
  return withLine(known, masked);
}

/** `.pawl` makes a directory a workspace: typing a command in any directory must not do that. */
function isWorkspace({ root }: Workspace): boolean {
  return ["tasks", "pawl.json", ".pawl"].some((name) => existsSync(join(root, name)));
}
