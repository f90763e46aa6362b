/** Nothing is deleted: an artifact that is about to be made anew is put away beside the run that made it. */
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Artifact } from "../workflow/types.js";
import { syncDirectory } from "./atomic-file.js";
import { resolveInside } from "./paths.js";

/** The directory of one run of a phase's work, relative to the task directory. */
export function runPath(phase: string, run: number): string {
  return join(phase, "runs", String(run));
}

/** A file that is put away: from where to where, relative to the task directory. */
export interface Move {
  from: string;
  to: string;
}

/** Where it went, relative to the task directory; null when there was nothing. */
export async function archiveArtifact(
  directory: string,
  artifact: Artifact,
  phase: string,
  run: number,
): Promise<string | null> {
  const move = planArchive(directory, artifact, phase, run);
  if (move === null) return null;
  await carryAway(directory, move);
  return move.to;
}

/**
 * Where it will go. The move itself comes with the commit that needs it: before that, the phase that the task would still be
 * in after a crash may rest on the file. `planned` are the other moves of that commit.
 */
export function planArchive(
  directory: string,
  artifact: Artifact,
  phase: string,
  run: number,
  planned: Move[] = [],
): Move | null {
  const known = planned.find((move) => move.from === artifact.file && isPending(directory, move));
  if (known !== undefined) return known;
  const place = resolveInside(directory, artifact.file);
  // A section belongs to a file that lives on.
  if ("error" in place || artifact.section !== undefined || !existsSync(place.path)) return null;
  const path = join(runPath(phase, run), "archive", basename(artifact.file));
  const isTaken = (to: string): boolean => existsSync(join(directory, to)) || planned.some((move) => move.to === to);
  let to = path;
  for (let n = 2; isTaken(to); n++) to = `${path}.${n}`;
  return { from: artifact.file, to };
}

/** A move that is done stays done: what came to its old place meanwhile is something new. */
export function isPending(directory: string, { to }: Move): boolean {
  return !existsSync(join(directory, to));
}

/** May be called again, after whatever crash. */
export async function carryAway(directory: string, move: Move): Promise<void> {
  const from = resolveInside(directory, move.from);
  const to = resolveInside(directory, move.to);
  if ("error" in from || "error" in to || !existsSync(from.path) || !isPending(directory, move)) return;
  mkdirSync(dirname(to.path), { recursive: true });
  renameSync(from.path, to.path);
  await syncDirectory(dirname(to.path));
}
