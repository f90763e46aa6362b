/** Agents that have done their part: they are told to end, and, where a task is over, waited for. */
import { connectSession } from "../../agents/session/connect.js";
import { endOrphan } from "../../agents/orphan.js";
import { failed } from "../../errors.js";
import { livenessOf } from "../../process/identity.js";
import { agentMarks, dismissed, withAgents, type AgentMark } from "../../task/agent-mark.js";
import type { OpenTask } from "../../task/store.js";
import type { TaskContext } from "../context.js";
import { setTimeout as pause } from "node:timers/promises";

/** To say the last words in; an agent for people never ends by itself. */
const GRACE_MS = 5_000;
const PATIENCE_MS = 10_000;
const LOOK_MS = 20;

/** May be told again: the first word counts. Its host ends it when the time is over. */
export async function tellDismissed(fields: Readonly<Record<string, unknown>>): Promise<void> {
  for (const mark of agentMarks(fields)) {
    if (mark.dismissed !== true || livenessOf(mark.host) === "gone") continue;
    const session = await connectSession(mark.socket);
    session?.dismiss(GRACE_MS);
    session?.close();
    // Whoever takes its host's socket away is not waited for.
    if (session === null) endHost(mark);
  }
}

/** Its host ends its agent, and then itself. It is known to be the one: its start time is that on record. */
function endHost({ host }: AgentMark): void {
  if (livenessOf(host) !== "alive") return;
  try {
    process.kill(host.pid, "SIGTERM");
  } catch {
    // It has ended in this moment.
  }
}

/** All that are at work, at once: whatever comes of it is no crash of theirs, which is on record first. */
export async function endAgents(context: TaskContext, task: OpenTask): Promise<void> {
  const { state } = task;
  const marks = agentMarks(state.fields);
  if (marks.length === 0) return;
  if (marks.some((mark) => mark.dismissed !== true)) {
    const fields = withAgents(state.fields, dismissed(marks));
    const place = { from: state.phase, to: state.phase };
    const agents = marks.map(({ role, phase, number }) => ({ role, phase, run: number }));
    await task.commit({ ...state, fields }, { type: "agent.dismissed", by: "pawl", ...place, data: { agents } });
  }
  for (const mark of marks) await endNow(context, mark);
}

async function endNow({ id }: TaskContext, mark: AgentMark): Promise<void> {
  const session = await connectSession(mark.socket);
  session?.end();
  // Where its host cannot be reached, whatever holds its token is.
  if (session === null) {
    endHost(mark);
    endOrphan(mark.token);
  }
  const deadline = performance.now() + PATIENCE_MS;
  while (livenessOf(mark.host) !== "gone") {
    if (performance.now() > deadline)
      throw failed(
        `the agent in the role ${mark.role} of ${id} cannot be ended: its host is process ${mark.host.pid}`,
        {
          hint: "end that process, and try again",
        },
      );
    await pause(LOOK_MS);
  }
  session?.close();
}
