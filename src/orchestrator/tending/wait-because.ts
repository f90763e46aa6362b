/** A task that runs by itself is stopped until a human has looked at it, whatever the table says of the evidence. */
import type { OpenTask } from "../../task/store.js";
import type { Finding } from "../../errors.js";
import type { TaskContext } from "../context.js";

export async function waitBecause(
  context: TaskContext,
  task: OpenTask,
  reason: string,
  { type = "agent.refused", findings = [] }: { type?: string; findings?: Finding[] } = {},
): Promise<void> {
  const { state } = task;
  const place = { from: state.phase, to: state.phase, reason };
  const waiting = { reason, since: context.now().toISOString() };
  const data = findings.length === 0 ? {} : { data: { findings } };
  const event = await task.commit({ ...state, waiting }, { type, by: "pawl", ...place, ...data });
  context.notices.push({ ...place, notes: [], event, waiting: reason });
}
