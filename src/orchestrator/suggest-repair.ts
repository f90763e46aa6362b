/** What keeps a phase from going on, and what mends it: the ground that it stands on, its own work, or its evidence. Pure. */
import { artifactsIn } from "../workflow/blockers.js";
import { allLeft } from "../workflow/leaves.js";
import type { ArtifactStatus, Phase, Refusal, Workflow } from "../workflow/types.js";
import type { Look } from "./look.js";
import type { Suggestion } from "./suggest.js";
import { wayBack } from "./way-back.js";

export type Repair = Pick<Suggestion, "action" | "suggestedNext" | "reason" | "command" | "findings">;

function isFit(status: ArtifactStatus | undefined): boolean {
  return status?.condition === "ok" || status?.condition === "waived";
}

/** What an earlier phase left and this one rests on, and which does not hold any more; null where all of it does. */
export function brokenGround(id: string, workflow: Workflow, phase: Phase, look: Look): Repair | null {
  const { artifacts } = look.evidence;
  const own = allLeft(phase);
  const broken = Object.keys(artifacts).find((name) => !own.includes(name) && !isFit(artifacts[name]));
  if (broken === undefined || isAnsweredWithout(workflow, phase, broken)) return null;
  const owner = workflow.phases.find(({ leaves }) => leaves.includes(broken))?.name ?? phase.name;
  const findings = artifacts[broken]?.findings ?? [];
  return {
    action: "redo",
    suggestedNext: owner,
    reason: `${phase.name} rests on evidence that does not hold: ${findings[0]?.message ?? broken}; go back to ${owner}, the last phase that was consistent`,
    command: wayBack(workflow, phase.name, owner, id),
    findings,
  };
}

/** A human who is asked may have an answer that does not rest on it. */
function isAnsweredWithout(workflow: Workflow, { name, who }: Phase, broken: string): boolean {
  const answers = workflow.transitions.filter(({ from, event }) => from === name && event === "answer");
  return who.kind === "human" && answers.some((row) => !reliedOn(workflow, artifactsIn(workflow, row)).has(broken));
}

/** With all that these judge. */
function reliedOn({ artifacts }: Workflow, names: string[]): Set<string> {
  const found = new Set(names);
  for (const name of found)
    for (const judged of artifacts.find((artifact) => artifact.name === name)?.judges ?? []) found.add(judged);
  return found;
}

/** No row is open: is it this phase's work, or the evidence itself? */
export function suggestRepair(id: string, workflow: Workflow, phase: Phase, look: Look, refusal: Refusal): Repair {
  const { artifacts } = look.evidence;
  const unfit = phase.leaves
    .map((name) => artifacts[name])
    .filter((status): status is ArtifactStatus => status !== undefined && !isFit(status));
  const findings = unfit.flatMap((status) => status.findings);
  const malformed = unfit.find(({ condition }) => condition === "invalid");
  if (malformed !== undefined) {
    return {
      action: "mend",
      suggestedNext: phase.name,
      reason: `invalid output of ${phase.name}: ${malformed.findings[0]?.message ?? malformed.file}; run the phase again, or mend the file by hand`,
      command: `pawl run ${phase.name} ${id}`,
      findings,
    };
  }
  if (unfit.length > 0) {
    const who = phase.who.kind === "agent" ? `the agent in the role ${phase.who.role}` : "pawl itself";
    const isDerived = (name: string): boolean =>
      workflow.artifacts.some((artifact) => artifact.name === name && artifact.madeBy.kind === "orchestrator");
    const where = phase.who.kind === "agent" && unfit.some(({ name }) => isDerived(name)) ? ", in its worktree" : "";
    return {
      action: "work",
      suggestedNext: phase.name,
      reason: `${findings[0]?.message ?? phase.name}: ${phase.name} has to be done by ${who}${where}`,
      command: `pawl next ${id}`,
      findings,
    };
  }
  return {
    action: "stuck",
    suggestedNext: phase.name,
    reason: refusal.reason,
    command: `pawl run ${phase.name} ${id}`,
    findings: refusal.ways.filter(({ event }) => event === refusal.event).flatMap(({ blockers }) => blockers),
  };
}
