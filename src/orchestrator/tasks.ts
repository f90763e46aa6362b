/** All tasks of a workspace, at a glance: one small read each, however many there are. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../errors.js";
import { listTaskIds, taskDirectory } from "../workspace/workspace.js";
import type { Engine } from "./context.js";

export interface TaskSummary {
  id: string;
  title: string;
  workflow: string;
  /** "?" where the state cannot be read. */
  phase: string;
  status: string;
  waiting: string | null;
  overrides: number;
}

export async function listTasks(engine: Engine): Promise<TaskSummary[]> {
  const summaries: TaskSummary[] = [];
  for (const id of listTaskIds(engine.workspace))
    summaries.push(await summarize(taskDirectory(engine.workspace, id), id));
  return summaries;
}

interface StateGlance {
  phase?: string;
  status?: string;
  title?: string;
  workflow?: { name?: string };
  waiting?: { reason?: string } | null;
  actors?: Record<string, { status?: string }>;
  overrides?: unknown[];
}

async function summarize(directory: string, id: string): Promise<TaskSummary> {
  const state = glance(join(directory, "state.json"));
  if (state === "unreadable")
    return {
      id,
      title: "",
      workflow: "",
      phase: "?",
      status: "state.json cannot be read: pawl verify",
      waiting: null,
      overrides: 0,
    };
  const phase = state?.phase ?? "";
  const title = state?.title ?? (await titleOf(directory));
  return {
    id,
    title,
    workflow: state?.workflow?.name ?? "",
    phase: phase === "" ? "(not begun)" : phase,
    status: state?.actors?.[phase]?.status ?? "idle",
    waiting: state?.waiting?.reason ?? null,
    overrides: state?.overrides?.length ?? 0,
  };
}

function glance(file: string): StateGlance | "unreadable" | null {
  try {
    const state = JSON.parse(readFileSync(file, "utf8")) as StateGlance | null;
    return typeof state === "object" && state !== null ? state : "unreadable";
  } catch (error) {
    return codeOf(error) === "ENOENT" ? null : "unreadable";
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
