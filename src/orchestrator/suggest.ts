/** What `next` would do, as a value. `next` does exactly this; `--dry-run` and `status` show it. */
import { join } from "node:path";
import { nearest, usage, type Finding } from "../errors.js";
import { readPlainFile } from "../task/plain-file.js";
import { agentMarks, dueAgent, type AgentMark } from "../task/agent-mark.js";
import { actorOf, type TaskState } from "../task/state.js";
import { loadTask } from "../task/store.js";
import { answerChoices } from "../workflow/choices.js";
import { waysOut } from "../workflow/decide.js";
import { EXIT, UPDATE, worksByItself } from "../workflow/exits.js";
import type { ArtifactStatus, Decision, Evidence, Phase, Transition, Way, Workflow } from "../workflow/types.js";
import type { TaskContext } from "./context.js";
import { decideStep } from "./decide-next.js";
import { openAnswers, questionIn, type Question } from "./question.js";
import { brokenGround, suggestRepair } from "./suggest-repair.js";
import { takeOver } from "./way-back.js";
import { lookAt, type Look } from "./look.js";

/**
 * `advance`: a transition is open. `work`: the phase's own work has to be done (again). `human`: somebody has to decide.
 * `redo`: an earlier phase has to be done again. `mend`: an artifact is malformed. `stuck`: no row fits the evidence.
 * `pull`: an agent asks for its work with its tools. `busy`: another pawl is at it. `none`: the end.
 */
export type SuggestedAction = "advance" | "work" | "human" | "pull" | "redo" | "mend" | "stuck" | "busy" | "none";

export interface Suggestion {
  task: string;
  workflow: string;
  currentPhase: string;
  suggestedNext: string;
  reason: string;
  action: SuggestedAction;
  /** What to type. */
  command: string;
  findings: Finding[];
  ways: Way[];
  waiting: string | null;
  warnings: string[];
}

/** A suggestion without the explanation of every way out, which costs more than all the rest. */
export type Proposal = Omit<Suggestion, "ways">;

export async function suggest(context: TaskContext): Promise<Suggestion> {
  return suggestFor(context, await lookAt(context, loadTask(context.dir, context.workflow)));
}

export async function suggestFor(context: TaskContext, look: Look): Promise<Suggestion> {
  return { ...(await proposalFor(context, look)), ways: waysOut(context.workflow, look.evidence) };
}

/** What the document says, and who does the work in this workspace. */
export async function proposalFor(context: TaskContext, look: Look): Promise<Proposal> {
  const suggestion = documentProposal(context.id, context.workflow, look);
  const { who, leaves, purpose } = phaseOf(context.workflow, look.state.phase);
  if (suggestion.action !== "work" || who.kind !== "agent" || !(await isHumans(context, who.role))) return suggestion;
  // A change is made in the worktree, and only `next` sees whether it is there.
  const byHand = context.workflow.artifacts.filter(
    ({ name, madeBy }) => leaves.includes(name) && madeBy.kind === "agent",
  );
  if (byHand.length === 0) return suggestion;
  const reason = `${look.state.phase} is done by a human in the role ${who.role}: ${purpose}`;
  const command = byHand.every(({ section }) => section !== undefined)
    ? `pawl task complete ${context.id}`
    : `pawl form ${context.id}`;
  return { ...suggestion, action: "human", reason, command };
}

function documentProposal(id: string, workflow: Workflow, look: Look): Proposal {
  const { state, evidence } = look;
  const phase = phaseOf(workflow, state.phase);
  const base = {
    task: id,
    workflow: workflow.name,
    currentPhase: phase.name,
    suggestedNext: phase.name,
    findings: [] as Finding[],
    waiting: evidence.waiting,
    warnings: warningsOf(workflow, look),
  };
  if (phase.who.kind === "nobody") {
    return {
      ...base,
      action: "none",
      reason: `${phase.name} is the end`,
      command: workflow.human.redo ? `pawl redo <phase> --reason "…" ${id}` : `pawl history ${id}`,
    };
  }
  if (look.documentChanged) {
    const reason = `${changedDocument(workflow)}; put it back, or take it over with a reason`;
    return { ...base, action: "mend", reason, command: takeOver(workflow, phase.name, id) };
  }
  if (look.running === "alive" || look.running === "unknown") {
    return {
      ...base,
      action: "busy",
      reason: `another pawl is at work on ${phase.name}`,
      command: `pawl status ${id}`,
    };
  }
  if (evidence.waiting !== null) {
    return {
      ...base,
      action: "human",
      reason: `waits for a human: ${evidence.waiting}`,
      command: `pawl resume --note "…" ${id}`,
    };
  }
  const agent = look.agent?.liveness === "gone" ? undefined : look.agent?.mark;
  if (agent?.serves.includes(phase.name) === true) return { ...base, ...whileAtWork(id, workflow, phase, agent) };
  if (dueAgent(state.fields) === phase.name && agentMarks(state.fields).length > 0)
    return { ...base, action: "busy", reason: BEFORE_IT, command: `pawl watch ${id}` };
  if (look.running === "gone") {
    const reason = `the pawl that was at work on ${phase.name} ended without finishing; what it left does not count`;
    return { ...base, action: "work", reason, command: `pawl next ${id}` };
  }
  const { decision } = decideStep(workflow, evidence, { kind: "human", name: "" });
  if (decision.kind === "decision") {
    return {
      ...base,
      action: "advance",
      suggestedNext: decision.to,
      reason: reasonWithFiles(decision, evidence.artifacts),
      command: `pawl next ${id}`,
    };
  }
  const ground = brokenGround(id, workflow, phase, look);
  if (ground !== null) return { ...base, ...ground };
  if (phase.who.kind === "human") {
    const events = eventsOf(workflow, phase.name);
    const question = questionIn(state.fields);
    if (question !== null) return { ...base, action: "human", ...asQuestion(id, workflow, evidence, question) };
    const resumes = events.includes("resume") && !events.includes("answer") && !events.includes("next");
    return {
      ...base,
      action: "human",
      reason: `${phase.name} is a human's: ${phase.purpose}`,
      command: resumes ? `pawl resume --note "…" ${id}` : answerCommand(workflow, phase.name, id),
    };
  }
  const events = eventsOf(workflow, phase.name);
  if (phase.who.kind === "agent" && !events.some((event) => SELF_MOVING.includes(event)))
    return { ...base, ...humansWord(id, workflow, phase, state) };
  if (events.includes("get_task")) {
    const reason = `an agent pulls its work here: ${phase.purpose}`;
    return { ...base, action: "pull", reason, command: "pawl tool get_task" };
  }
  const repair = suggestRepair(id, workflow, phase, look, decision);
  return { ...base, ...repair, reason: `${afterFailure(state, id)}${repair.reason}` };
}

const BEFORE_IT = "its agent is started as soon as the one before has ended";

function whileAtWork(id: string, workflow: Workflow, { name, purpose }: Phase, { role, since }: AgentMark): Ask {
  const reason = `the agent in the role ${role} has been at work since ${since}`;
  const command = `pawl attach ${id}`;
  if (worksByItself(workflow, name)) return { action: "busy", reason, command };
  return { action: "human", reason: `${name}: ${purpose}; ${reason}`, command };
}

type Ask = Pick<Proposal, "action" | "reason" | "command">;

/** Whoever looks after a failed attempt wants to know that there was one. */
function afterFailure(state: TaskState, id: string): string {
  const { status, lastFailure, attempts } = actorOf(state, state.phase);
  const why = lastFailure?.split("\n")[0];
  return status === "failed" && why !== undefined ? `attempt ${attempts} failed: ${why} (pawl log ${id}). ` : "";
}

/** What leads on from an agent's phase without a human. */
const SELF_MOVING = ["next", "get_task", EXIT];

function humansWord(id: string, workflow: Workflow, { name, purpose }: Phase, state: TaskState): Ask {
  const rows = workflow.transitions.filter(({ from, to, by }) => from === name && to !== name && by.includes("human"));
  const { cause } = actorOf(state, name);
  const why = cause === undefined ? "" : ` (from ${cause.from}: ${cause.reason})`;
  return { action: "human", reason: `${purpose}${why}`, command: humansCommand(id, workflow, name, rows) };
}

function humansCommand(id: string, workflow: Workflow, phase: string, rows: Transition[]): string {
  const choices = answerChoices(workflow, phase);
  if (choices.length > 0) return `pawl answer ${choices.join("|")} --note "…" ${id}`;
  if (rows.some(({ event }) => event === "resume")) return `pawl resume --note "…" ${id}`;
  const update = rows.find(({ event }) => event === UPDATE)?.to;
  return update === undefined ? `pawl why ${id}` : `pawl task update ${id} --status ${update} --reason "…"`;
}

function eventsOf(workflow: Workflow, phase: string): string[] {
  return workflow.transitions.filter(({ from }) => from === phase).map(({ event }) => event);
}

export function phaseOf(workflow: Workflow, name: string): Phase {
  const phase = workflow.phases.find((candidate) => candidate.name === name);
  if (phase === undefined) throw new TypeError(`phaseOf: ${name} is no phase of ${workflow.name}`);
  return phase;
}

/** The phases of a document stand in the order of the work. */
export function comesAfter(workflow: Workflow, phase: string, other: string): boolean {
  const names = workflow.phases.map(({ name }) => name);
  return names.includes(other) && names.indexOf(phase) > names.indexOf(other);
}

/** task.md is parsed only where somebody speaks of humans: most looks can do without. */
async function isHumans(context: TaskContext, role: string): Promise<boolean> {
  const { agents = {} } = await context.config();
  const named = [context.workspace.env["PAWL_AGENT"], ...Object.values(agents).map(({ use }) => use)];
  if (!named.includes(HUMAN) && !mentionsHuman(context)) return false;
  const { agentOf } = await import("../workspace/settings.js");
  return agentOf(await context.settings(), role)?.use === HUMAN;
}

const HUMAN = "human";

function mentionsHuman({ dir }: TaskContext): boolean {
  try {
    return /^agent:.*\bhuman\b/m.test(readPlainFile(join(dir, "task.md")).toString("utf8"));
  } catch {
    return false; // Whoever needs the file says what is wrong with it.
  }
}

/** For names that a person typed. */
export function requirePhase(context: TaskContext, name: string): void {
  const names = context.workflow.phases.map((phase) => phase.name);
  if (names.includes(name)) return;
  const near = nearest(name, names);
  throw usage(`\`${name}\` is no phase of ${context.workflow.name}; its phases are: ${names.join(", ")}`, {
    hint: near === undefined ? `see \`pawl why ${context.id}\`` : `did you mean ${near}?`,
  });
}

function reasonWithFiles(decision: Decision, artifacts: Record<string, ArtifactStatus>): string {
  const files = decision.relied.map((name) => artifacts[name]?.file).filter((file) => file !== undefined);
  return files.length === 0 ? decision.reason : `${decision.reason} (${files.join(", ")})`;
}

function asQuestion(
  id: string,
  workflow: Workflow,
  evidence: Evidence,
  { text, options, origin }: Question,
): Omit<Ask, "action"> {
  const choices = openAnswers(workflow, evidence);
  const offered = options.length === 0 ? "" : ` (${options.join(", ")})`;
  return {
    reason: `asked in ${origin}: ${text}${offered}`,
    command: `pawl answer ${choices.join("|")} --note "…" ${id}`,
  };
}

function answerCommand(workflow: Workflow, phase: string, id: string): string {
  const choices = answerChoices(workflow, phase);
  const { leaves } = phaseOf(workflow, phase);
  if (
    choices.length === 0 &&
    workflow.artifacts.some(({ name, madeBy }) => leaves.includes(name) && madeBy.kind === HUMAN)
  )
    return `pawl form ${id} (or pawl answer @FILE ${id})`;
  return `pawl answer ${choices.length === 0 ? "<choice>" : choices.join("|")} --note "…" ${id}`;
}

function warningsOf(workflow: Workflow, look: Look): string[] {
  const warnings: string[] = [];
  if (look.documentChanged) warnings.push(changedDocument(workflow));
  return warnings;
}

export function changedDocument(workflow: Workflow): string {
  return `${workflow.file} is not the document that this task began with`;
}
