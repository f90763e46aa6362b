/**
 * Looking after the agents of a task that runs by itself: those that have ended are noticed, and what follows from it is taken;
 * who is due is started; who was dismissed is told. The only place where that is done: every command that looks at a task calls
 * it, the monitor does nothing else, and whoever comes second finds nothing left to do.
 */
import { codeOf, messageOf, PawlError } from "../../errors.js";
import { livenessOf } from "../../process/identity.js";
import { agentAtWork, agentMarks, dueAgent, isAfterCrash, type AgentMark } from "../../task/agent-mark.js";
import type { TaskState } from "../../task/state.js";
import { loadTask, openTask, type OpenTask } from "../../task/store.js";
import { decide } from "../../workflow/decide.js";
import { CRASHED, hasEvent } from "../../workflow/exits.js";
import type { Workflow } from "../../workflow/types.js";
import { record, type TaskContext } from "../context.js";
import { lookAt } from "../look.js";
import { notify } from "../notify.js";
import { isAgent } from "../sender.js";
import { phaseOf } from "../suggest.js";
import { carryOut, type Step } from "../transition.js";
import { endOf } from "./agent-end.js";
import { tellDismissed } from "./dismissal.js";
import { waitBecause } from "./wait-because.js";
import { startAgent } from "./start-agent.js";

/** Without a lock while there is nothing to do, which is nearly always. */
export async function tendNow(context: TaskContext): Promise<Step[]> {
  const { state } = loadTask(context.dir, context.workflow);
  await tellDismissed(state.fields);
  if (!needsTending(context, state)) return [];
  const task = await openTask(context.dir, context.workflow, context.now, context.workspace.env);
  try {
    return await tend(context, task);
  } finally {
    task.close();
    for (const step of context.notices.splice(0)) await notify(context, step);
  }
}

/** Under the task's lock. */
export async function tend(context: TaskContext, task: OpenTask): Promise<Step[]> {
  const steps: Step[] = [];
  for (;;) {
    const gone = agentMarks(task.state.fields).find(isGone);
    const step = gone === undefined ? await followCrash(context, task) : await endOf(context, task, gone);
    if (step !== null) steps.push(step);
    if (gone === undefined && step === null) break;
  }
  await tellDismissed(task.state.fields);
  if (mayStart(context, task.state)) await startDue(context, task, dueAgent(task.state.fields) ?? "");
  return steps;
}

export function needsTending(context: TaskContext, state: TaskState): boolean {
  if (agentMarks(state.fields).some(isGone)) return true;
  return mayStart(context, state) || isCrashOpen(context.workflow, state);
}

/** An agent whose host cannot be told from another process may be at work still: nothing follows from that. */
function isGone({ host }: AgentMark): boolean {
  return livenessOf(host) === "gone";
}

/**
 * One after the other: who comes next begins when the one before has ended, so that nobody changes what is being judged. An
 * agent starts nobody: its environment lacks what was kept from it, and its own end is what the next one waits for.
 */
function mayStart(context: TaskContext, { phase, fields, waiting }: TaskState): boolean {
  const isDue = dueAgent(fields) === phase && phaseOf(context.workflow, phase).who.kind === "agent";
  return isDue && waiting === null && agentMarks(fields).length === 0 && !isAgent(context);
}

function isCrashOpen(workflow: Workflow, { phase, lastEvent, fields }: TaskState): boolean {
  return isAfterCrash(lastEvent) && hasEvent(workflow, phase, CRASHED) && agentAtWork(fields) === undefined;
}

async function followCrash(context: TaskContext, task: OpenTask): Promise<Step | null> {
  if (!isCrashOpen(context.workflow, task.state)) return null;
  const { evidence } = await lookAt(context, { state: task.state, origin: "stored" });
  const event = { name: CRASHED, by: { kind: "pawl" as const }, payload: {} };
  const decision = decide(context.workflow, evidence, event);
  return decision.kind === "decision" ? carryOut(context, task, decision, event, evidence) : null;
}

/** What keeps an agent from being started is said once, by a task that waits; it is not tried again at every look. */
async function startDue(context: TaskContext, task: OpenTask, phase: string): Promise<void> {
  try {
    const start = await startAgent(context, task, phase);
    if (start.kind === "nobody") context.progress(`${start.why}\n`);
    if (start.kind === "failed")
      await waitBecause(context, task, `the agent of ${phase} cannot be started: ${start.why}`);
  } catch (error) {
    // What the system says (a file where a folder should be) is an agent's doing more often than a fault of pawl's.
    const isKnown = error instanceof PawlError ? error.kind !== "interrupted" : codeOf(error) !== undefined;
    if (!isKnown) throw error;
    const hint = error instanceof PawlError && error.hint !== undefined ? ` (${error.hint})` : "";
    await waitBecause(context, task, `the agent of ${phase} cannot be started: ${messageOf(error)}${hint}`);
    record(context, { kind: "note", text: `the agent of ${phase} cannot be started: ${messageOf(error)}` });
  }
}
