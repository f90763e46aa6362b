/** The state that a decision leads to: what it accepts, what its actions change, and the phase that begins. Nothing is written. */
import type { StatePatch } from "../actions/types.js";
import { agentMarks, dueAgent, withAgents } from "../task/agent-mark.js";
import { inputHashes } from "../task/evidence.js";
import {
  actorOf,
  newActor,
  withActor,
  withOverride,
  type ActorStatus,
  type EvidenceRecord,
  type TaskState,
} from "../task/state.js";
import { allLeft } from "../workflow/leaves.js";
import type { Decision, Event, Evidence } from "../workflow/types.js";
import { bindInputs, putAway } from "./artifacts.js";
import type { TaskContext } from "./context.js";
import { phaseOf } from "./suggest.js";

/** The hashes of what opened the gate are remembered: a later change of it is noticed. */
export function accept(context: TaskContext, state: TaskState, decision: Decision, evidence: Evidence): TaskState {
  const records: Record<string, EvidenceRecord> = { ...state.evidence };
  for (const name of acceptedNames(context, decision, evidence)) {
    const status = evidence.artifacts[name];
    const artifact = context.workflow.artifacts.find((candidate) => candidate.name === name);
    if (status?.hash === undefined || artifact === undefined) continue;
    const known = records[name] ?? { inputs: inputHashes(artifact, evidence.artifacts) };
    records[name] = { ...known, accepted: status.hash };
  }
  if (decision.event === "override") Object.assign(records, waivers(context, decision, evidence));
  return { ...state, evidence: records };
}

function acceptedNames(context: TaskContext, decision: Decision, evidence: Evidence): string[] {
  if (decision.row === null) return [];
  const leaves = decision.event === "next" ? phaseOf(context.workflow, decision.from).leaves : [];
  return [...new Set([...decision.relied, ...leaves])].filter((name) => evidence.artifacts[name]?.condition === "ok");
}

/** What an override passes over (the look has to cover all of it) counts as given from now on, though it opens nothing by itself. */
function waivers(context: TaskContext, decision: Decision, evidence: Evidence): Record<string, EvidenceRecord> {
  const { phases, artifacts } = context.workflow;
  const target = phases.findIndex(({ name }) => name === decision.to);
  const earlier = phases.slice(0, target).flatMap(({ leaves }) => leaves);
  const passedOver = artifacts.filter(
    ({ name }) => earlier.includes(name) && evidence.artifacts[name]?.condition !== "ok",
  );
  return Object.fromEntries(
    passedOver.map((artifact) => [artifact.name, { inputs: inputHashes(artifact, evidence.artifacts), waived: true }]),
  );
}

export async function applyPatch(
  context: TaskContext,
  state: TaskState,
  decision: Decision,
  patch: StatePatch,
): Promise<TaskState> {
  let next = state;
  if (patch.resetVisits === true) next = resetVisits(next, decision);
  if (patch.failed === true)
    next = withActor(next, decision.from, { failures: actorOf(next, decision.from).failures + 1 });
  if (patch.waiting !== undefined) {
    next = {
      ...next,
      waiting: patch.waiting === null ? null : { reason: patch.waiting, since: context.now().toISOString() },
    };
  }
  if (patch.counters !== undefined) next = { ...next, counters: { ...next.counters, ...patch.counters } };
  if (patch.fields !== undefined) {
    const fields = { ...next.fields, ...patch.fields };
    next = { ...next, fields: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) };
  }
  if (patch.archive !== undefined) {
    const { leaves } = phaseOf(context.workflow, decision.from);
    next = await putAway(context, next, decision.from, patch.archive.includes("*") ? leaves : patch.archive);
  }
  return next;
}

/** A human stepped in: every loop starts counting anew. A phase that is left counts again when it is entered. */
function resetVisits(state: TaskState, { from, to }: Decision): TaskState {
  const actors = Object.fromEntries(
    Object.entries(state.actors).map(([phase, { fingerprint: _fingerprint, ...actor }]) => [
      phase,
      { ...actor, visits: from === to && phase === to ? 1 : 0, failures: 0 },
    ]),
  );
  return { ...state, actors };
}

export async function enter(
  context: TaskContext,
  state: TaskState,
  decision: Decision,
  event: Event,
): Promise<TaskState> {
  const byHuman = decision.row === null;
  const isNewRun = decision.event === "redo" && phaseOf(context.workflow, decision.from).who.kind === "nobody";
  const leaving = decision.to !== decision.from || byHuman;
  let next = byHuman ? resetVisits({ ...state, waiting: null, workflow: currentDocument(context) }, decision) : state;
  const from = {
    ...actorOf(next, decision.from),
    status: leaving ? ("completed" as const) : statusOfStaying(next, decision, event),
  };
  next = { ...next, phase: decision.to, actors: { ...next.actors, [decision.from]: from } };
  const note = event.payload.note ?? event.payload.reason;
  if (decision.event === "override") {
    const { from, to, reason } = decision;
    next = withOverride(next, { at: context.now().toISOString(), by: context.user, from, to, reason });
  }
  if (event.by.kind === "human" && note !== undefined && note.trim() !== "") {
    next = { ...next, fields: { ...next.fields, note: note.trim() } };
  } else if (leaving) next = { ...next, fields: without(next.fields, "note") }; // It was for the phase that is done now.
  if (byHuman) next = { ...next, fields: withoutStrangers(next.fields, decision.to) };
  if (isNewRun) next = { ...next, counters: {}, fields: without(without(next.fields, "question"), "conflict") };
  // A human who stepped in, or is asked now, sees the rules as they are.
  const isSeen = event.by.kind === "human" && (byHuman || event.name === "resume");
  if (isSeen || phaseOf(context.workflow, decision.to).who.kind !== "agent")
    next = { ...next, fields: without(next.fields, "rules") };
  next = { ...next, fields: dueHere(context, next.fields, decision.to) };
  if (!leaving) return next;
  if (next.waiting !== null && decision.to !== decision.from) next = { ...next, waiting: null };
  const actor = actorOf(next, decision.to);
  const cause = { from: decision.from, reason: decision.reason, artifacts: decision.relied };
  next = {
    ...next,
    actors: {
      ...next.actors,
      [decision.to]: {
        ...newActor(actor.visits + (decision.to === decision.from ? 0 : 1)),
        runs: actor.runs,
        attempts: actor.attempts,
        cause,
      },
    },
  };
  const leaves = allLeft(phaseOf(context.workflow, decision.to));
  return bindInputs(context, await putAway(context, next, decision.to, leaves), leaves);
}

/** An agent is due in the phase that begins, or not at all: a task that went elsewhere meanwhile starts nobody. */
function dueHere(context: TaskContext, fields: Record<string, unknown>, phase: string): Record<string, unknown> {
  const isItsPhase = dueAgent(fields) === phase && phaseOf(context.workflow, phase).who.kind === "agent";
  return isItsPhase ? fields : without(fields, "due");
}

/** A human's power is no row that could say who is to go: whoever has no part in the phase is. */
function withoutStrangers(fields: Record<string, unknown>, phase: string): Record<string, unknown> {
  const marks = agentMarks(fields).map((mark) => (mark.serves.includes(phase) ? mark : { ...mark, dismissed: true }));
  return without(withAgents(fields, marks), "due");
}

/** A failed attempt stays one until somebody acts on it. */
function statusOfStaying(state: TaskState, { from }: Decision, event: Event): ActorStatus {
  if (state.waiting !== null) return "blocked";
  return event.by.kind === "pawl" ? actorOf(state, from).status : "idle";
}

function without(fields: Record<string, unknown>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
}

function currentDocument(context: TaskContext): TaskState["workflow"] {
  const { name, version, hash } = context.workflow;
  return { name, version, hash };
}
