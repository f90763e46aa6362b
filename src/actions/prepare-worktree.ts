/** The task's own branch and worktree: made, mended or reused. Nothing that is found there is deleted. */
import { mkdir, readdir, readFile, rename, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { failed, refused } from "../errors.js";
import { findBaseBranch, type BaseBranch } from "./base-branch.js";
import { excludeFromGit } from "./exclude.js";
import { gitRecord, type GitRecord } from "./git-record.js";
import { isAncestor, line, mergeBase, records } from "./git.js";
import { list } from "./messages.js";
import { ABOUT } from "./names.js";
import { exists, freePath, isEmptyDirectory, kindOf, realPath } from "./paths.js";
import { branchHead, openRepository, type Repository } from "./repository.js";
import { inTurn } from "./repository-lock.js";
import { rescueCommit, rescueIndex } from "./rescue.js";
import { seedRepository } from "./seed-repository.js";
import type { Action, ActionContext, ActionResult, TaskSettings } from "./types.js";
import { inspectWorktree, listWorktrees, type Registration } from "./worktrees.js";

export const prepareWorktree: Action = {
  name: "prepare-worktree",
  about: ABOUT["prepare-worktree"],
  outside: true,
  run,
};

async function run(context: ActionContext): Promise<ActionResult> {
  const { settings, signal } = context;
  const notes = await seedRepository(settings, signal);
  const repository = await openRepository(settings, signal);
  const base = await findBaseBranch(repository, context);
  await excludeFromGit(repository, settings.worktree);
  notes.push(...(await inTurn(repository, () => provide(repository, settings, base, signal))));

  const head = await branchHead(repository, settings.branch);
  if (head === null) throw failed(`git made no branch ${settings.branch} in ${repository.path}`);
  const start = await mergeBase(repository.git, base.head, head);
  if (start === null) {
    throw refused(`the branch ${settings.branch} has no commit in common with ${base.name}`, {
      hint: `rename it (\`git branch -m ${settings.branch} <other name>\`), so that the task can start its own`,
    });
  }
  // What was merged before stays on record: a revert has to undo that as well.
  const { merged, reverted } = gitRecord(context.fields);
  const { branch, worktree } = settings;
  const git: GitRecord = { base: base.name, start, branch, worktree, merged, reverted };
  return { notes, patch: { fields: { git } } };
}

async function provide(
  repository: Repository,
  settings: TaskSettings,
  base: BaseBranch,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const notes = await mend(repository, settings);
  const state = await inspectWorktree(repository, settings.worktree, signal);
  if (state.kind === "ours") {
    if (state.branch === settings.branch) return [...notes, `The worktree ${settings.worktree} is there already.`];
    throw refused(
      `the worktree ${settings.worktree} is on ${state.branch ?? "a detached HEAD"}, expected ${settings.branch}` +
        (state.operation === null ? "" : ` (a ${state.operation} is under way)`),
      { hint: `git -C ${settings.worktree} switch ${settings.branch}` },
    );
  }
  if (state.kind === "foreign" && !(await isEmptyDirectory(settings.worktree))) {
    notes.push(await moveAside(settings.worktree));
    notes.push(...(await mend(repository, settings)));
  }
  return [...notes, await add(repository, settings, base)];
}

/** Brings the registration and the directory back into agreement, as far as a run that died left them apart. */
async function mend(repository: Repository, settings: TaskSettings): Promise<string[]> {
  const registration = await registrationOf(repository, settings.worktree);
  if (registration === undefined) return [];
  const notes: string[] = [];
  // `git worktree add` died half-way: what it had checked out would look like a change that deletes all the rest.
  const unfinished = registration.locked === "initializing";
  if (unfinished && (await exists(settings.worktree))) notes.push(await moveAside(settings.worktree));
  if (await isEmptyDirectory(settings.worktree)) await rmdir(settings.worktree);
  if (await exists(settings.worktree)) return [...notes, ...(await relink(repository, settings.worktree))];
  return [...notes, ...(await forget(repository, settings, registration))];
}

/**
 * Gives a worktree that lost its `.git` file a new one. By hand, because `git worktree repair` would mend other worktrees
 * of the user's as well. A directory with none of the project's files is something else that came to lie in its place.
 */
async function relink(repository: Repository, worktree: string): Promise<string[]> {
  const gitDir = await adminDirectory(repository, worktree);
  const linked = await exists(join(worktree, ".git"));
  if (gitDir === null || linked || (await kindOf(worktree)) !== "directory") return [];
  const place = [`--git-dir=${gitDir}`, `--work-tree=${worktree}`];
  const tracked = records(await repository.git([...place, "ls-files", "-z"]));
  const deleted = records(await repository.git([...place, "ls-files", "-z", "--deleted"]));
  if (deleted.length > 0 && deleted.length === tracked.length) return [];
  await writeFile(join(worktree, ".git"), `gitdir: ${gitDir}\n`);
  return [`Mended the worktree ${worktree}, which had lost its .git file.`];
}

/** Drops the registration of a directory that is gone, after what only the registration still held is kept. */
async function forget(repository: Repository, settings: TaskSettings, lost: Registration): Promise<string[]> {
  const notes = [`The worktree ${settings.worktree} was registered, but its directory was gone.`];
  const gitDir = await adminDirectory(repository, settings.worktree);
  const { head } = lost;
  if (gitDir !== null && head !== null) {
    const branch = await branchHead(repository, settings.branch);
    if (lost.branch === null && !(branch !== null && (await isAncestor(repository.git, head, branch)))) {
      notes.push(`Its detached commit is kept as ${await rescueCommit(repository, settings.id, head)}.`);
    }
    const staged = await rescueIndex(repository, settings.id, { gitDir, head });
    if (staged !== null) notes.push(`What was staged in it is kept as ${staged}.`);
  }
  // Twice for a lock, which only a `git worktree add` that died may have left; a lock of the user's is respected.
  const force = lost.locked === "initializing" ? ["--force", "--force"] : ["--force"];
  await repository.git(["worktree", "remove", ...force, lost.path]);
  return notes;
}

async function add(repository: Repository, { worktree, branch }: TaskSettings, base: BaseBranch): Promise<string> {
  await mkdir(dirname(worktree), { recursive: true });
  // The user's own checkout may leave out part of the files; here, a file that is missing is one that the change deletes.
  const complete = ["-c", "core.sparseCheckout=false"];
  if ((await branchHead(repository, branch)) === null) {
    await refuseNameInTheWay(repository, branch);
    await repository.git([...complete, "worktree", "add", "--quiet", "--no-track", "-b", branch, worktree, base.head]);
    return `Made the worktree ${worktree} on the new branch ${branch}, from ${base.name}.`;
  }
  const holder = (await listWorktrees(repository)).find((one) => one.branch === branch);
  if (holder !== undefined) {
    throw refused(`the task's branch ${branch} is checked out in ${holder.path}`, {
      hint: `switch to another branch there: git -C ${holder.path} switch ${base.name}`,
    });
  }
  await repository.git([...complete, "worktree", "add", "--quiet", worktree, branch]);
  return `Made the worktree ${worktree} on the branch ${branch}, which was there already.`;
}

/** Git keeps branches like files: none can have a name that is a folder of another's. */
async function refuseNameInTheWay(repository: Repository, branch: string): Promise<void> {
  const parts = branch.split("/");
  const above = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
  const below = line(await repository.git(["for-each-ref", "--format=%(refname:lstrip=2)", `refs/heads/${branch}/`]));
  const heads = await Promise.all(above.map((name) => branchHead(repository, name)));
  const names = [...above.filter((_, index) => heads[index] !== null), ...below.split("\n")].filter(
    (name) => name !== "",
  );
  const [first] = names;
  if (first === undefined) return;
  throw refused(`git cannot make the task's branch ${branch} beside the branch ${list(names)}`, {
    hint: `rename that branch: git -C ${repository.path} branch -m ${first} <other name>`,
  });
}

async function moveAside(path: string): Promise<string> {
  const kept = await freePath(path, ".kept-");
  await rename(path, kept);
  // Its link would lead git to the worktree that now takes its place.
  const link = join(kept, ".git");
  if ((await kindOf(link)) === "file") await rename(link, await freePath(link, ".kept-"));
  return `${path} held something else; it is kept as ${kept}.`;
}

async function registrationOf(repository: Repository, path: string): Promise<Registration | undefined> {
  const real = await realPath(path);
  for (const one of await listWorktrees(repository)) if (one.path === real || one.path === path) return one;
  return undefined;
}

/** Where git keeps HEAD and index of a worktree whose directory is gone. */
async function adminDirectory(repository: Repository, worktree: string): Promise<string | null> {
  const folder = join(repository.commonDir, "worktrees");
  const real = await realPath(worktree);
  for (const name of await readdir(folder).catch(() => [])) {
    const link = await readFile(join(folder, name, "gitdir"), "utf8").catch(() => "");
    if (link.replace(/\n$/, "") === join(real, ".git")) return join(folder, name);
  }
  return null;
}
