/** Where the agent of a task can be reached. */
import { refused } from "../../errors.js";
import { livenessOf } from "../../process/identity.js";
import { agentAtWork, agentMarks } from "../../task/agent-mark.js";
import { loadTask } from "../../task/store.js";
import type { TaskContext } from "../context.js";
import { lookAfter } from "./look-after.js";

export interface SessionPlace {
  socket: string;
  role: string;
  phase: string;
}

/** Null where nobody is at work by himself. */
export async function sessionOf(context: TaskContext): Promise<SessionPlace | null> {
  await lookAfter(context);
  const { fields } = loadTask(context.dir, context.workflow).state;
  const mark = agentAtWork(fields) ?? agentMarks(fields)[0];
  if (mark === undefined || livenessOf(mark.host) === "gone") return null;
  const { socket, role, phase } = mark;
  return { socket, role, phase };
}

export async function requireSession(context: TaskContext): Promise<SessionPlace> {
  const place = await sessionOf(context);
  if (place !== null) return place;
  const { phase } = loadTask(context.dir, context.workflow).state;
  throw refused(`no agent is at work on ${context.id}, which is in ${phase}`, {
    hint: `pawl log ${context.id} shows what the last one printed; pawl run ${phase} ${context.id} starts one`,
  });
}
