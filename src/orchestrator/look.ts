/** A look at a task: its state and what its evidence is worth now. Changes nothing. */
import { makers } from "../actions/registry.js";
import type { MakerContext } from "../actions/types.js";
import type { Finding } from "../errors.js";
import { livenessOf, type Liveness } from "../process/identity.js";
import { agentAtWork, type AgentMark } from "../task/agent-mark.js";
import { readEvidence } from "../task/evidence.js";
import { actorOf, type TaskState } from "../task/state.js";
import type { LoadedTask } from "../task/store.js";
import { relevantArtifacts } from "../workflow/decide.js";
import { allLeft } from "../workflow/leaves.js";
import type { Artifact, ArtifactStatus, Evidence } from "../workflow/types.js";
import type { TaskContext } from "./context.js";
import { unmetDependencies } from "./dependencies.js";
import { wayBack } from "./way-back.js";
import { foreignHand } from "./foreign-hand.js";

export interface Look {
  state: TaskState;
  origin: LoadedTask["origin"];
  evidence: Evidence;
  /** Is the work of the phase under way in some pawl? */
  running: "no" | "alive" | "gone" | "unknown";
  /** The agent that is at work by itself; confirmed to be gone, it only waits to be noticed. */
  agent: { mark: AgentMark; liveness: Liveness } | null;
  /** The document is not the one that the task began with. */
  documentChanged: boolean;
}

export async function lookAt(context: TaskContext, loaded: Pick<LoadedTask, "state" | "origin">): Promise<Look> {
  const { state, origin } = loaded;
  const artifacts = await evidenceFor(context, state, relevantArtifacts(context.workflow, state.phase));
  const { run } = actorOf(state, state.phase);
  const mark = agentAtWork(state.fields);
  return {
    state,
    origin,
    evidence: await toEvidence(context, state, artifacts),
    running: run === undefined ? "no" : livenessOf(run.owner),
    agent: mark === undefined ? null : { mark, liveness: livenessOf(mark.host) },
    documentChanged: hasBegun(state) && state.workflow.hash !== context.workflow.hash,
  };
}

/** The status of the named artifacts and of everything that they judge. */
export function evidenceFor(
  context: TaskContext,
  state: TaskState,
  names: string[],
): Promise<Record<string, ArtifactStatus>> {
  return readEvidence(names, {
    directory: context.dir,
    workflow: context.workflow,
    state,
    validate: context.validate,
    checkSource: (artifact, read, known) => checkSource(context, state, artifact, read, known),
  });
}

export async function toEvidence(
  context: TaskContext,
  state: TaskState,
  artifacts: Record<string, ArtifactStatus>,
): Promise<Evidence> {
  const { limits } = await context.config();
  const unmet = await unmetDependencies(context, state.phase);
  return {
    phase: state.phase,
    artifacts,
    visits: Object.fromEntries(Object.entries(state.actors).map(([phase, actor]) => [phase, actor.visits])),
    failures: actorOf(state, state.phase).failures,
    counters: state.counters,
    limits: { ...context.workflow.limits, ...limits },
    waiting: state.waiting?.reason ?? null,
    ...(unmet === undefined ? {} : { unmet }),
    state: state.fields,
  };
}

export async function makerContext(
  context: TaskContext,
  state: TaskState,
  artifacts: Record<string, ArtifactStatus>,
): Promise<Omit<MakerContext, "runDir" | "runPath" | "accepted">> {
  return {
    settings: await context.settings(),
    artifacts,
    fields: state.fields,
    progress: context.progress,
    ...(context.signal === undefined ? {} : { signal: context.signal }),
  };
}

async function checkSource(
  context: TaskContext,
  state: TaskState,
  artifact: Artifact,
  { data, hash }: { data: unknown; hash: string },
  known: Record<string, ArtifactStatus>,
): Promise<Finding | null> {
  if (artifact.madeBy.kind === "agent")
    return isKnown(context, state, artifact, hash) ? null : foreignHand(context, artifact);
  if (artifact.madeBy.kind === "human") return null;
  const maker = await makers.get(artifact.madeBy.action)?.load();
  if (maker?.check === undefined) return null;
  const finding = await maker.check(await makerContext(context, state, known), data);
  return finding === null ? null : { hint: madeAnew(context, state.phase, artifact), ...finding };
}

/** How what does not hold any more is made anew. */
function madeAnew({ workflow, id }: TaskContext, from: string, { name }: Artifact): string {
  const phase = workflow.phases.find(({ leaves }) => leaves.includes(name))?.name ?? workflow.initial;
  return wayBack(workflow, from, phase, id);
}

/** Left by a run of its own phase, said to be a person's, or accepted before. */
function isKnown({ workflow }: TaskContext, state: TaskState, { name, section }: Artifact, hash: string): boolean {
  // When its file was written says nothing of a section, and a person who hands it over says so.
  if (section !== undefined) return true;
  const record = state.evidence[name];
  if (record?.accepted === hash || record?.written === hash) return true;
  const isAsked = workflow.phases.some((phase) => phase.name === state.phase && allLeft(phase).includes(name));
  return !isAsked || actorOf(state, state.phase).tried > 0;
}

/** A task that has only been created or imported has not begun: it takes the document as it is now. */
function hasBegun(state: TaskState): boolean {
  const type = state.lastEvent?.type;
  return type !== undefined && type !== "task.created" && type !== "task.imported";
}
