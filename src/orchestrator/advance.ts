/** `next`: one step of a task. Its phase is completed, the way that the evidence opens is taken, and there it stands. */
import { halted, interrupted, invalid, refused } from "../errors.js";
import { loadTask, type OpenTask } from "../task/store.js";
import { waysOut } from "../workflow/decide.js";
import { worksByItself } from "../workflow/exits.js";
import type { Refusal } from "../workflow/types.js";
import type { TaskContext } from "./context.js";
import { lookAt, type Look } from "./look.js";
import { decideNext } from "./decide-next.js";
import { inSession, lookReady, type Session } from "./session.js";
import { comesAfter, phaseOf, requirePhase, proposalFor, suggest, type Proposal } from "./suggest.js";
import type { Awaited } from "./tending/await-agent.js";
import { carryOut, type Step } from "./transition.js";
import { doWork } from "./work.js";

export async function advance(context: TaskContext): Promise<Step> {
  const done = await inSession(context, (session) => advanceIn(context, session));
  if (!("since" in done)) return done;
  const { waitForStep } = await import("./tending/wait-for-step.js");
  return waitForStep(context, done);
}

/** Where an agent works by itself there is no step yet, and what has to be waited for. */
async function advanceIn(context: TaskContext, session: Session): Promise<Step | Awaited> {
  const step = session.tended.findLast(({ from, to }) => from !== to);
  if (step !== undefined) return step;
  let look = await lookReady(context, session.task);
  const suggestion = await proposalFor(context, look);
  if (suggestion.action === "work" || suggestion.action === "busy") {
    if (worksByItself(context.workflow, look.state.phase)) {
      const { awaitAgent } = await import("./tending/await-agent.js");
      return awaitAgent(context, session, look);
    }
    const { task, step } = await doWork(context, session.task, look, { thenNext: true });
    session.task = task;
    if (step !== null) return step;
    look = await lookAt(context, { state: session.task.state, origin: "stored" });
  } else if (suggestion.action !== "advance") throw refusalOf(context, look, suggestion);
  return takeNext(context, session.task, look);
}

/** The transition that `next` makes; refused when the evidence opens none. */
async function takeNext(context: TaskContext, task: OpenTask, look: Look): Promise<Step> {
  const { event, decision } = decideNext(context, look.state, look.evidence);
  if (decision.kind === "refusal") throw refusalError(context, decision);
  return carryOut(context, task, decision, event, look.evidence);
}

/** The same, but only into the phase that is wanted. */
export async function enterNext(context: TaskContext, task: OpenTask, look: Look, wanted: string): Promise<Step> {
  const { event, decision } = decideNext(context, look.state, look.evidence);
  if (decision.kind === "decision" && decision.to === wanted)
    return carryOut(context, task, decision, event, look.evidence);
  const why = decision.kind === "decision" ? `what follows is ${decision.to}` : decision.reason;
  throw notNext(context, look.state.phase, why, wanted);
}

export interface AutoResult {
  steps: Step[];
  phase: string;
  /** Why it stopped. */
  stopped: "end" | "until" | "human" | "max-steps";
  reason: string;
}

export interface AutoOptions {
  maxSteps: number;
  /** Stop at the beginning of this phase. */
  until?: string;
  onStep?: (step: Step) => void;
  onRetry?: (error: Error) => void;
}

/** Steps until the end, a human's phase, or a bound. A refusal or a failed attempt that waits for a human is thrown. */
export async function advanceToEnd(context: TaskContext, options: AutoOptions): Promise<AutoResult> {
  if (options.until !== undefined) requirePhase(context, options.until);
  const steps: Step[] = [];
  // Looking costs as much as deciding: it is done only where the task may have come to a stand.
  let mayStop = true;
  let at = phaseNow(context);
  for (let count = 0; count < options.maxSteps;) {
    if (context.signal?.aborted === true) {
      throw interrupted(`interrupted; ${context.id} can go on from there`, { hint: `pawl next ${context.id}` });
    }
    if (mayStop) {
      const stop = await standstill(context, options.until);
      if (stop !== null) return { steps, ...stop };
    }
    count++;
    try {
      const step = await advance(context);
      steps.push(step);
      at = step.to;
      options.onStep?.(step);
      const { kind } = phaseOf(context.workflow, step.to).who;
      mayStop = step.waiting !== null || kind === "human" || kind === "nobody" || step.to === options.until;
    } catch (error) {
      // An agent that works by itself may have led the task on, in the moment before this step was tried.
      const now = phaseNow(context);
      if (now !== at) {
        at = now;
        mayStop = true;
        continue;
      }
      // The table allows another attempt, or it would have the task wait.
      if (!isFailedAttempt(error)) throw error;
      options.onRetry?.(error as Error);
      mayStop = false;
    }
  }
  const { currentPhase } = await suggest(context);
  return { steps, phase: currentPhase, stopped: "max-steps", reason: `${options.maxSteps} steps were made` };
}

function phaseNow({ dir, workflow }: TaskContext): string {
  return loadTask(dir, workflow).state.phase;
}

/** Why the task goes no further by itself; null when it does. */
async function standstill(context: TaskContext, until: string | undefined): Promise<Omit<AutoResult, "steps"> | null> {
  const { currentPhase: phase, action, reason } = await suggest(context);
  if (phase === until) return { phase, stopped: "until", reason: `${phase} is reached` };
  if (until !== undefined && comesAfter(context.workflow, phase, until))
    return { phase, stopped: "until", reason: `${until} is behind it` };
  if (action === "none") return { phase, stopped: "end", reason };
  return action === "human" ? { phase, stopped: "human", reason } : null;
}

function isFailedAttempt(error: unknown): boolean {
  const { kind, data } = error as { kind?: string; data?: { attempt?: number } };
  return (kind === "failed" || kind === "invalid") && data?.attempt !== undefined;
}

function refusalOf(context: TaskContext, look: Look, proposal: Proposal): Error {
  const { action, reason, findings, command } = proposal;
  const ways = waysOut(context.workflow, look.evidence);
  const options = { findings, hint: command, data: { suggestion: { ...proposal, ways }, ways } };
  switch (action) {
    case "human":
      return halted(`${context.id}: ${reason}`, options);
    case "mend":
      return invalid(reason, options);
    case "none":
      return refused(`${proposal.currentPhase} is the end: nothing follows`, options);
    default:
      return refused(reason, options);
  }
}

export function refusalError(context: TaskContext, refusal: Refusal): Error {
  const findings = refusal.ways.filter(({ event }) => event === refusal.event).flatMap(({ blockers }) => blockers);
  // A condition's hint says where it stands, not what to do.
  const remedy = findings.find(({ kind, hint }) => kind !== "condition" && hint !== undefined)?.hint;
  return refused(refusal.reason, {
    findings,
    hint: remedy ?? `see \`pawl why ${context.id}\``,
    data: { refusal },
  });
}

function notNext(context: TaskContext, from: string, why: string, asked: string): Error {
  return refused(`${asked} cannot be run now: ${context.id} is in ${from}, and ${why}`, {
    hint: comesAfter(context.workflow, from, asked)
      ? `to go back: pawl redo ${asked} --reason "…" ${context.id}`
      : `pawl next ${context.id}; to skip what lies between: pawl override ${asked} --reason "…" ${context.id}`,
  });
}
