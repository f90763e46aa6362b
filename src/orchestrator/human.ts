/** What only humans may do: answer, resume, redo, override. Always through the table or with a reason, always on record. */
import { refused, usage } from "../errors.js";
import { loadSchema, type JsonSchema } from "../system/schemas.js";
import { archiveArtifact } from "../task/archive.js";
import { writeFileDurably } from "../task/atomic-file.js";
import { inputHashes } from "../task/evidence.js";
import { maskSecrets } from "../task/mask.js";
import { actorOf } from "../task/state.js";
import type { OpenTask } from "../task/store.js";
import { answerChoices } from "../workflow/choices.js";
import { decide } from "../workflow/decide.js";
import { sha256 } from "../workflow/hash.js";
import type { Artifact, ArtifactStatus, Event, EventPayload, Evidence } from "../workflow/types.js";
import { advance, refusalError } from "./advance.js";
import { answerData, answerableFields } from "./answer-data.js";
import { record, type TaskContext } from "./context.js";
import { evidenceFor, lookAt, toEvidence, type Look } from "./look.js";
import { openAnswers } from "./question.js";
import { isAgent, senderOf } from "./sender.js";
import { phaseOf, requirePhase } from "./suggest.js";
import { inSession, recordRefusal, recoverLost, requireIdle, requireSameDocument, waitsForHuman } from "./session.js";
import { formatArtifact, inTaskDirectory } from "./artifacts.js";
import { carryOut, type Brought, type Step } from "./transition.js";

/** `to` goes to the phase whatever the evidence says; without it, where the first row of the phase leads. */
export function override(context: TaskContext, request: { to?: string; reason: string }): Promise<Step> {
  if (request.to !== undefined) requirePhase(context, request.to);
  requireNoAgent(context, "override");
  return send(context, "override", (state) => {
    const happy = context.workflow.transitions.find((row) => row.from === state.phase && row.to !== row.from)?.to;
    return { reason: request.reason, to: request.to ?? happy ?? "" };
  });
}

/** Said at once: whoever has pawl run a program would have it wait for its own lock. */
function requireNoAgent(context: TaskContext, power: string): void {
  if (!isAgent(context)) return;
  const message = `only a human may ${power}, not an agent`;
  recordRefusal(context, refused(message));
  throw refused(message, { hint: "leave your artifact and stop; pawl checks it and decides what comes next" });
}

export function redo(context: TaskContext, request: { to: string; reason: string }): Promise<Step> {
  requirePhase(context, request.to);
  requireNoAgent(context, "redo");
  return send(context, "redo", () => request);
}

export function resume(context: TaskContext, request: { note: string }): Promise<Step> {
  if (request.note.trim() === "")
    throw usage("resume needs a note that is not blank", { hint: 'pawl resume --note "what to do differently"' });
  return send(context, "resume", () => request);
}

export interface AnswerRequest {
  /** One of the answers that the phase knows … */
  choice?: string;
  note?: string;
  to?: string;
  /** … or the whole artifact, as a form or a file gives it. */
  data?: Record<string, unknown>;
}

/** Answers what the phase asks. What the answer says is kept as the phase's artifact, where it has one for that. */
export async function answer(context: TaskContext, request: AnswerRequest): Promise<Step> {
  const step = await inSession(context, ({ task }) => answerIn(context, task, request));
  if (step !== null) return step;
  // A human did an agent's work: from here on it is a step like any other.
  const said = [request.choice ?? "a form", request.note].filter((part) => part !== undefined).join(": ");
  record(context, { kind: "answer", text: said });
  return advance(context);
}

/** Null: the answer was left as an agent's artifact, and nothing is decided yet. */
async function answerIn(context: TaskContext, task: OpenTask, given: AnswerRequest): Promise<Step | null> {
  const look = await lookAt(context, { state: task.state, origin: "stored" });
  requireHuman(context, task);
  requireUndisturbed(context, look);
  // Before the answer is written: what a lost run left is put away, and the answer must not go with it.
  if (look.running === "gone") await recoverLost(context, task);
  const question = questionOf(context, task.state.phase);
  // An agent's phase that waits takes up again with a resume, not by the way.
  if (look.evidence.waiting !== null && question.artifact?.madeBy.kind !== "human")
    throw waitsForHuman(context, look.evidence.waiting);
  const request = {
    ...given,
    ...(given.choice === undefined ? {} : { choice: spelled(given.choice, question.choices) }),
  };
  requireAnswer(
    context,
    task.state.phase,
    {
      ...question,
      choices: question.artifact === null ? openAnswers(context.workflow, look.evidence) : question.choices,
    },
    request,
  );
  const { artifact, schema } = question;
  if (artifact === null || schema === null || (request.data === undefined && !question.fromSchema)) {
    return decideAnswer(context, task, look.evidence, payloadOf(context, request), []);
  }
  const statuses = await evidenceFor(context, task.state, artifact.judges);
  const evidence = inputHashes(artifact, statuses);
  const said = { ...request, ...payloadOf(context, request), who: context.user, now: context.now(), evidence };
  const data = { ...answerData(schema, said), ...request.data };
  const status = await judge(context, artifact, data, { ...look.evidence.artifacts, ...statuses });
  if (artifact.madeBy.kind === "human") {
    const artifacts = { ...look.evidence.artifacts, ...statuses, [artifact.name]: status };
    const brought = [{ name: artifact.name, data }];
    return decideAnswer(context, task, { ...look.evidence, artifacts }, payloadOf(context, request), brought);
  }
  if (status.condition !== "ok") throw answerRefused(context, status);
  const { phase } = task.state;
  await archiveArtifact(context.dir, artifact, phase, actorOf(task.state, phase).runs);
  const text = formatArtifact(data);
  await writeFileDurably(inTaskDirectory(context, artifact.file), text);
  await claim(context, task, artifact, sha256(text));
  return null;
}

/** A person says whose it is: then it counts, whoever else was at work when it came. */
async function claim(context: TaskContext, task: OpenTask, artifact: Artifact, hash: string): Promise<void> {
  await task.begin(context.user);
  const { state } = task;
  const known = state.evidence[artifact.name] ?? { inputs: {} };
  const evidence = { ...state.evidence, [artifact.name]: { ...known, written: hash } };
  const place = { from: state.phase, to: state.phase };
  const data = { artifact: artifact.name, hash };
  await task.commit({ ...state, evidence }, { type: "artifact.left", by: context.user, ...place, data });
}

/** What a phase asks a human: the artifact that the answer becomes, and the answers that it knows. */
export interface Question {
  artifact: Artifact | null;
  schema: JsonSchema | null;
  choices: string[];
  /** The schema says where the parts of an answer go. */
  fromSchema: boolean;
}

export function questionOf(
  { workflow, workspace }: Pick<TaskContext, "workflow" | "workspace">,
  phaseName: string,
): Question {
  const { leaves } = phaseOf(workflow, phaseName);
  const artifact =
    // A section is written into the file that it is a part of: nobody's answer takes the place of that file.
    workflow.artifacts.find(
      ({ name, madeBy, section }) => leaves.includes(name) && madeBy.kind !== "orchestrator" && section === undefined,
    ) ?? null;
  const schema = artifact?.schema === undefined ? null : loadSchema(artifact.schema, workspace.root).schema;
  const fields = schema === null ? null : answerableFields(schema);
  return {
    artifact,
    schema,
    choices: fields?.choices ?? answerChoices(workflow, phaseName),
    fromSchema: fields !== null,
  };
}

/** Nobody has to shout: `continue` is CONTINUE. */
function spelled(choice: string, choices: string[]): string {
  if (choices.includes(choice)) return choice;
  return choices.find((each) => each.toLowerCase() === choice.toLowerCase()) ?? choice;
}

function requireAnswer(
  context: TaskContext,
  phase: string,
  { artifact, choices }: Question,
  request: AnswerRequest,
): void {
  if (request.data === undefined) {
    if (!choices.includes(request.choice ?? "")) throw unknownChoice(context, phase, request.choice ?? "", choices);
  } else if (artifact === null) {
    throw usage(`${phase} has nothing that a file could be`, { hint: `see \`pawl why ${context.id}\`` });
  }
}

function payloadOf(context: TaskContext, { choice, note, to }: AnswerRequest): EventPayload {
  const given = Object.entries({ choice, note: note?.trim(), to }).filter(([, value]) => value !== undefined);
  return masked(context, Object.fromEntries(given));
}

/** What a human says goes to state, history and prompts alike: a secret in it goes nowhere. */
function masked(context: TaskContext, payload: EventPayload): EventPayload {
  const mask = (text: string): string => maskSecrets(text, context.workspace.env);
  return {
    ...payload,
    ...(payload.reason === undefined ? {} : { reason: mask(payload.reason) }),
    ...(payload.note === undefined ? {} : { note: mask(payload.note) }),
  };
}

async function decideAnswer(
  context: TaskContext,
  task: OpenTask,
  evidence: Evidence,
  payload: EventPayload,
  brought: Brought[],
): Promise<Step> {
  // A document may have a human's phase go on by `next`; the answer is what completes it.
  const asks = context.workflow.transitions.some(({ from, event }) => from === evidence.phase && event === "answer");
  const event: Event = { name: asks ? "answer" : "next", by: senderOf(context, task.state), payload };
  const decision = decide(context.workflow, evidence, event);
  const unfit = brought.map(({ name }) => evidence.artifacts[name]).find((status) => status?.condition === "invalid");
  if (unfit !== undefined) throw answerRefused(context, unfit);
  if (decision.kind === "refusal") throw refusalError(context, decision);
  const note = payload.note === undefined || payload.note === "" ? "" : `: ${payload.note}`;
  return carryOut(context, task, { ...decision, reason: `${decision.reason}${note}` }, event, evidence, { brought });
}

function send(
  context: TaskContext,
  name: string,
  payloadFor: (state: { phase: string }) => EventPayload,
): Promise<Step> {
  return inSession(context, async ({ task }) => {
    const event: Event = { name, by: senderOf(context, task.state), payload: masked(context, payloadFor(task.state)) };
    let look = await lookForHuman(context, task, name, event.payload.to);
    // A redo or an override takes the document as it is now; it says so in the history.
    if (name === "resume") requireUndisturbed(context, look);
    else requireIdle(context, look);
    if (look.running === "gone") {
      await recoverLost(context, task);
      look = await lookForHuman(context, task, name, event.payload.to);
    }
    const decision = decide(context.workflow, look.evidence, event);
    if (decision.kind === "refusal") throw refusalError(context, decision);
    return carryOut(context, task, decision, event, look.evidence);
  });
}

/** An override has to know everything that it passes over, not only what this phase looks at. */
async function lookForHuman(
  context: TaskContext,
  task: OpenTask,
  name: string,
  target: string | undefined,
): Promise<Look> {
  const look = await lookAt(context, { state: task.state, origin: "stored" });
  const end = context.workflow.phases.findIndex((phase) => phase.name === target);
  if (name !== "override" || end < 0) return look;
  const names = context.workflow.phases.slice(0, end).flatMap(({ leaves }) => leaves);
  const statuses = await evidenceFor(context, task.state, [...Object.keys(look.evidence.artifacts), ...names]);
  return { ...look, evidence: await toEvidence(context, task.state, statuses) };
}

/** What the answer would be worth as evidence. */
async function judge(
  context: TaskContext,
  artifact: Artifact,
  data: unknown,
  known: Record<string, ArtifactStatus>,
): Promise<ArtifactStatus> {
  const { name, file, schema } = artifact;
  const hash = sha256(formatArtifact(data));
  const invalidFields = schema === undefined ? [] : await context.validate(schema, structuredClone(data), file);
  if (invalidFields.length > 0) return { name, file, condition: "invalid", findings: invalidFields, hash };
  const unfit = artifact.judges.flatMap((judged) => {
    const status = known[judged];
    return status?.condition === "ok" || status?.condition === "waived"
      ? []
      : (status?.findings ?? [{ message: `${judged} is missing` }]);
  });
  if (unfit.length > 0) return { name, file, condition: "stale", findings: unfit, hash };
  return { name, file, condition: "ok", data, findings: [], hash };
}

function requireUndisturbed(context: TaskContext, look: Look): void {
  requireSameDocument(context, look);
  requireIdle(context, look);
}

function requireHuman(context: TaskContext, task: OpenTask): void {
  const sender = senderOf(context, task.state);
  if (sender.kind !== "human")
    throw usage(`only a human answers here, not the agent in the role ${sender.kind === "agent" ? sender.role : ""}`, {
      hint: "leave your artifact and stop; pawl checks it and decides what comes next",
    });
}

function unknownChoice(context: TaskContext, phase: string, choice: string, choices: string[]): Error {
  if (choices.length === 0)
    return usage(`${phase} asks nothing that could be answered`, { hint: `see \`pawl why ${context.id}\`` });
  return usage(`\`${choice}\` is no answer in ${phase}; expected one of: ${choices.join(", ")}`, {
    hint: `pawl answer ${choices.join("|")} --note "…" ${context.id}`,
  });
}

function answerRefused(context: TaskContext, { file, findings, condition }: ArtifactStatus): Error {
  const message = `the answer does not make a valid ${file}: ${findings[0]?.message ?? ""}`;
  // What it would judge is not there: no other words would help.
  if (condition !== "invalid") return refused(message, { findings, hint: `see \`pawl why ${context.id}\`` });
  return usage(message, { findings, hint: `pawl answer <choice> --note "…" [--to PHASE] ${context.id}` });
}
