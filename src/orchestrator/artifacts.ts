/** What becomes of a task's artifacts: asked for, written by pawl itself, put away. The state that is given back says so. */
import { invalid } from "../errors.js";
import { archiveArtifact, planArchive } from "../task/archive.js";
import { writeFileDurably } from "../task/atomic-file.js";
import { inputHashes, sectionsBefore } from "../task/evidence.js";
import { resolveInside } from "../task/paths.js";
import { actorOf, type EvidenceRecord, type TaskState } from "../task/state.js";
import { sha256 } from "../workflow/hash.js";
import type { ArtifactStatus } from "../workflow/types.js";
import type { TaskContext } from "./context.js";
import { evidenceFor } from "./look.js";

/** Earlier versions of the artifacts are put away: what was there before a phase began says nothing about it. */
export async function putAway(
  context: TaskContext,
  state: TaskState,
  phase: string,
  names: string[],
): Promise<TaskState> {
  const records = { ...state.evidence };
  const moves = [...(state.putAway ?? [])];
  for (const artifact of context.workflow.artifacts.filter(({ name }) => names.includes(name))) {
    const before = records[artifact.name];
    const move = planArchive(context.dir, artifact, phase, actorOf(state, phase).runs, moves);
    if (move !== null && !moves.includes(move)) moves.push(move);
    const archived = move?.to;
    // The last accepted version stays known, to tell whether anything new came after it.
    const kept = before?.accepted === undefined ? before?.archived : (archived ?? before.archived);
    const sections = await sectionsBefore(context.dir, artifact);
    records[artifact.name] = { inputs: {}, ...sections, ...(kept === undefined ? {} : { archived: kept }) };
  }
  return { ...state, evidence: records, putAway: moves };
}

/** From here on the named artifacts are verdicts on what there is now. */
export async function bindInputs(context: TaskContext, state: TaskState, names: string[]): Promise<TaskState> {
  const artifacts = context.workflow.artifacts.filter(({ name }) => names.includes(name));
  const judged = [...new Set(artifacts.flatMap(({ judges }) => judges))];
  const statuses = await evidenceFor(context, state, judged);
  const records = { ...state.evidence };
  for (const artifact of artifacts)
    records[artifact.name] = { ...records[artifact.name], inputs: inputHashes(artifact, statuses) };
  return { ...state, evidence: records };
}

/** Writes an artifact that pawl makes itself, and remembers its hash: any other content of that file is not pawl's. */
export async function writeArtifact(
  context: TaskContext,
  state: TaskState,
  name: string,
  data: unknown,
  statuses: Record<string, ArtifactStatus>,
): Promise<TaskState> {
  const artifact = context.workflow.artifacts.find((candidate) => candidate.name === name);
  if (artifact === undefined) throw new TypeError(`writeArtifact: ${name} is no artifact of ${context.workflow.name}`);
  const text = formatArtifact(data);
  const archived = await archiveArtifact(context.dir, artifact, state.phase, actorOf(state, state.phase).runs);
  await writeFileDurably(inTaskDirectory(context, artifact.file), text);
  const previous = state.evidence[name];
  const kept = previous?.archived ?? archived;
  const entry: EvidenceRecord = {
    inputs: inputHashes(artifact, statuses),
    written: sha256(text),
    ...(kept === null || kept === undefined ? {} : { archived: kept }),
  };
  return { ...state, evidence: { ...state.evidence, [name]: entry } };
}

export function formatArtifact(data: unknown): string {
  return `${JSON.stringify(data, null, 2)}\n`;
}

/** Where to write: nothing that lies in the task directory may lead pawl out of it. */
export function inTaskDirectory(context: TaskContext, path: string): string {
  const place = resolveInside(context.dir, path);
  if ("path" in place) return place.path;
  throw invalid(place.error.message, {
    findings: [place.error],
    hint: `remove what leads out of ${context.dir}; nothing was written there`,
  });
}
