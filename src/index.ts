/**
 * pawl as a library: the same use cases as the command line, for scripts that embed it.
 *
 * ```ts
 * import { openPawl } from "pawl";
 * const pawl = openPawl({ directory: "/path/to/workspace" });
 * const { currentPhase, suggestedNext, reason } = await pawl.suggestNextFromState("my-task");
 * await pawl.advance("my-task");
 * ```
 *
 * Everything that goes wrong is a `PawlError` with `kind`, `hint` and `findings`.
 */
import { userInfo } from "node:os";
import { resolve } from "node:path";
import { advance, advanceToEnd, type AutoResult } from "./orchestrator/advance.js";
import { openContext, type Engine } from "./orchestrator/context.js";
import { answer, override, redo, resume } from "./orchestrator/human.js";
import { newTask, type MadeTask, type NewTask } from "./orchestrator/new-task.js";
import { runPhase, type PhaseRun } from "./orchestrator/run-phase.js";
import { checkSpec, type CheckedWorkflow } from "./orchestrator/spec.js";
import { historyOf, statusOf, type Status } from "./orchestrator/status.js";
import { suggest, type Suggestion } from "./orchestrator/suggest.js";
import { listTasks, type TaskSummary } from "./orchestrator/tasks.js";
import type { BoardRow } from "./orchestrator/tending/board.js";
import type { Step } from "./orchestrator/transition.js";
import { update, type Update } from "./orchestrator/update.js";
import { adopt, verify, type Verification } from "./orchestrator/verify.js";
import type { HistoryEvent } from "./task/history.js";
import { readTranscript, type TranscriptEntry } from "./task/transcript.js";
import { findWorkspace } from "./workspace/workspace.js";

export { PawlError, exitCode, type ErrorKind, type Finding } from "./errors.js";
export type { AutoResult } from "./orchestrator/advance.js";
export type { MadeTask, NewTask } from "./orchestrator/new-task.js";
export type { CheckedWorkflow } from "./orchestrator/spec.js";
export type { BoardRow } from "./orchestrator/tending/board.js";
export type { Update } from "./orchestrator/update.js";
export type { PhaseRun } from "./orchestrator/run-phase.js";
export type { Status } from "./orchestrator/status.js";
export type { SuggestedAction, Suggestion } from "./orchestrator/suggest.js";
export type { TaskSummary } from "./orchestrator/tasks.js";
export type { Step } from "./orchestrator/transition.js";
export type { Verification } from "./orchestrator/verify.js";
export type { HistoryEvent } from "./task/history.js";
export type { TranscriptEntry } from "./task/transcript.js";
export type { Blocker, Way } from "./workflow/types.js";

export interface PawlOptions {
  /** The workspace: the directory with `tasks/` and `pawl.json`; relative to the current directory, or absolute. */
  directory: string;
  /** Whose name goes into the records; the system user's by default. */
  user?: string;
  /** Environment for agents, git and the project's commands; this process's by default. */
  env?: Record<string, string | undefined>;
  /** Live output of long work. */
  onProgress?: (text: string) => void;
  /** Ends running work when aborted; the task can go on from there. */
  signal?: AbortSignal;
  now?: () => Date;
}

/** The use cases on one workspace. A task is named by its id. */
export interface Pawl {
  newTask(request: NewTask): Promise<MadeTask>;
  tasks(): Promise<TaskSummary[]>;
  /** What `advance` would do, and why; changes nothing. */
  suggestNextFromState(task: string): Promise<Suggestion>;
  /** One step: the phase's work where it is not done, then the transition that the evidence opens. */
  advance(task: string): Promise<Step>;
  /** Steps until the end, a human's phase, or `maxSteps` (100). */
  advanceToEnd(task: string, options?: { maxSteps?: number; onStep?: (step: Step) => void }): Promise<AutoResult>;
  run(task: string, phase: string): Promise<PhaseRun>;
  redo(task: string, request: { to: string; reason: string }): Promise<Step>;
  override(task: string, request: { to?: string; reason: string }): Promise<Step>;
  answer(task: string, request: { choice: string; note?: string; to?: string }): Promise<Step>;
  resume(task: string, request: { note: string }): Promise<Step>;
  /** Asks for a status, in a workflow in which agents and humans do. */
  update(task: string, request: Update): Promise<Step>;
  /** One round of the monitor: agents that have ended are noticed, and what follows is done. */
  watch(): Promise<BoardRow[]>;
  status(task: string): Promise<Status>;
  history(task: string): Promise<HistoryEvent[]>;
  /** What was said and run, secrets masked. */
  transcript(task: string): Promise<TranscriptEntry[]>;
  verify(task: string): Promise<Verification>;
  /** Takes over a state file that disagrees with its history. */
  adopt(task: string, reason: string): Promise<Verification>;
  checkSpec(workflow: string): Promise<CheckedWorkflow>;
}

export function openPawl(options: PawlOptions): Pawl {
  const env = options.env ?? process.env;
  const directory = resolve(options.directory);
  const engine: Engine = {
    workspace: findWorkspace(directory, env, directory),
    user: options.user ?? userInfo().username,
    now: options.now ?? (() => new Date()),
    progress: options.onProgress ?? (() => undefined),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  const open = (task: string): ReturnType<typeof openContext> => openContext(engine, task);
  return {
    newTask: (request) => newTask(engine, request),
    tasks: () => listTasks(engine),
    suggestNextFromState: async (task) => suggest(await open(task)),
    advance: async (task) => advance(await open(task)),
    advanceToEnd: async (task, { maxSteps = 100, ...rest } = {}) =>
      advanceToEnd(await open(task), { maxSteps, ...rest }),
    run: async (task, phase) => runPhase(await open(task), phase),
    redo: async (task, request) => redo(await open(task), request),
    override: async (task, request) => override(await open(task), request),
    answer: async (task, request) => answer(await open(task), request),
    update: async (task, request) => update(await open(task), request),
    watch: async () => (await import("./orchestrator/tending/board.js")).board(engine, undefined),
    resume: async (task, request) => resume(await open(task), request),
    status: async (task) => statusOf(await open(task)),
    history: async (task) => historyOf(await open(task)),
    transcript: async (task) => readTranscript((await open(task)).dir),
    verify: async (task) => verify(await open(task)),
    adopt: async (task, reason) => adopt(await open(task), reason),
    checkSpec: (workflow) => checkSpec(engine, workflow),
  };
}

/** The suggestion for one task of a workspace, without more ado. */
export function suggestNextFromState(directory: string, task: string): Promise<Suggestion> {
  return openPawl({ directory }).suggestNextFromState(task);
}
