/**
 * Files of a task directory are anybody's: where a file is expected, a pipe, a device or something huge may lie. Opening it
 * must not wait for ever, and reading it must not fill memory.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { codeOf, invalid, messageOf } from "../errors.js";

const MOST_BYTES = 64 * 1024 * 1024;

/** For the files that pawl writes itself: what goes through a link lands outside of the task directory. */
export const NO_LINK = constants.O_NOFOLLOW;

/** Throws what the system says (ENOENT, EACCES, ELOOP for a link, …), or an error with the code EISDIR or ENOTFILE. */
export function openPlainFile(path: string, flags: number = constants.O_RDONLY): number {
  const fd = openSync(path, flags | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (stat.isDirectory()) throw unfit("EISDIR", `${path} is a directory`);
    if (!stat.isFile()) throw unfit("ENOTFILE", `${path} is not a plain file`);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Throws as `openPlainFile` does, or an error with the code EFBIG. */
export function readPlainFile(path: string, mostBytes: number = MOST_BYTES, flags?: number): Buffer {
  const fd = openPlainFile(path, flags);
  try {
    const { size } = fstatSync(fd);
    if (size > mostBytes) throw unfit("EFBIG", `it has ${size} bytes, expected at most ${mostBytes}`);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The file's bytes, or null where there is none; whatever else is in its place is refused by name. */
export function readIfThere(path: string, mostBytes?: number, flags?: number): Buffer | null {
  try {
    return readPlainFile(path, mostBytes, flags);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw unusable(path, error);
  }
}

const INSTEAD: Record<string, string> = {
  EISDIR: "a directory",
  ELOOP: "a symbolic link",
  ENOTFILE: "a pipe, a socket or a device",
  ENXIO: "a pipe or a socket",
};

/** Is something else in the file's place, rather than something in the way? */
export function isUnfit(error: unknown): boolean {
  return (codeOf(error) ?? "") in INSTEAD;
}

/** What was found where a file was expected. */
export function foundInstead(error: unknown): string {
  const code = codeOf(error) ?? "";
  return INSTEAD[code] ?? (code === "EFBIG" || code === "" ? messageOf(error) : code);
}

export function unusable(path: string, error: unknown): Error {
  const file = basename(path);
  const found = foundInstead(error);
  return invalid(`${file} cannot be read: ${found}`, {
    findings: [{ message: `${file} cannot be read`, file, expected: "a readable file", found }],
    hint: `put it right by hand; pawl leaves it as it is: ${path}`,
    cause: error,
  });
}

function unfit(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
