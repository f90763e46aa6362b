/**
 * Files of a task directory are anybody's: where a file is expected, a pipe, a device or something huge may lie. Opening it
 * must not wait for ever, and reading it must not fill memory.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

const MOST_BYTES = 64 * 1024 * 1024;

/** Throws what the system says (ENOENT, EACCES, …), or an error with the code ENOTFILE or EFBIG. */
export function readPlainFile(path: string, mostBytes: number = MOST_BYTES): Buffer {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (stat.isDirectory()) throw unfit("EISDIR", `${path} is a directory`);
    if (!stat.isFile()) throw unfit("ENOTFILE", `${path} is not a plain file`);
    if (stat.size > mostBytes) throw unfit("EFBIG", `${path} has ${stat.size} bytes, expected at most ${mostBytes}`);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function unfit(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
