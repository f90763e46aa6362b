/**
 * What lies in the place of an agent's artifact and no run of its own left is a person's work, and counts like an agent's. Unless
 * it came while an agent was at work on another task: then nobody can tell whose it is, and it opens nothing.
 */
import { lstatSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Finding } from "../errors.js";
import { livenessOf } from "../process/identity.js";
import { readPlainFile } from "../task/plain-file.js";
import type { Actor } from "../task/state.js";
import type { Artifact } from "../workflow/types.js";
import { listTaskIds, taskDirectory } from "../workspace/workspace.js";
import type { TaskContext } from "./context.js";

export function foreignHand(context: TaskContext, artifact: Artifact): Finding | null {
  const { file } = artifact;
  // When it was put there, by the kernel's own clock: nobody can set that time back.
  const came = lstatSync(join(context.dir, file), { throwIfNoEntry: false })?.ctimeMs;
  if (came === undefined) return null;
  for (const id of listTaskIds(context.workspace)) {
    if (id === context.id) continue;
    const busy = phaseAtWork(taskDirectory(context.workspace, id), came);
    if (busy !== null)
      return {
        message: `${file} came while an agent was at work on ${busy} of ${id}, so that nobody can tell whose it is; a person who left it says so: pawl answer @${join(context.dir, file)} ${context.id}`,
        file,
        expected: "an artifact that a run of this phase left, or a person",
        found: "one that anybody may have left",
      };
  }
  return null;
}

/** The phase of a task in which an agent was at work at that time; null when none was. Its state is not asked: it may be forged. */
function phaseAtWork(directory: string, time: number): string | null {
  for (const phase of foldersIn(directory)) {
    const runs = join(directory, phase, "runs");
    const isAtWork = foldersIn(runs).some((run) => {
      const { began, ended } = timesOf(join(runs, run));
      return began <= time && time <= ended;
    });
    if (isAtWork) return phase;
  }
  return null;
}

function foldersIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

function timesOf(folder: string): { began: number; ended: number } {
  const changed = (name: string): number =>
    lstatSync(join(folder, name), { throwIfNoEntry: false })?.ctimeMs ?? -Infinity;
  const began = statSync(folder).birthtimeMs;
  const finished = changed("result.json");
  if (finished > 0) return { began, ended: finished };
  // Under way, or cut off by a crash: then it ended with the last that it printed.
  return { began, ended: isUnderWay(folder) ? Infinity : changed("output.log") };
}

/** What the state says of its run; one that cannot be read hides nothing. */
function isUnderWay(folder: string): boolean {
  const phase = dirname(dirname(folder));
  try {
    const text = readPlainFile(join(dirname(phase), "state.json")).toString("utf8");
    const { actors } = JSON.parse(text) as { actors: Record<string, Partial<Actor>> };
    const run = actors[basename(phase)]?.run;
    return run?.number === Number(basename(folder)) && livenessOf(run.owner) !== "gone";
  } catch {
    return true;
  }
}
