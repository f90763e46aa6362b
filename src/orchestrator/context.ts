/** What every use case needs to know: the workspace, who asks, and, for one task, its workflow and settings. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_WORKFLOW, loadWorkflow } from "../system/workflows.js";
import { validatorFor } from "../system/schemas.js";
import type { Validate } from "../task/artifact.js";
import { appendTranscript, type TranscriptEntry } from "../task/transcript.js";
import type { Workflow } from "../workflow/types.js";
import type { Config } from "../workspace/config.js";
import type { ResolvedSettings } from "../workspace/settings.js";
import { resolveTask, taskDirectory, type Workspace } from "../workspace/workspace.js";

export interface Engine {
  workspace: Workspace;
  /** Name of the human at the keyboard. */
  user: string;
  now: () => Date;
  /** Live output of long work, for people. */
  progress: (text: string) => void;
  signal?: AbortSignal;
  /** Asked before an agent is run; throws when it may not be. */
  beforeRun?: () => void;
}

export interface TaskContext extends Engine {
  id: string;
  dir: string;
  workflow: Workflow;
  validate: Validate;
  config(): Promise<Config>;
  settings(): Promise<ResolvedSettings>;
}

export async function openContext(engine: Engine, named?: string): Promise<TaskContext> {
  const id = resolveTask(engine.workspace, named);
  const dir = taskDirectory(engine.workspace, id);
  const { root, env } = engine.workspace;
  let config: Promise<Config> | undefined;
  let settings: Promise<ResolvedSettings> | undefined;
  const loadConfig = (): Promise<Config> =>
    (config ??= import("../workspace/config.js").then(({ readConfig }) => readConfig(root, env)));
  // Settings need a YAML parser, which most looks at a task can do without.
  const loadSettings = (): Promise<ResolvedSettings> =>
    (settings ??= import("../workspace/settings.js").then(async ({ resolveSettings }) =>
      resolveSettings(engine.workspace, await loadConfig(), id),
    ));
  const name = recordedWorkflow(dir) ?? (await configuredWorkflow(dir, loadConfig));
  return {
    ...engine,
    id,
    dir,
    workflow: await loadWorkflow(name, root),
    validate: validatorFor(root),
    config: loadConfig,
    settings: loadSettings,
  };
}

export function record(context: TaskContext, entry: Omit<TranscriptEntry, "at" | "by"> & { by?: string }): void {
  appendTranscript(context.dir, { at: context.now().toISOString(), by: context.user, ...entry }, context.workspace.env);
}

async function configuredWorkflow(dir: string, config: () => Promise<Config>): Promise<string> {
  if (existsSync(join(dir, "task.md"))) {
    const { readTaskFile } = await import("../task/task-file.js");
    const named = readTaskFile(dir)?.workflow;
    if (named !== undefined) return named;
  }
  return (await config()).workflow ?? DEFAULT_WORKFLOW;
}

/** The workflow that the state file names. Only a first look: whether the file can be trusted is checked when it is loaded. */
function recordedWorkflow(dir: string): string | undefined {
  try {
    const state = JSON.parse(readFileSync(join(dir, "state.json"), "utf8")) as { workflow?: { name?: unknown } } | null;
    return typeof state?.workflow?.name === "string" ? state.workflow.name : undefined;
  } catch {
    return undefined;
  }
}
