/**
 * A file is replaced whole or not at all, and is on the disk when the promise is fulfilled. Only the syncs are waited for
 * elsewhere: they take longer than all the rest, and a batch has other tasks to drive meanwhile.
 */
import { closeSync, fsync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";

let counter = 0;

export async function writeFileDurably(path: string, content: string | Uint8Array): Promise<void> {
  const directory = dirname(path);
  const temporary = join(directory, `.${basename(path)}.${process.pid}.${counter++}.tmp`);
  const fd = openNew(temporary, directory);
  try {
    writeAll(fd, typeof content === "string" ? Buffer.from(content) : content);
    await sync(fd);
  } catch (error) {
    closeSync(fd);
    rmSync(temporary, { force: true });
    throw error;
  }
  closeSync(fd);
  renameSync(temporary, path);
  await syncDirectory(directory);
}

/** The process that a temporary file for `file` belongs to; undefined for any other name. */
export function temporaryOwner(name: string, file: string): number | undefined {
  const start = `.${file}.`;
  const match = name.startsWith(start) ? /^([1-9]\d{0,9})\.\d+\.tmp$/.exec(name.slice(start.length)) : null;
  return match === null ? undefined : Number(match[1]);
}

/** Only a directory's own sync makes a rename or a new name in it last. */
export async function syncDirectory(directory: string): Promise<void> {
  const fd = openSync(directory, "r");
  try {
    await sync(fd);
  } finally {
    closeSync(fd);
  }
}

export async function appendDurably(fd: number, bytes: Uint8Array): Promise<void> {
  writeAll(fd, bytes);
  await sync(fd);
}

function sync(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(fd, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** A write may take less than it was given, for instance on a full disk. */
function writeAll(fd: number, bytes: Uint8Array): void {
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
