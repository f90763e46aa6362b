/** All tasks of a workspace, at a glance: their state alone, held against its history's end, however many there are. */
import { join } from "node:path";
import { messageOf } from "../errors.js";
import { DEFAULT_WORKFLOW, loadWorkflow } from "../system/workflows.js";
import { readPlainFile } from "../task/plain-file.js";
import { hasAgents } from "../task/agent-mark.js";
import { actorOf, overridesOf } from "../task/state.js";
import { loadTask, type LoadedTask } from "../task/store.js";
import type { Workflow } from "../workflow/types.js";
import { listTaskIds, taskDirectory } from "../workspace/workspace.js";
import { openContext, type Engine } from "./context.js";
import { lookAfter } from "./tending/look-after.js";

export interface TaskSummary {
  id: string;
  title: string;
  workflow: string;
  /** "?" where the state cannot be trusted. */
  phase: string;
  status: string;
  /** Why the state cannot be trusted; null where it can. */
  untrusted: string | null;
  waiting: string | null;
  overrides: number;
}

type Load = (name: string) => Promise<Workflow>;

export async function listTasks(engine: Engine): Promise<TaskSummary[]> {
  const { workspace } = engine;
  const loaded = new Map<string, Promise<Workflow>>();
  const load: Load = (name) => {
    const workflow = loaded.get(name) ?? loadWorkflow(name, workspace.root);
    loaded.set(name, workflow);
    return workflow;
  };
  const summaries: TaskSummary[] = [];
  for (const id of listTaskIds(workspace)) {
    const directory = taskDirectory(workspace, id);
    const summary = await summarize(directory, id, load);
    if (summary.hasAgents) await lookAfter(await openContext(engine, id));
    const { hasAgents: _hasAgents, ...told } = summary.hasAgents ? await summarize(directory, id, load) : summary;
    summaries.push(told);
  }
  return summaries;
}

type Summary = TaskSummary & { hasAgents: boolean };

async function summarize(directory: string, id: string, load: Load): Promise<Summary> {
  const { title, workflow } = glanceAt(join(directory, "state.json"));
  const summary = { id, title: title ?? (await titleOf(directory)), workflow: workflow ?? "" };
  try {
    // Of a task that was not begun only this is of interest, whatever its workflow.
    return { ...summary, ...describe(loadTask(directory, await load(workflow ?? DEFAULT_WORKFLOW))) };
  } catch (error) {
    const nothing = { waiting: null, overrides: 0, hasAgents: false };
    return { ...summary, phase: "?", status: "untrusted", untrusted: messageOf(error), ...nothing };
  }
}

function describe({ state, origin }: LoadedTask): Omit<Summary, "id" | "title" | "workflow"> {
  return {
    phase: origin === "fresh" ? "(not begun)" : state.phase,
    status: actorOf(state, state.phase).status,
    untrusted: null,
    waiting: state.waiting?.reason ?? null,
    overrides: overridesOf(state).length,
    hasAgents: hasAgents(state),
  };
}

/** Which workflow it is about; all else is believed only when the state has been held against that. */
function glanceAt(file: string): { title?: string | undefined; workflow?: string | undefined } {
  const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  try {
    const state = JSON.parse(readPlainFile(file).toString("utf8")) as {
      title?: unknown;
      workflow?: { name?: unknown };
    };
    return { title: textOf(state.title), workflow: textOf(state.workflow?.name) };
  } catch {
    return {};
  }
}

async function titleOf(directory: string): Promise<string> {
  const { readTaskFile } = await import("../task/task-file.js");
  try {
    return readTaskFile(directory)?.title ?? "";
  } catch {
    return "(task.md cannot be read)";
  }
}
