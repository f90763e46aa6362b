/** What there is to choose from: the tasks, and the phases and answers of the current task's workflow. */
import { openContext, type Engine, type TaskContext } from "../../orchestrator/context.js";
import { listSpecs } from "../../orchestrator/spec.js";
import { loadTask } from "../../task/store.js";
import { questionOf } from "../../orchestrator/human.js";
import { answerChoices } from "../../workflow/choices.js";
import type { Workflow } from "../../workflow/types.js";
import { listTaskIds } from "../../workspace/workspace.js";
import type { Offers } from "./complete.js";

/** Whatever cannot be read is not offered; why it cannot is said by the command that needs it. */
export async function readOffers(engine: Engine, task: string | undefined): Promise<Offers> {
  const tasks = orNone(() => listTaskIds(engine.workspace));
  const workflows = orNone(() => listSpecs(engine).map(({ name }) => name));
  const context = task === undefined ? null : await openContext(engine, task).catch(() => null);
  if (context === null) return { tasks, workflows, phases: [], choices: [] };
  const phases = context.workflow.phases.map(({ name }) => name);
  return { tasks, workflows, phases, choices: orNone(() => choicesOf(context)) };
}

export async function phaseOfTask(engine: Engine, task: string): Promise<string> {
  try {
    const context = await openContext(engine, task);
    return loadTask(context.dir, context.workflow).state.phase;
  } catch {
    return "?";
  }
}

/** Where an answer can lead to; more than one place means that `--to` has to say which. */
export async function targetsOf(engine: Engine, task: string, choice: string): Promise<string[]> {
  const { workflow, dir } = await openContext(engine, task);
  return answerTargets(workflow, loadTask(dir, workflow).state.phase, choice);
}

export function answerTargets(workflow: Workflow, phase: string, choice: string): string[] {
  const rows = workflow.transitions.filter((row) =>
    answerChoices({ ...workflow, transitions: [row] }, phase).includes(choice),
  );
  return [...new Set(rows.map(({ to }) => to))];
}

function choicesOf(context: TaskContext): string[] {
  return questionOf(context, loadTask(context.dir, context.workflow).state.phase).choices;
}

function orNone(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}
