/**
 * One at a time. The lock is the kernel's, on a file that is never replaced (of a task, its history): it ends with the process
 * that holds it, however that ends.
 */
import { closeSync, constants, fstatSync, lstatSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as pause } from "node:timers/promises";
import { failed, messageOf, refused } from "../errors.js";
import { isUnfit, NO_LINK, openPlainFile, unusable } from "./plain-file.js";

export interface Lock {
  /** Open for appending. */
  fd: number;
  release(): void;
}

const PATIENCE_MS = 60_000;

export async function acquireLock(file: string, patienceMs: number = PATIENCE_MS): Promise<Lock> {
  const { tryLock } = loadNative();
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const fd = openForLock(file);
    if (tryLock(fd)) {
      if (isStill(fd, file)) return { fd, release: () => closeSync(fd) };
    }
    closeSync(fd);
    if (performance.now() > deadline) {
      throw refused(`${file} is held by another pawl for more than ${Math.round(patienceMs / 1000)} s`, {
        hint: "wait for it to finish, or end that process; the lock goes with it",
      });
    }
    await pause(2 + Math.random() * 10);
  }
}

type Native = typeof import("fs-native-extensions").default;
let native: Native | undefined;

/** Loaded when the first lock is needed: most looks at a task need none. */
function loadNative(): Native {
  return (native ??= createRequire(import.meta.url)("fs-native-extensions") as Native);
}

function openForLock(file: string): number {
  try {
    return openPlainFile(file, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | NO_LINK);
  } catch (error) {
    if (isUnfit(error)) throw unusable(file, error);
    throw failed(`cannot open ${file} for writing: ${messageOf(error)}`, {
      cause: error,
      hint: "check that its directory exists and may be written to",
    });
  }
}

/** Somebody may have deleted or replaced the file between opening and locking it: such a lock protects nothing. */
function isStill(fd: number, file: string): boolean {
  try {
    return fstatSync(fd).ino === lstatSync(file).ino;
  } catch {
    return false;
  }
}
