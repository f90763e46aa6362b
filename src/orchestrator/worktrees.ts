/** The worktrees of a workspace: what each holds, whose it is, and what it takes; and the removal of those that nobody needs. */
import { existsSync, readdirSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { archiveWorktree } from "../actions/archive-worktree.js";
import { gitRecord } from "../actions/git-record.js";
import { openRepository } from "../actions/repository.js";
import { inspectWorktree } from "../actions/worktrees.js";
import { messageOf, PawlError } from "../errors.js";
import { agentMarks } from "../task/agent-mark.js";
import { loadTask } from "../task/store.js";
import { isTaskId } from "../task/paths.js";
import type { TaskState } from "../task/state.js";
import { readConfig } from "../workspace/config.js";
import { resolveSettings, type ResolvedSettings } from "../workspace/settings.js";
import { taskDirectory, worktreeDirectory } from "../workspace/workspace.js";
import { openContext, type Engine } from "./context.js";
import { phaseOf } from "./suggest.js";

export interface WorktreeRow {
  task: string;
  path: string;
  /** Null where there is no such task any more. */
  phase: string | null;
  /** Its task is at its end, or gone. */
  isOver: boolean;
  bytes: number;
  /** Files that are not committed; null where that cannot be told. */
  uncommitted: number | null;
  /** Commits that the branch has and the base branch has not. */
  unmerged: number | null;
  /** After a clean-up: what was done, or why not. */
  removed?: boolean;
  notes?: string[];
}

export async function listWorktrees(engine: Engine): Promise<WorktreeRow[]> {
  const folder = dirname(worktreeDirectory(engine.workspace, "x"));
  const ids = existsSync(folder) ? readdirSync(folder).filter(isTaskId).sort() : [];
  return Promise.all(ids.map((id) => rowOf(engine, id)));
}

/** Only of tasks that are over; whatever cannot be kept stays, and says why. */
export async function cleanUp(engine: Engine): Promise<WorktreeRow[]> {
  const rows: WorktreeRow[] = [];
  for (const row of await listWorktrees(engine)) {
    if (!row.isOver) {
      rows.push({ ...row, removed: false, notes: [`${row.task} is in ${row.phase ?? "?"}: it stays.`] });
      continue;
    }
    try {
      const { settings, state } = await ownerOf(engine, row.task);
      const { notes } = await archiveWorktree(settings, state?.fields ?? {});
      rows.push({ ...row, removed: !existsSync(row.path), notes });
    } catch (error) {
      if (!(error instanceof PawlError)) throw error;
      const hint = error.hint === undefined ? "" : ` (${error.hint})`;
      rows.push({ ...row, removed: false, notes: [`${messageOf(error)}${hint}`] });
    }
  }
  return rows;
}

interface Owner {
  settings: ResolvedSettings;
  phase: string | null;
  isOver: boolean;
  state: TaskState | null;
}

/** A task that cannot be read is not over. */
async function ownerOf(engine: Engine, id: string): Promise<Owner> {
  const { workspace } = engine;
  if (!existsSync(taskDirectory(workspace, id))) {
    const config = await readConfig(workspace.root, workspace.env);
    return { settings: resolveSettings(workspace, config, id, null), phase: null, isOver: true, state: null };
  }
  const context = await openContext(engine, id);
  const { state } = loadTask(context.dir, context.workflow);
  const isEnd = phaseOf(context.workflow, state.phase).who.kind === "nobody";
  const isOver = isEnd && agentMarks(state.fields).length === 0;
  return { settings: await context.settings(), phase: state.phase, isOver, state };
}

async function rowOf(engine: Engine, id: string): Promise<WorktreeRow> {
  const path = worktreeDirectory(engine.workspace, id);
  const nothing = { task: id, path, bytes: await bytesIn(path), uncommitted: null, unmerged: null };
  try {
    const owner = await ownerOf(engine, id);
    return { ...nothing, phase: owner.phase, isOver: owner.isOver, ...(await contentOf(owner, path)) };
  } catch {
    return { ...nothing, phase: "?", isOver: false };
  }
}

async function contentOf(
  { settings, state }: Owner,
  path: string,
): Promise<Pick<WorktreeRow, "uncommitted" | "unmerged">> {
  try {
    const repository = await openRepository(settings);
    const worktree = await inspectWorktree(repository, path);
    if (worktree.kind !== "ours") return { uncommitted: null, unmerged: null };
    const status = await worktree.git(["status", "--porcelain", "-z", "--untracked-files=all"]);
    const { base = settings.baseBranch ?? "HEAD" } = gitRecord(state?.fields ?? {});
    const ahead = await repository.git(["rev-list", "--count", settings.branch, "--not", base], { allow: [128] });
    const unmerged = ahead.exitCode === 0 ? Number(ahead.stdout) : null;
    return { uncommitted: status.stdout.split("\0").filter(Boolean).length, unmerged };
  } catch {
    return { uncommitted: null, unmerged: null };
  }
}

async function bytesIn(path: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
    const inside = join(path, entry.name);
    bytes += entry.isDirectory() ? await bytesIn(inside) : ((await lstat(inside).catch(() => null))?.size ?? 0);
  }
  return bytes;
}
