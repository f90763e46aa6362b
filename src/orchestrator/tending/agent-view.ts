/** How an agent is, for people. Only that it is gone is ever acted upon, and that elsewhere. */
import { activityOf } from "../../agents/session/activity.js";
import { waitingPatterns } from "../../agents/session/waiting-patterns.js";
import { livenessOf } from "../../process/identity.js";
import { agentAtWork, agentMarks, type AgentMark } from "../../task/agent-mark.js";
import { runPath } from "../../task/archive.js";
import { actorOf, type TaskState } from "../../task/state.js";
import { runsByItself } from "../../workflow/exits.js";
import { agentOf } from "../../workspace/settings.js";
import { inTaskDirectory } from "../artifacts.js";
import type { TaskContext } from "../context.js";
import { phaseOf } from "../suggest.js";

export type AgentState = "working" | "waiting" | "stalled" | "ending" | "gone" | "unknown";

export interface AgentView {
  role: string;
  /** `waiting`: for somebody to type something. `ending`: it was dismissed. */
  state: AgentState;
  phase: string;
  run: number;
  pid: number | null;
  terminal: boolean;
  since: string | null;
  lastOutput: string | null;
  /** What it waits for, where it does. */
  prompt: string | null;
}

/** Null where nobody works in the phase by himself, or nobody has begun. */
export async function agentView(context: TaskContext, state: TaskState): Promise<AgentView | null> {
  const mark = agentAtWork(state.fields) ?? agentMarks(state.fields)[0];
  return mark === undefined ? goneView(context, state) : viewOf(context, mark);
}

async function viewOf(context: TaskContext, mark: AgentMark): Promise<AgentView> {
  const { role, phase, number, terminal, since, agent } = mark;
  const about = { role, phase, run: number, pid: agent?.pid ?? null, terminal, since };
  const use = agentOf(await context.settings(), role)?.use;
  // Patterns that somebody wrote wrongly are no reason to see nothing at all.
  const patterns = await waitingPatterns(use, context.workspace.root).catch(() => []);
  const folder = inTaskDirectory(context, runPath(phase, number));
  const activity = activityOf(folder, {
    patterns: patterns.map(({ pattern }) => pattern),
    now: context.now().getTime(),
  });
  const lastOutput = activity.lastOutput === null ? null : new Date(activity.lastOutput).toISOString();
  const liveness = livenessOf(mark.host);
  if (liveness !== "alive") return { ...about, state: liveness, lastOutput, prompt: null };
  if (mark.dismissed === true) return { ...about, state: "ending", lastOutput, prompt: null };
  return { ...about, state: activity.state, lastOutput, prompt: activity.prompt };
}

/** The last one of a phase that has nobody at work. */
function goneView({ workflow }: TaskContext, state: TaskState): AgentView | null {
  const phase = phaseOf(workflow, state.phase);
  const { runs } = actorOf(state, phase.name);
  if (!runsByItself(workflow, phase) || phase.who.kind !== "agent" || runs === 0) return null;
  const nothing = { pid: null, terminal: false, since: null, lastOutput: null, prompt: null };
  return { role: phase.who.role, state: "gone", phase: phase.name, run: runs, ...nothing };
}
