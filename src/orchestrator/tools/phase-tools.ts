/** The same tools for a task of any other workflow: the briefing of its phase, and the check of what the agent left. */
import { halted, PawlError, refused } from "../../errors.js";
import { actorOf } from "../../task/state.js";
import { UPDATE } from "../../workflow/exits.js";
import type { Phase } from "../../workflow/types.js";
import { advance } from "../advance.js";
import { promptFor } from "../agent-for.js";
import type { TaskContext } from "../context.js";
import { ensureWorktree } from "../plan-work.js";
import { inSession, lookReady } from "../session.js";
import { phaseOf } from "../suggest.js";
import { askQuestion } from "./ask-question.js";
import { ASK_TOOL, type ToolName } from "./definitions.js";
import type { Step } from "../transition.js";
import type { ToolAnswer } from "./types.js";

const SUBMIT = 'call `submit_work` with {"summary": "…"}';

export async function callForPhase(context: TaskContext, name: ToolName, input: unknown): Promise<ToolAnswer> {
  if (name === "get_task") return briefPhase(context);
  if (name === "submit_work") return submitPhase(context);
  if (name === ASK_TOOL) return askQuestion(context, input);
  throw refused(`${name} is locked: the workflow ${context.workflow.name} knows no such event`, {
    hint: "call get_task, and go on as it says",
  });
}

function briefPhase(context: TaskContext): Promise<ToolAnswer> {
  return inSession(context, async ({ task }) => {
    await lookReady(context, task);
    const phase = phaseOf(context.workflow, task.state.phase);
    const answer = (text: string): ToolAnswer => ({
      text,
      isError: false,
      exitCode: 0,
      json: { task: context.id, phase: phase.name, briefing: text },
    });
    switch (phase.who.kind) {
      case "human":
        throw humansTurn(context, phase);
      case "nobody":
        return answer(`${context.id} is at its end: ${phase.name}.\n\nNext: stop, there is nothing left to do.`);
      case "orchestrator":
        return answer(`${phase.name}: pawl itself does this (${phase.purpose}).\n\nNext: ${SUBMIT}; it is done then.`);
      case "agent": {
        await ensureWorktree(context, task, phase);
        const attempt = actorOf(task.state, phase.name).attempts + 1;
        const prompt = await promptFor(context, task.state, phase, attempt);
        const settings = await context.settings();
        const where = settings.repo === null ? context.dir : settings.worktree;
        return answer(`${prompt.trimEnd()}\n\nWork in ${where}.\n\nNext: do this, then ${SUBMIT}.`);
      }
    }
  });
}

/** What the agent left counts as if it had been put there by hand: nobody is started for it. */
async function submitPhase(context: TaskContext): Promise<ToolAnswer> {
  if (hasUpdates(context)) return handOver(context);
  const pulled: TaskContext = { ...context, settings: async () => ({ ...(await context.settings()), agents: {} }) };
  const step = await advance(pulled).catch((error: unknown) => {
    throw error instanceof PawlError && error.kind !== "halted" ? forTheAgent(error) : error;
  });
  const needsHuman = step.waiting !== null || phaseOf(context.workflow, step.to).who.kind === "human";
  return stepAnswer(step, needsHuman ? "Next: stop; a human is needed." : "Next: call `get_task`.");
}

function stepAnswer({ from, to, reason, notes, waiting }: Step, instruction: string): ToolAnswer {
  const output = [`${from} → ${to}: ${reason}`, ...notes].join("\n");
  const json = { status: "SUCCESS", output, instruction, from, to };
  return { text: JSON.stringify(json, null, 2), isError: false, exitCode: waiting === null ? 0 : 10, json };
}

function hasUpdates({ workflow }: TaskContext): boolean {
  return workflow.transitions.some(({ event }) => event === UPDATE);
}

/** Where agents ask for a status, what was left is handed over in the same words as from the shell. */
async function handOver(context: TaskContext): Promise<ToolAnswer> {
  const { complete } = await import("../update.js");
  return stepAnswer(await complete(context), "Next: stop; pawl goes on from here.");
}

/** The agent itself is who mends it; whom pawl could have started is none of its business. */
function forTheAgent({ kind, message, findings, data }: PawlError): PawlError {
  const [first] = findings;
  const hint = "mend what is said here, then call submit_work again";
  return new PawlError(kind, first?.message ?? message, { findings, hint, ...(data === undefined ? {} : { data }) });
}

function humansTurn(context: TaskContext, phase: Phase): Error {
  return halted(`${context.id} is in ${phase.name}, which is a human's: ${phase.purpose}`, {
    hint: "stop, and call no further tool; a human decides",
  });
}
