/** A file is replaced whole or not at all, and is on the disk when the call returns. */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";

let counter = 0;

export function writeFileDurably(path: string, content: string | Uint8Array): void {
  const directory = dirname(path);
  const temporary = join(directory, `.${basename(path)}.${process.pid}.${counter++}.tmp`);
  const fd = openNew(temporary, directory);
  try {
    writeAll(fd, typeof content === "string" ? Buffer.from(content) : content);
    fsyncSync(fd);
  } catch (error) {
    closeSync(fd);
    rmSync(temporary, { force: true });
    throw error;
  }
  closeSync(fd);
  renameSync(temporary, path);
  syncDirectory(directory);
}

/** Only a directory's own sync makes a rename or a new name in it last. */
export function syncDirectory(directory: string): void {
  const fd = openSync(directory, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** A write may take less than it was given, for instance on a full disk. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length;) offset += writeSync(fd, bytes, offset);
}

function openNew(path: string, directory: string): number {
  try {
    return openSync(path, "wx");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    mkdirSync(directory, { recursive: true });
    return openSync(path, "wx");
  }
}
