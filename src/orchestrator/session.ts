/** One use of a task: opened, looked at, fit to be worked on, and closed again whatever happens. */
import { endOrphan } from "../agents/orphan.js";
import { halted, invalid, refused } from "../errors.js";
import { hasAgents } from "../task/agent-mark.js";
import { actorOf, withActor } from "../task/state.js";
import { openTask, type OpenTask } from "../task/store.js";
import { allLeft } from "../workflow/leaves.js";
import { record, type TaskContext } from "./context.js";
import { lookAt, type Look } from "./look.js";
import { notify } from "./notify.js";
import { changedDocument, phaseOf } from "./suggest.js";
import { putAway } from "./artifacts.js";
import type { Step } from "./transition.js";
import { takeOver } from "./way-back.js";

/** The task of a session. Long work closes it and puts one that is open again in its place. */
export interface Session {
  task: OpenTask;
  /** What followed from agents that had ended, before anything else was done. */
  tended: Step[];
}

/** What is refused goes to the transcript; the state is as it was. */
export async function inSession<T>(context: TaskContext, use: (session: Session) => Promise<T>): Promise<T> {
  const task = await openTask(context.dir, context.workflow, context.now, context.workspace.env);
  const session: Session = { task, tended: [] };
  try {
    session.tended = await tendIfAny(context, session.task);
    const result = await use(session);
    await tendIfAny(context, session.task);
    return result;
  } catch (error) {
    recordRefusal(context, error);
    throw error;
  } finally {
    session.task.close();
    // Whoever is told may want to answer at once.
    for (const step of context.notices.splice(0)) await notify(context, step);
  }
}

/** Most workflows have no agents of their own, and need not load what looks after them. */
async function tendIfAny(context: TaskContext, task: OpenTask): Promise<Step[]> {
  if (!hasAgents(task.state)) return [];
  const { tend } = await import("./tending/tend.js");
  return tend(context, task);
}

/** A look at a task that may be worked on now; what a pawl that died left of its run is cleared away first. */
export async function lookReady(context: TaskContext, task: OpenTask): Promise<Look> {
  const look = await lookAt(context, { state: task.state, origin: "stored" });
  requireReady(context, look);
  if (look.running !== "gone") return look;
  await recoverLost(context, task);
  return lookAt(context, { state: task.state, origin: "stored" });
}

/** Nobody else at it, nothing that a human has to say first, and the document still the one that the task began with. */
function requireReady(context: TaskContext, look: Look): void {
  requireSameDocument(context, look);
  requireIdle(context, look);
  if (look.evidence.waiting !== null) throw waitsForHuman(context, look.evidence.waiting);
}

export function waitsForHuman(context: TaskContext, reason: string): Error {
  return halted(`${context.id} waits for a human: ${reason}`, { hint: `pawl resume --note "…" ${context.id}` });
}

export function requireSameDocument(context: TaskContext, look: Look): void {
  if (!look.documentChanged) return;
  const { file, hash } = context.workflow;
  const expected = look.state.workflow.hash.slice(0, 12);
  throw invalid(changedDocument(context.workflow), {
    findings: [{ message: "the document changed under a running task", file, expected, found: hash.slice(0, 12) }],
    hint: `take the new one over with a reason: ${takeOver(context.workflow, look.state.phase, context.id)}; or put the old one back`,
  });
}

export function requireIdle(context: TaskContext, look: Look): void {
  if (look.running !== "alive" && look.running !== "unknown") return;
  const { phase } = look.state;
  const run = actorOf(look.state, phase).run;
  const who = `another pawl (process ${run?.owner.pid ?? "?"})`;
  throw refused(`${who} has been at work on ${phase} of ${context.id} since ${run?.since ?? "?"}`, {
    hint: "wait for it, or end that process",
  });
}

/**
 * A run whose pawl died: what it left says nothing, because nobody saw how it ended. Its agent, should it still be at work,
 * is ended first; it is pawl's own.
 */
export async function recoverLost(context: TaskContext, task: OpenTask): Promise<void> {
  const { phase } = task.state;
  const lost = actorOf(task.state, phase).run;
  if (lost === undefined) return;
  if (lost.token !== undefined) endOrphan(lost.token);
  const state = await putAway(context, task.state, phase, allLeft(phaseOf(context.workflow, phase)));
  await task.commit(withActor(state, phase, { status: "idle", run: undefined }), {
    type: "run.lost",
    by: "pawl",
    from: phase,
    to: phase,
    reason: `the pawl that drove run ${lost.number} ended without finishing it`,
  });
}

export function recordRefusal(context: TaskContext, error: unknown): void {
  const { kind, message } = error as { kind?: string; message?: string };
  if (kind === undefined) return;
  record(context, { kind: "refusal", text: message ?? "", data: { kind } });
}
