/** All tasks at a glance, looked after on the way: one round of the monitor. */
import { existsSync } from "node:fs";
import { gitRecord } from "../../actions/git-record.js";
import { openRepository } from "../../actions/repository.js";
import { inspectWorktree } from "../../actions/worktrees.js";
import { messageOf } from "../../errors.js";
import { actorOf, type TaskState } from "../../task/state.js";
import { loadTask } from "../../task/store.js";
import { countersOf } from "../../workflow/counters.js";
import { listTaskIds, resolveTask } from "../../workspace/workspace.js";
import { openContext, type Engine, type TaskContext } from "../context.js";
import { phaseOf } from "../suggest.js";
import { agentView, type AgentView } from "./agent-view.js";
import { lookAfter } from "./look-after.js";

export interface BoardRow {
  task: string;
  title: string;
  workflow: string;
  /** "?" where the state cannot be trusted. */
  phase: string;
  /** Whoever's turn it is: agent, human, orchestrator, or nobody any more. */
  turn: string;
  round: number;
  agent: AgentView | null;
  /** The last output of its agent, or the last event. */
  lastActivity: string | null;
  /** Files of the worktree that differ from where the task began; null without a worktree. */
  changes: number | null;
  waiting: string | null;
  /** Why the state cannot be trusted. */
  problem: string | null;
}

/** Counting asks git: what was counted at the same activity is not counted again. */
export type Counted = Map<string, { at: string | null; changes: number | null }>;

export async function board(
  engine: Engine,
  named: string | undefined,
  counted: Counted = new Map(),
): Promise<BoardRow[]> {
  const ids = named === undefined ? listTaskIds(engine.workspace) : [resolveTask(engine.workspace, named)];
  const rows: BoardRow[] = [];
  for (const id of ids) {
    if (engine.signal?.aborted === true) break;
    rows.push(await rowOf(engine, id, counted));
  }
  return rows;
}

async function rowOf(engine: Engine, id: string, counted: Counted): Promise<BoardRow> {
  try {
    const context = await openContext(engine, id);
    await lookAfter(context);
    return await describe(context, counted);
  } catch (error) {
    const nothing = { round: 0, agent: null, lastActivity: null, changes: null, waiting: null };
    return { task: id, title: "", workflow: "", phase: "?", turn: "", ...nothing, problem: messageOf(error) };
  }
}

async function describe(context: TaskContext, counted: Counted): Promise<BoardRow> {
  const { state } = loadTask(context.dir, context.workflow);
  const agent = await agentView(context, state);
  const lastActivity = latest(agent?.lastOutput, state.lastEvent?.at);
  const { title } = state.fields;
  return {
    task: context.id,
    title: typeof title === "string" ? title : "",
    workflow: context.workflow.name,
    phase: state.phase,
    turn: phaseOf(context.workflow, state.phase).who.kind,
    round: roundOf(context, state),
    agent,
    lastActivity,
    changes: await changesIn(context, state, lastActivity, counted),
    waiting: state.waiting?.reason ?? null,
    problem: null,
  };
}

const ROUND = "review_round";

/** Of reviews, where the document counts them; elsewhere how often the phase was entered. */
function roundOf({ workflow }: TaskContext, state: TaskState): number {
  return countersOf(workflow).includes(ROUND) ? (state.counters[ROUND] ?? 0) : actorOf(state, state.phase).visits;
}

function latest(...times: (string | null | undefined)[]): string | null {
  return (
    times
      .filter((time) => typeof time === "string")
      .sort()
      .at(-1) ?? null
  );
}

async function changesIn(
  context: TaskContext,
  { fields }: TaskState,
  at: string | null,
  counted: Counted,
): Promise<number | null> {
  const { start, worktree } = gitRecord(fields);
  if (start === undefined || worktree === undefined || !existsSync(worktree)) return null;
  const before = counted.get(context.id);
  if (before !== undefined && before.at === at) return before.changes;
  const changes = await countChanges(context, worktree, start);
  counted.set(context.id, { at, changes });
  return changes;
}

async function countChanges(context: TaskContext, path: string, start: string): Promise<number | null> {
  try {
    const repository = await openRepository(await context.settings(), context.signal);
    const worktree = await inspectWorktree(repository, path);
    if (worktree.kind !== "ours") return null;
    const list = async (args: string[]): Promise<string[]> => (await worktree.git(args)).stdout.split("\0");
    const changed = await list(["diff", "--name-only", "--no-ext-diff", "-z", start]);
    const added = await list(["ls-files", "--others", "--exclude-standard", "-z"]);
    return new Set([...changed, ...added].filter((name) => name !== "")).size;
  } catch {
    return null; // A look must not fail because of what an agent is doing to its worktree.
  }
}
