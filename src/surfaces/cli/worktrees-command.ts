import { cleanUp, listWorktrees, type WorktreeRow } from "../../orchestrator/worktrees.js";
import { formatTable } from "./format.js";
import type { Invocation, Report } from "./invocation.js";

const REFUSED = 1;

export async function worktreesCommand(call: Invocation): Promise<Report> {
  const isCleanUp = call.flag("gc");
  const rows = isCleanUp ? await cleanUp(call.engine) : await listWorktrees(call.engine);
  const kept = rows.filter(({ isOver, removed }) => isOver && removed === false);
  return {
    json: { worktrees: rows },
    text: () => (rows.length === 0 ? "no worktree" : `${tableOf(rows, call)}${notesOf(rows)}`),
    // Something that should have gone could not be kept elsewhere.
    exitCode: isCleanUp && kept.length > 0 ? REFUSED : 0,
  };
}

function tableOf(rows: WorktreeRow[], call: Invocation): string {
  return formatTable(
    ["task", "phase", "size", "uncommitted", "unmerged", "path"],
    rows.map(({ task, phase, bytes, uncommitted, unmerged, path, removed }) => [
      task,
      phase ?? "(no such task)",
      sizeOf(bytes),
      String(uncommitted ?? "?"),
      String(unmerged ?? "?"),
      removed === true ? `removed ${path}` : path,
    ]),
    call.style,
  );
}

function notesOf(rows: WorktreeRow[]): string {
  const notes = rows.flatMap(({ task, notes = [] }) => notes.map((note) => `  ${task}: ${note}`));
  return notes.length === 0 ? "" : `\n${notes.join("\n")}`;
}

function sizeOf(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  const step = Math.min(units.length - 1, bytes === 0 ? 0 : Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step] ?? ""}`;
}
