/** Where a task stands, and what blocks each way out of there. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { gitRecord } from "../actions/git-record.js";
import { readHistory, type HistoryEvent } from "../task/history.js";
import { readPlainFile } from "../task/plain-file.js";
import { hasAgents } from "../task/agent-mark.js";
import { actorOf, overridesOf, type Actor, type OverrideRecord, type TaskState } from "../task/state.js";
import { HISTORY_FILE, loadTask } from "../task/store.js";
import { runsByItself } from "../workflow/exits.js";
import type { ArtifactStatus } from "../workflow/types.js";
import type { TaskContext } from "./context.js";
import { lookAt } from "./look.js";
import { backgroundOf, questionIn, type Background } from "./question.js";
import { phaseOf, suggestFor, type Suggestion } from "./suggest.js";
import type { AgentView } from "./tending/agent-view.js";
import { lookAfter } from "./tending/look-after.js";

export interface Status {
  task: string;
  title: string;
  workflow: string;
  phase: string;
  actor: Actor;
  waiting: string | null;
  /** What somebody who answers should know. */
  background: Background | null;
  /** The agent that works by itself, or did. */
  agent: AgentView | null;
  origin: string;
  revision: number;
  artifacts: { name: string; file: string; condition: string; findings: ArtifactStatus["findings"] }[];
  suggestion: Suggestion;
  /** Every override of the task's life: whoever looks at it should know. */
  overrides: OverrideRecord[];
  /** The task's own, while it is there. */
  branch: string | null;
  /** What it will be merged into, or was. */
  base: string | null;
  worktree: string | null;
  lastEvent: HistoryEvent | null;
}

export async function statusOf(context: TaskContext): Promise<Status> {
  await lookAfter(context);
  const loaded = loadTask(context.dir, context.workflow);
  const look = await lookAt(context, loaded);
  const { state } = loaded;
  const git = gitRecord(state.fields);
  const worktree = git.worktree !== undefined && existsSync(git.worktree) ? git.worktree : null;
  const title = state.fields["title"];
  const question = questionIn(state.fields);
  return {
    task: context.id,
    title: typeof title === "string" ? title : (await context.settings()).title,
    workflow: context.workflow.name,
    phase: state.phase,
    actor: actorOf(state, state.phase),
    waiting: state.waiting?.reason ?? null,
    background: question === null ? null : backgroundOf(context, question, historyOf(context), lastChange(context)),
    agent: await agentOfTask(context, state),
    origin: loaded.origin,
    revision: state.revision,
    artifacts: Object.values(look.evidence.artifacts).map(({ name, file, condition, findings }) => ({
      name,
      file,
      condition,
      findings,
    })),
    suggestion: await suggestFor(context, look),
    overrides: overridesOf(state),
    branch: git.branch !== undefined && (await isBranch(context, git.branch, worktree)) ? git.branch : null,
    base: git.base ?? null,
    worktree,
    lastEvent: state.lastEvent,
  };
}

/** As it was last described, wherever the task stands now. */
function lastChange({ dir }: TaskContext): unknown {
  try {
    return JSON.parse(readPlainFile(join(dir, "code", "changes.json")).toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Only for workflows that have such agents: all that tells how one is need not be loaded for others. */
async function agentOfTask(context: TaskContext, state: TaskState): Promise<AgentView | null> {
  if (!runsByItself(context.workflow, phaseOf(context.workflow, state.phase)) && !hasAgents(state)) return null;
  const { agentView } = await import("./tending/agent-view.js");
  return agentView(context, state);
}

/** After a merge it is gone, though the state still names it. As long as it is checked out, it is there. */
async function isBranch(context: TaskContext, branch: string, worktree: string | null): Promise<boolean> {
  if (worktree !== null) return true;
  const { branchHead, openRepository } = await import("../actions/repository.js");
  try {
    return (await branchHead(await openRepository(await context.settings()), branch)) !== null;
  } catch {
    return false;
  }
}

/** With the last event, which a crash may have left in the state file alone. */
export function historyOf(context: TaskContext): HistoryEvent[] {
  const { events } = readHistory(join(context.dir, HISTORY_FILE));
  const last = lastEventOf(context);
  return last !== null && last.seq > (events.at(-1)?.seq ?? 0) ? [...events, last] : events;
}

/** Null where the state cannot be trusted: then all the more somebody wants to read the history. */
function lastEventOf(context: TaskContext): HistoryEvent | null {
  try {
    return loadTask(context.dir, context.workflow).state.lastEvent;
  } catch {
    return null;
  }
}
