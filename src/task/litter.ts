/** What a writer that was killed left behind: the new state that it had not put in its place yet. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { livenessOf } from "../process/identity.js";
import { temporaryOwner } from "./atomic-file.js";

/** Under the task's lock: nobody else writes that file now. */
export function clearLitter(directory: string, file: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const pid = entry.isFile() ? temporaryOwner(entry.name, file) : undefined;
    // The start time of that process is not known: one that has the same number by now is left alone.
    if (pid === undefined || livenessOf({ pid, started: "unknown" }) !== "gone") continue;
    rmSync(join(directory, entry.name), { force: true });
  }
}
