/** An agent has ended: what it left decides what follows, by the same table as everything else. */
import { removeSocket } from "../../agents/session/socket-path.js";
import { endOrphan } from "../../agents/orphan.js";
import { runPath } from "../../task/archive.js";
import { agentMarks, withAgents, type AgentMark } from "../../task/agent-mark.js";
import { actorOf, withActor, type TaskState } from "../../task/state.js";
import type { OpenTask } from "../../task/store.js";
import { decide } from "../../workflow/decide.js";
import { EXIT, worksByItself } from "../../workflow/exits.js";
import type { ArtifactStatus, Event, Phase } from "../../workflow/types.js";
import type { TaskContext } from "../context.js";
import { lookAt } from "../look.js";
import { readEnd } from "../read-end.js";
import { phaseOf } from "../suggest.js";
import { carryOut, type Step } from "../transition.js";
import { changedRules } from "./changed-rules.js";
import { waitBecause } from "./wait-because.js";

/** An agent that has its starter killed each time would otherwise go on for ever. */
const MOST_LOST = 3;

/** Only for one that is confirmed to be gone. */
export async function endOf(context: TaskContext, task: OpenTask, mark: AgentMark): Promise<Step | null> {
  // Its host may have been killed, and what it started may go on without it.
  endOrphan(mark.token);
  removeSocket(mark.socket);
  let base = withoutAgent(task.state, mark);
  const phase = phaseOf(context.workflow, base.phase);
  const findings = changedRules(context, base);
  if (findings.length > 0 && base.waiting === null) {
    await letGo(context, task, mark, base);
    const what = findings.map(({ message }) => message).join("; ");
    await waitBecause(context, task, what, { type: "run.disturbed", findings });
    return null;
  }
  const isItsTurn = phase.who.kind === "agent" && phase.who.role === mark.role && mark.dismissed !== true;
  if (!isItsTurn || !worksByItself(context.workflow, phase.name)) return letGo(context, task, mark, base);
  const look = await lookAt(context, { state: base, origin: "stored" });
  const due = dueOf(context, phase, look.evidence.artifacts);
  const unfit = due.filter(({ condition }) => condition !== "ok");
  const { failures } = actorOf(base, phase.name);
  if (mark.agent === undefined && unfit.length > 0 && failures < MOST_LOST) return startAgain(task, mark, base);
  const reason = reasonOf(due, unfit);
  const how = readEnd(context, mark)?.summary;
  const lastFailure = how === undefined ? reason : `${reason} (${how})`;
  if (unfit.length > 0) base = withActor(base, phase.name, { status: "failed", lastFailure });
  const event: Event = { name: EXIT, by: { kind: "pawl" }, payload: { left: unfit.length === 0, reason } };
  const decision = decide(context.workflow, look.evidence, event);
  if (decision.kind === "refusal") return letGo(context, task, mark, base);
  return carryOut(context, task, decision, event, look.evidence, { base, data: endData(context, mark) });
}

function withoutAgent(state: TaskState, mark: AgentMark): TaskState {
  const left = agentMarks(state.fields).filter(({ token }) => token !== mark.token);
  const actor = actorOf(state, mark.phase);
  const status = left.length === 0 && actor.status === "running" ? ("idle" as const) : actor.status;
  const base = withActor(state, mark.phase, { status, attempts: actor.attempts + 1 });
  return { ...base, fields: withAgents(base.fields, left) };
}

/** It has no part in what follows. */
async function letGo(context: TaskContext, task: OpenTask, mark: AgentMark, base: TaskState): Promise<null> {
  const place = { from: base.phase, to: base.phase };
  await task.commit(base, { type: "agent.ended", by: "pawl", ...place, data: endData(context, mark) });
  return null;
}

/** The pawl that was starting it died: nobody knows of an agent that ever began, so that none has crashed. */
async function startAgain(task: OpenTask, mark: AgentMark, base: TaskState): Promise<null> {
  const { failures } = actorOf(base, base.phase);
  const fields = { ...base.fields, due: base.phase };
  const place = { from: base.phase, to: base.phase };
  const reason = "the pawl that was starting it ended on the way";
  const data = { run: mark.number, role: mark.role };
  const counted = withActor({ ...base, fields }, base.phase, { failures: failures + 1 });
  await task.commit(counted, { type: "agent.lost", by: "pawl", ...place, reason, data });
  return null;
}

/** What the agent itself has to leave, as it stands now. */
function dueOf({ workflow }: TaskContext, { leaves }: Phase, known: Record<string, ArtifactStatus>): Due[] {
  return workflow.artifacts.flatMap(({ name, file, section, madeBy }) => {
    const status = known[name];
    const title = section === undefined ? file : `## ${section}`;
    return madeBy.kind === "agent" && leaves.includes(name) && status !== undefined ? [{ ...status, title }] : [];
  });
}

/** As people call it. */
type Due = ArtifactStatus & { title: string };

function reasonOf(due: Due[], unfit: Due[]): string {
  const [first] = unfit;
  if (first === undefined) return `process exited, with ${due.map(({ title }) => title).join(" and ")}`;
  if (first.condition === "missing") return `process exited without ${first.title}`;
  return `process exited without a valid ${first.title}: ${first.findings[0]?.message ?? first.condition}`;
}

function endData(context: TaskContext, mark: AgentMark): Record<string, unknown> {
  const { role, phase, number } = mark;
  const how = readEnd(context, mark);
  const log = `${runPath(phase, number)}/output.log`;
  return { run: number, role, log, how: how?.summary ?? "nobody saw how it ended" };
}
