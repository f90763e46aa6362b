/** Waits until the agent of a phase has led the task out of it, and does meanwhile what the monitor would do. */
import { setTimeout as pause } from "node:timers/promises";
import { failed, halted, interrupted } from "../../errors.js";
import { agentMarks, dueAgent } from "../../task/agent-mark.js";
import type { HistoryEvent } from "../../task/history.js";
import { actorOf, type TaskState } from "../../task/state.js";
import { loadTask } from "../../task/store.js";
import type { TaskContext } from "../context.js";
import { historyOf } from "../status.js";
import type { Step } from "../transition.js";
import type { Awaited } from "./await-agent.js";
import { tendNow } from "./tend.js";

const LOOK_MS = 150;

export async function waitForStep(context: TaskContext, { phase, since }: Awaited): Promise<Step> {
  const { signal, id } = context;
  context.progress(
    `waiting for the agent of ${phase} (pawl attach ${id}, pawl log --follow ${id}; Ctrl-C leaves it at work)\n`,
  );
  for (;;) {
    if (signal?.aborted === true)
      throw interrupted(`no longer waiting for ${phase} of ${id}; its agent goes on`, { hint: `pawl attach ${id}` });
    await tendNow(context);
    const { state } = loadTask(context.dir, context.workflow);
    const step = state.phase === phase ? null : stepOut(context, phase, since, state);
    if (step !== null) return step;
    if (state.waiting !== null)
      throw halted(`${id} waits for a human: ${state.waiting.reason}`, { hint: `pawl resume --note "…" ${id}` });
    if (agentMarks(state.fields).length === 0 && dueAgent(state.fields) === null) throw endedInVain(context, state);
    await pause(LOOK_MS, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  }
}

function stepOut(context: TaskContext, phase: string, since: number, state: TaskState): Step | null {
  const event = historyOf(context).find(({ seq, from, to }) => seq > since && from === phase && to !== phase);
  return event === undefined ? null : stepOf(event, state);
}

function stepOf(event: HistoryEvent, { waiting }: TaskState): Step {
  const { from = "", to = "", reason = "", data } = event;
  const notes = (data?.["notes"] ?? []) as string[];
  return { from, to, reason, notes, event, waiting: waiting?.reason ?? null };
}

/** It has crashed, and the table does not start it again by itself. */
function endedInVain({ id }: TaskContext, state: TaskState): Error {
  const { phase } = state;
  const { lastFailure = "its agent ended, and nothing followed", attempts } = actorOf(state, phase);
  return failed(`${phase} failed (attempt ${attempts}): ${lastFailure}`, {
    hint: `look at \`pawl log ${id}\`; then start it again: pawl next ${id}`,
    data: { phase, attempt: attempts },
  });
}
