/**
 * Moves the base branch forward to a commit that was made without a checkout. Where the branch is checked out, git itself
 * moves the files, so that uncommitted work there survives; where it would not, nothing is moved at all.
 */
import { setTimeout as delay } from "node:timers/promises";
import { PawlError, refused } from "../errors.js";
import { endangeredFiles } from "./endangered-files.js";
import { line, type Git } from "./git.js";
import { exists } from "./paths.js";
import { branchHead, type Repository } from "./repository.js";
import { branchBeingRebased, gitAt, listWorktrees, operationInProgress, type Registration } from "./worktrees.js";

export interface BaseMove {
  base: string;
  before: string;
  commit: string;
  /** "merge" or "revert", for messages. */
  what: string;
  /** How to try again. */
  again: string;
}

/** False when somebody else moved the branch meanwhile: the commit has to be made anew. */
export async function moveBaseBranch(repository: Repository, move: BaseMove): Promise<boolean> {
  const checkout = await findCheckout(repository, move);
  if (checkout === null) return moveRef(repository, move);
  const git = gitAt(repository, checkout.path);
  await refuseDuringOperation(git, checkout.path, move);
  const endangered = await endangeredFiles(git, checkout.path, { from: move.before, to: move.commit });
  if (endangered.length > 0) throw overwriting(checkout.path, endangered, move);
  return moveCheckout(repository, git, checkout.path, move);
}

async function findCheckout(repository: Repository, move: BaseMove): Promise<Registration | null> {
  const holders: Registration[] = [];
  for (const one of await listWorktrees(repository)) {
    if (one.bare) continue;
    const present = await exists(one.path);
    if (one.branch === move.base) {
      if (!present && one.locked !== null) {
        throw refused(`${move.base} is checked out in ${one.path}, which is locked and not there now`, {
          hint: `bring it back, or \`git worktree unlock ${one.path}\``,
        });
      }
      if (present) holders.push(one);
    } else if (present && one.branch === null) {
      await refuseDuringRebase(repository, one, move);
    }
  }
  const [first, second] = holders;
  if (first !== undefined && second !== undefined) {
    throw refused(`${move.base} is checked out twice: in ${first.path} and in ${second.path}`, {
      hint: `switch one of them to another branch, then ${move.again}`,
    });
  }
  return first ?? null;
}

/** A rebase moves its branch at the end, from where it was at the beginning. */
async function refuseDuringRebase(repository: Repository, one: Registration, move: BaseMove): Promise<void> {
  const git = gitAt(repository, one.path);
  const gitDir = line(await git(["rev-parse", "--absolute-git-dir"], { allow: [128] }));
  if (gitDir === "" || (await branchBeingRebased(gitDir)) !== move.base) return;
  throw underWay(one.path, "rebase", move);
}

async function refuseDuringOperation(git: Git, path: string, move: BaseMove): Promise<void> {
  const operation = await operationInProgress(line(await git(["rev-parse", "--absolute-git-dir"])));
  if (operation !== null) throw underWay(path, operation, move);
  if ((await git(["ls-files", "--unmerged", "-z"])).stdout !== "") throw underWay(path, "conflict resolution", move);
}

async function moveCheckout(repository: Repository, git: Git, path: string, move: BaseMove): Promise<boolean> {
  const args = ["merge", "--ff-only", "--no-squash", "--commit", "--no-autostash", "--quiet", move.commit];
  for (let attempt = 1; ; attempt++) {
    try {
      await git(args);
      return true;
    } catch (error) {
      if (!(error instanceof PawlError) || error.kind !== "failed") throw error;
      const head = await branchHead(repository, move.base);
      if (head === move.commit) return true;
      if (head !== move.before) return false;
      // The user's own git may be at work: the index is locked briefly.
      if (!error.message.includes("index.lock") || attempt === LOCK_ATTEMPTS) throw protectedByGit(error, path, move);
      await delay(LOCK_DELAY_MS);
    }
  }
}

async function moveRef(repository: Repository, move: BaseMove): Promise<boolean> {
  const args = ["update-ref", "-m", `pawl: ${move.what}`, `refs/heads/${move.base}`, move.commit, move.before];
  try {
    await repository.git(args);
    return true;
  } catch (error) {
    // The old value is compared by git; only a branch that stands somewhere else is a reason to try again.
    if ((await branchHead(repository, move.base)) !== move.before) return false;
    throw error;
  }
}

/** Work that came in after the files were looked at: git's own check has stopped the move. */
function protectedByGit(error: PawlError, path: string, move: BaseMove): PawlError {
  if (!/would be (overwritten|removed)/.test(error.message)) return error;
  return refused(`git refused the ${move.what} in ${path}; nothing was changed. ${error.message}`, {
    hint: `commit, stash or move these files, then ${move.again}`,
    cause: error,
  });
}

function underWay(path: string, operation: string, move: BaseMove): PawlError {
  return refused(`a ${operation} is under way in ${path}, where ${move.base} is checked out; nothing was changed`, {
    hint: `finish or abort it there, then ${move.again}`,
    data: { checkout: path, operation },
  });
}

function overwriting(path: string, files: string[], move: BaseMove): PawlError {
  return refused(
    `the ${move.what} would overwrite uncommitted work in ${path}: ${files.join(", ")}; nothing was changed`,
    {
      hint: `commit, stash or move these files, then ${move.again}`,
      findings: files.map((file) => ({ message: `uncommitted work that the ${move.what} would overwrite`, file })),
      data: { checkout: path, files },
    },
  );
}

const LOCK_ATTEMPTS = 20;
const LOCK_DELAY_MS = 100;
