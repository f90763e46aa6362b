/**
 * Evidence: what the artifacts of a task are worth now. An artifact counts only while everything that it judges is still
 * what it was when the artifact was asked for. Nobody has to say that something changed: hashes tell.
 */
import type { Finding } from "../errors.js";
import type { Artifact, ArtifactStatus, Workflow } from "../workflow/types.js";
import { isPending } from "./archive.js";
import { missingArtifact, readArtifact, type ReadArtifact, type Validate } from "./artifact.js";
import type { EvidenceRecord, TaskState } from "./state.js";

/**
 * Does an artifact that pawl made still describe what is out there; did another one come from where it should? Asked only for
 * artifacts that are sound so far.
 */
export type CheckSource = (
  artifact: Artifact,
  read: { data: unknown; hash: string },
  known: Record<string, ArtifactStatus>,
) => Promise<Finding | null>;

export interface EvidenceSources {
  directory: string;
  workflow: Workflow;
  state: TaskState;
  validate: Validate;
  checkSource: CheckSource;
}

/** The status of the named artifacts; what they judge has to be among the names. */
export async function readEvidence(names: string[], sources: EvidenceSources): Promise<Record<string, ArtifactStatus>> {
  const statuses: Record<string, ArtifactStatus> = {};
  for (const artifact of inOrderOfJudging(sources.workflow, names)) {
    statuses[artifact.name] = await statusOf(artifact, statuses, sources);
  }
  return statuses;
}

/** Judged ones first; a cycle, which `spec check` reports, is cut where it closes. */
export function inOrderOfJudging(workflow: Workflow, names: string[]): Artifact[] {
  const ordered: Artifact[] = [];
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    const artifact = workflow.artifacts.find((candidate) => candidate.name === name);
    if (artifact === undefined) return;
    artifact.judges.forEach(visit);
    ordered.push(artifact);
  };
  names.forEach(visit);
  return ordered;
}

/** The hashes of what an artifact judges, to be remembered when it is asked for. */
export function inputHashes(artifact: Artifact, statuses: Record<string, ArtifactStatus>): Record<string, string> {
  return Object.fromEntries(artifact.judges.map((name) => [name, statuses[name]?.hash ?? ""]));
}

/**
 * What the sections were when their phase began, to be remembered then: their file lives on and cannot be put away, but what
 * stood in it before says nothing about the phase.
 */
export async function sectionsBefore(directory: string, artifact: Artifact): Promise<Pick<EvidenceRecord, "before">> {
  if (artifact.section === undefined) return {};
  const read = await readArtifact(directory, artifact, async () => []);
  return "sections" in read && read.sections !== undefined ? { before: read.sections } : {};
}

async function statusOf(
  artifact: Artifact,
  statuses: Record<string, ArtifactStatus>,
  sources: EvidenceSources,
): Promise<ArtifactStatus> {
  const { name, file } = artifact;
  const record = sources.state.evidence[name];
  const read = isLeaving(artifact, sources)
    ? missingArtifact(artifact)
    : await readArtifact(sources.directory, artifact, sources.validate);
  const hash = "hash" in read && read.hash !== undefined ? { hash: read.hash } : {};
  if (record?.waived === true) return { name, file, condition: "waived", findings: [waivedFinding(artifact)], ...hash };
  if (read.condition !== "ok") return { name, file, condition: read.condition, findings: read.findings, ...hash };
  const forged = forgery(artifact, read, record);
  if (forged !== null) return { name, file, condition: "forged", findings: [forged], ...hash };
  const stale = [
    ...unchanged(artifact, read, record, sources.workflow),
    ...staleness(artifact, read, record, statuses),
  ];
  if (stale.length > 0) return { name, file, condition: "stale", findings: stale, ...hash };
  const drift = await sources.checkSource(artifact, read, statuses);
  if (drift !== null) return { name, file, condition: "stale", findings: [drift], ...hash };
  return { name, file, condition: "ok", data: read.data, findings: [], hash: read.hash };
}

/** It is still there, but an event that has happened puts it away. */
function isLeaving({ file }: Artifact, { directory, state }: EvidenceSources): boolean {
  return state.putAway?.some((move) => move.from === file && isPending(directory, move)) ?? false;
}

type SoundArtifact = Extract<ReadArtifact, { condition: "ok" }>;

function forgery(artifact: Artifact, read: SoundArtifact, record: EvidenceRecord | undefined): Finding | null {
  const { file, madeBy } = artifact;
  if (madeBy.kind === "agent" || record?.written === read.hash) return null;
  const finding = {
    file,
    expected:
      record?.written === undefined ? "what pawl writes" : `the content that pawl wrote (${short(record.written)})`,
    found: `other content (${short(read.hash)})`,
  };
  const what =
    record?.written === undefined ? `${file} was not written by pawl` : `${file} was changed after pawl wrote it`;
  if (madeBy.kind === "human")
    return { ...finding, message: what, hint: 'a human decides with `pawl answer <choice> --note "…"`' };
  return { ...finding, message: what, hint: `pawl makes it itself, by \`${madeBy.action}\`; nobody else can` };
}

/**
 * A section that stood there already says nothing new. Whoever judges adds one of his own: one that was there before may have
 * been prepared by those who are judged, and grows with whatever is written below it.
 */
function unchanged(
  { name, file, section, judges }: Artifact,
  { hash, sections = [] }: SoundArtifact,
  record: EvidenceRecord | undefined,
  { phases }: Workflow,
): Finding[] {
  const before = record?.before ?? [];
  const count = (hashes: string[]): number => hashes.filter((each) => each === hash).length;
  const isNew = sections.length > before.length && count(sections) > count(before);
  const isRevised = judges.length === 0 && !before.includes(hash);
  if (section === undefined || isNew || isRevised) return [];
  const phase = phases.find(({ leaves }) => leaves.includes(name))?.name ?? "its phase";
  return [
    {
      message: `the last \`## ${section}\` in ${file} was there before ${phase} began`,
      file,
      expected: `a section of its own that was added in ${phase}`,
      found: `the earlier one (${short(hash)})`,
      hint: `add a \`## ${section}\` of its own to the end of ${file}`,
    },
  ];
}

function staleness(
  artifact: Artifact,
  read: SoundArtifact,
  record: EvidenceRecord | undefined,
  statuses: Record<string, ArtifactStatus>,
): Finding[] {
  const { file } = artifact;
  const findings: Finding[] = [];
  for (const name of artifact.judges) {
    const judged = statuses[name];
    const recorded = record?.inputs[name];
    if (judged === undefined || (judged.condition !== "ok" && judged.condition !== "waived")) {
      findings.push({
        message: `${file} judges ${judged?.file ?? name}, which is ${judged?.condition ?? "missing"}`,
        file,
        expected: `a valid, fresh ${judged?.file ?? name}`,
        found: judged?.findings[0]?.message ?? judged?.condition ?? "nothing",
      });
    } else if (recorded !== undefined && recorded !== (judged.hash ?? "")) {
      findings.push({
        message: `${file} is stale: it judged another version of ${judged.file}`,
        file,
        expected: `a verdict on ${judged.file} as it is now (${short(judged.hash)})`,
        found: `one on an earlier version (${short(recorded)})`,
      });
    }
  }
  if (artifact.judges.length > 0 && record?.accepted !== undefined && record.accepted !== read.hash) {
    findings.push({
      message: `${file} was changed after it had been accepted`,
      file,
      expected: `the accepted content (${short(record.accepted)})`,
      found: `other content (${short(read.hash)})`,
    });
  }
  return findings;
}

function waivedFinding(artifact: Artifact): Finding {
  return {
    message: `${artifact.file} was passed over by a human's override`,
    file: artifact.file,
    expected: "evidence",
    found: "an override",
  };
}

function short(hash: string | undefined): string {
  return hash === undefined || hash === "" ? "nothing" : hash.slice(0, 12);
}
