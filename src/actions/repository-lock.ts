/**
 * One task at a time changes what all tasks of a repository share: the base branch and the list of worktrees.
 *
 * Git writes a checkout's files first and moves its branch afterwards: of two that do so at once, one would lose the branch and
 * leave its files behind as uncommitted work. And whoever reads the list of worktrees while another one is being added or
 * removed finds it half-written, and fails.
 */
import { join } from "node:path";
import { acquireLock } from "../task/lock.js";
import type { Repository } from "./repository.js";

/** A large checkout takes its time, and several tasks may begin together. */
const PATIENCE_MS = 15 * 60_000;

export async function inTurn<T>({ commonDir }: Repository, work: () => Promise<T>): Promise<T> {
  // Not called *.lock: those are git's own, and people remove them.
  const lock = await acquireLock(join(commonDir, "pawl-turn"), PATIENCE_MS);
  try {
    return await work();
  } finally {
    lock.release();
  }
}
