/** What every use case needs to know: the workspace, who asks, and, for one task, its workflow and settings. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { invalid, messageOf, PawlError, usage } from "../errors.js";
import { DEFAULT_WORKFLOW, loadWorkflow, PULL_WORKFLOW } from "../system/workflows.js";
import { validatorFor } from "../system/schemas.js";
import type { Validate } from "../task/artifact.js";
import { recordsDirectory } from "../task/paths.js";
import { readPlainFile } from "../task/plain-file.js";
import type { TaskFile } from "../task/task-file.js";
import { appendTranscript, type TranscriptEntry } from "../task/transcript.js";
import type { Workflow } from "../workflow/types.js";
import type { Config } from "../workspace/config.js";
import type { ResolvedSettings } from "../workspace/settings.js";
import type { Step } from "./transition.js";
import {
  directoryWith,
  makePrivateDirectory,
  resolveTask,
  taskDirectory,
  taskHere,
  type Workspace,
} from "../workspace/workspace.js";

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
  /** Steps that somebody may want to be told of, once the task is let go of. */
  notices: Step[];
  config(): Promise<Config>;
  settings(): Promise<ResolvedSettings>;
}

export async function openContext(engine: Engine, named?: string): Promise<TaskContext> {
  const work = await findWork(engine, named);
  if (work !== null) return work;
  const id = resolveTask(engine.workspace, named);
  const dir = taskDirectory(engine.workspace, id);
  const { root, env } = engine.workspace;
  let config: Promise<Config> | undefined;
  let settings: Promise<ResolvedSettings> | undefined;
  const loadConfig = (): Promise<Config> =>
    (config ??= import("../workspace/config.js").then(({ readConfig }) => readConfig(root, env)));
  let file: Promise<TaskFile | null> | undefined;
  // It needs a YAML parser, which most looks at a task can do without.
  const loadFile = (): Promise<TaskFile | null> =>
    (file ??= import("../task/task-file.js").then(({ readTaskFile }) => readTaskFile(dir)));
  const loadSettings = (): Promise<ResolvedSettings> =>
    (settings ??= import("../workspace/settings.js").then(async ({ resolveSettings }) =>
      resolveSettings(engine.workspace, await loadConfig(), id, await loadFile()),
    ));
  const asked = async (): Promise<string | undefined> =>
    existsSync(join(dir, "task.md")) ? (await loadFile())?.workflow : undefined;
  const recorded = recordedWorkflow(dir);
  const name = recorded ?? (await asked()) ?? (await loadConfig()).workflow ?? DEFAULT_WORKFLOW;
  const workflow = await loadRecorded(name, root, recorded);
  requireTaskWorkflow(workflow);
  return {
    ...engine,
    id,
    dir,
    workflow,
    validate: validatorFor(root),
    notices: [],
    config: loadConfig,
    settings: loadSettings,
  };
}

/** The work that goes on in this directory, or one above, where that is meant; null where a task of the workspace is. */
async function findWork(engine: Engine, named: string | undefined): Promise<TaskContext | null> {
  if ((named ?? taskHere(engine.workspace) ?? PULL_WORKFLOW) !== PULL_WORKFLOW) return null;
  const workflow = await loadWorkflow(PULL_WORKFLOW, engine.workspace.root);
  const directory = directoryWith(engine.workspace, workflow.state.file);
  return directory === undefined ? null : openWork(engine, directory, workflow);
}

/** Work in a directory: its state lies there, its records below. The directory is its own workspace. */
export function openWork(engine: Engine, directory: string, workflow: Workflow): TaskContext {
  const workspace: Workspace = { ...engine.workspace, root: directory };
  const dir = recordsDirectory(directory, workflow.name);
  const id = workflow.name;
  makePrivateDirectory(directory);
  mkdirSync(dir, { recursive: true });
  let config: Promise<Config> | undefined;
  const loadConfig = (): Promise<Config> =>
    (config ??= import("../workspace/config.js").then(({ readConfig }) => readConfig(directory, workspace.env)));
  return {
    ...engine,
    workspace,
    id,
    dir,
    workflow,
    validate: validatorFor(directory),
    notices: [],
    config: loadConfig,
    settings: async () => {
      const { resolveSettings } = await import("../workspace/settings.js");
      const repo = existsSync(join(directory, ".git")) ? directory : null;
      const resolved = resolveSettings(workspace, await loadConfig(), id, null);
      return { ...resolved, dir, repo, worktree: directory, branch: "" };
    },
  };
}

/** What is told here has happened, and the history has it too: that it could not be written down again changes nothing. */
export function record(context: TaskContext, entry: Omit<TranscriptEntry, "at" | "by"> & { by?: string }): void {
  const whole = { at: context.now().toISOString(), by: context.user, ...entry };
  try {
    appendTranscript(context.dir, whole, context.workspace.env);
  } catch (error) {
    context.progress(`the transcript cannot be written: ${messageOf(error)}\n`);
  }
}

/** Its state file would lie in a directory that is not the task's. */
export function requireTaskWorkflow({ name, state }: Pick<Workflow, "name" | "state">): void {
  if (state.at !== "work") return;
  throw usage(`${name} is no workflow for a task: it goes on in the directory that an agent works in`, {
    hint: "begin it there: pawl tool get_task",
  });
}

/** A document that is gone, or a name that somebody edited: which of the two cannot be told from here. */
async function loadRecorded(name: string, root: string, recorded: string | undefined): Promise<Workflow> {
  try {
    return await loadWorkflow(name, root);
  } catch (error) {
    if (recorded === undefined || !(error instanceof PawlError) || error.findings.length > 0) throw error;
    const place = { file: "state.json", pointer: "/workflow/name" };
    throw invalid(error.message, {
      findings: [{ message: error.message, ...place, expected: "a workflow that is there", found: name }],
      hint: `put system/workflows/${name}.md back, or correct /workflow/name in state.json`,
      cause: error,
    });
  }
}

/** The workflow that the state file names. Only a first look: whether the file can be trusted is checked when it is loaded. */
function recordedWorkflow(dir: string): string | undefined {
  try {
    const state = JSON.parse(readPlainFile(join(dir, "state.json")).toString("utf8")) as {
      workflow?: { name?: unknown };
    } | null;
    return typeof state?.workflow?.name === "string" ? state.workflow.name : undefined;
  } catch {
    return undefined;
  }
}
