import { randomUUID } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { codeOf } from "../errors.js";

/**
 * Writes a file where agents can write too. What lies there already may be a pipe, a link, or a second name of a file that
 * is somewhere else: a rename takes its place, and neither waits for it nor writes through it. A directory stays.
 */
export function placeFile(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.${randomUUID()}.tmp`;
  writeFileSync(temporary, content, { flag: "wx" });
  try {
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary);
    if (codeOf(error) !== "EISDIR") throw error;
  }
}
