/** What the history says about a task's evidence: enough to tell, without the state file, what is stale. */
import { allLeft } from "../workflow/leaves.js";
import type { Artifact, Workflow } from "../workflow/types.js";
import { isTransition, type HistoryEvent } from "./history.js";
import type { EvidenceRecord } from "./state.js";

type Records = Record<string, EvidenceRecord>;

/** What pawl itself wrote is not among it: events do not say so, and such reports are made again. */
export function evidenceFromHistory(events: HistoryEvent[], workflow: Workflow, before: Records = {}): Records {
  const records = { ...before };
  for (const event of events) {
    for (const artifact of workflow.artifacts) {
      const accepted = event.evidence?.[artifact.name];
      const { before } = records[artifact.name] ?? {};
      if (accepted !== undefined)
        records[artifact.name] = {
          inputs: inputsAt(event, artifact, records),
          accepted,
          ...(before === undefined ? {} : { before }),
        };
    }
    // What was there before was put away; from here on it is asked for anew.
    for (const artifact of leftBy(phaseEntered(event), workflow))
      records[artifact.name] = { inputs: inputsAt(event, artifact, records), ...sectionsAt(artifact, records) };
  }
  return records;
}

/** Records with which no verdict counts, because nobody can say what it was about. */
export function unknownEvidence({ artifacts }: Workflow): Records {
  return Object.fromEntries(
    artifacts.map(({ name, judges }) => [name, { inputs: Object.fromEntries(judges.map((judged) => [judged, ""])) }]),
  );
}

function inputsAt({ evidence = {} }: HistoryEvent, { judges }: Artifact, records: Records): Record<string, string> {
  return Object.fromEntries(judges.map((name) => [name, evidence[name] ?? records[name]?.accepted ?? ""]));
}

/** A section is not put away: that it was accepted once before is known all the same. */
function sectionsAt({ name, section }: Artifact, records: Records): Pick<EvidenceRecord, "before"> {
  if (section === undefined) return {};
  const { before = [], accepted } = records[name] ?? {};
  return { before: accepted === undefined ? before : [...before, accepted] };
}

function phaseEntered(event: HistoryEvent): string | undefined {
  const { type, from, to } = event;
  const byHuman = type === "override" || type === "redo";
  return byHuman || (isTransition(event) && from !== to) ? to : undefined;
}

function leftBy(phase: string | undefined, { phases, artifacts }: Workflow): Artifact[] {
  const entered = phases.find(({ name }) => name === phase);
  const leaves = entered === undefined ? [] : allLeft(entered);
  return artifacts.filter(({ name }) => leaves.includes(name));
}
