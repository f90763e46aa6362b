/**
 * Work of pawl's own that takes its time, such as a test run. The task is not locked meanwhile; a mark in the state keeps a
 * second pawl from doing the same, and tells the next one of a pawl that died.
 */
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { currentProcess } from "../process/identity.js";
import { runPath } from "../task/archive.js";
import { actorOf, withActor, type TaskState } from "../task/state.js";
import { openTask } from "../task/store.js";
import type { TaskContext } from "./context.js";
import { inTaskDirectory } from "./artifacts.js";
import type { Session } from "./session.js";

export interface LongWork {
  number: number;
  /** Absolute, and relative to the task directory. */
  folder: string;
  path: string;
  token: string;
}

/** The mark is still in the state when this returns: the transition that follows takes it out (`withoutRun`). */
export async function duringWork<T>(
  context: TaskContext,
  session: Session,
  work: (run: LongWork) => Promise<T>,
): Promise<T> {
  const { phase } = session.task.state;
  const number = actorOf(session.task.state, phase).runs + 1;
  const path = runPath(phase, number);
  const folder = inTaskDirectory(context, path);
  const token = randomBytes(24).toString("base64url");
  await session.task.begin(context.user);
  const { state } = session.task;
  const run = {
    number,
    owner: currentProcess(),
    since: context.now().toISOString(),
    token: createHash("sha256").update(token).digest("hex"),
  };
  const marked = withActor(state, phase, {
    status: "running",
    runs: number,
    tried: actorOf(state, phase).tried + 1,
    run,
  });
  const data = { run: number, owner: run.owner };
  await session.task.commit(marked, { type: "run.started", by: "pawl", from: phase, to: phase, data });
  mkdirSync(folder, { recursive: true });
  session.task.close();
  try {
    return await work({ number, folder, path: join(path), token });
  } finally {
    session.task = await openTask(context.dir, context.workflow, context.now, context.workspace.env);
  }
}

/** The state as it is once the work is done. */
export function withoutRun(state: TaskState): TaskState {
  const actor = actorOf(state, state.phase);
  if (actor.run === undefined) return state;
  return withActor(state, state.phase, { status: "idle", attempts: actor.attempts + 1, run: undefined });
}

/** What was done led nowhere: the mark goes, and nothing else changes. */
export async function dropRun(session: Session, reason: string): Promise<void> {
  const { state } = session.task;
  if (actorOf(state, state.phase).run === undefined) return;
  const place = { from: state.phase, to: state.phase };
  await session.task.commit(withoutRun(state), { type: "run.finished", by: "pawl", ...place, reason });
}
