/** An agent that works by itself is at work, or is started now; what it comes to is waited for elsewhere, without the lock. */
import { failed, refused } from "../../errors.js";
import { agentAtWork, agentMarks, dueAgent } from "../../task/agent-mark.js";
import { noAgent } from "../agent-for.js";
import type { TaskContext } from "../context.js";
import type { Look } from "../look.js";
import { isAgent } from "../sender.js";
import type { Session } from "../session.js";
import { startAgent } from "./start-agent.js";

/** Whatever leads out of the phase after the event with this number is the step. */
export interface Awaited {
  phase: string;
  since: number;
}

export async function awaitAgent(context: TaskContext, session: Session, look: Look): Promise<Awaited> {
  const { phase } = look.state;
  if (isAgent(context))
    throw refused(`an agent does not wait for the end of its own phase (${phase})`, {
      hint: "leave what the phase asks for, then: pawl task complete",
    });
  const [other] = agentMarks(session.task.state.fields).filter(({ dismissed }) => dismissed === true);
  if (other !== undefined && dueAgent(session.task.state.fields) === null)
    throw refused(`the agent in the role ${other.role} has not ended yet, which was dismissed`, {
      hint: `wait for that: pawl watch ${context.id}`,
    });
  if (agentAtWork(session.task.state.fields) === undefined && dueAgent(session.task.state.fields) === null) {
    const start = await startAgent(context, session.task, phase);
    if (start.kind === "nobody") throw await noAgent(context, look);
    if (start.kind === "failed")
      throw failed(`the agent of ${phase} was not started: ${start.why}`, { hint: `pawl next ${context.id}` });
  }
  return { phase, since: session.task.state.lastEvent?.seq ?? 0 };
}
