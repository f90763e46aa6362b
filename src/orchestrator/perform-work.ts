/** The work itself, while the task is not locked: the agent first, then what pawl makes from what it left. Writes no state. */
import { makers } from "../actions/registry.js";
import type { Made } from "../actions/types.js";
import { messageOf, PawlError } from "../errors.js";
import { runPath } from "../task/archive.js";
import type { TaskState } from "../task/state.js";
import type { Artifact, Phase } from "../workflow/types.js";
import type { TaskContext } from "./context.js";
import type { Failure } from "./failure.js";
import { evidenceFor, makerContext } from "./look.js";
import { lastAccepted, type WorkPlan } from "./plan-work.js";

export interface WorkRun {
  state: TaskState;
  phase: Phase;
  /** The number of the run, and of the attempt that it is. */
  number: number;
  attempt: number;
  /** Absolute: where its records go. */
  folder: string;
  /** Whose work it is. */
  by: string;
}

export interface WorkOutcome {
  made: { artifact: Artifact; made: Made }[];
  failure?: Failure;
  interrupted?: boolean;
}

export async function performWork(context: TaskContext, plan: WorkPlan, run: WorkRun): Promise<WorkOutcome> {
  const { state, phase, number, folder } = run;
  const outcome: WorkOutcome = { made: [] };
  try {
    if (plan.agent !== null) {
      const failure = await plan.agent({ ...run, token: plan.token });
      if (failure === "interrupted") return { made: [], interrupted: true };
      if (failure !== null) return { made: [], failure };
    }
    for (const artifact of plan.makers) {
      if (artifact.madeBy.kind !== "orchestrator") continue;
      const maker = await makers.get(artifact.madeBy.action)?.load();
      if (maker === undefined) continue; // Made by an action of a transition.
      const statuses = await evidenceFor(context, state, [...artifact.judges, ...(maker.looksAt ?? [])]);
      const given = await makerContext(context, state, statuses);
      const made = await maker.make({
        ...given,
        accepted: lastAccepted(context, state, artifact),
        runDir: folder,
        runPath: runPath(phase.name, number),
      });
      outcome.made.push({ artifact, made });
    }
  } catch (error) {
    if (error instanceof PawlError && error.kind === "interrupted") return { made: [], interrupted: true };
    const findings = error instanceof PawlError ? error.findings : [];
    const hint = error instanceof PawlError && error.hint !== undefined ? ` (${error.hint})` : "";
    return { made: [], failure: { kind: "check", summary: `${messageOf(error)}${hint}`, findings } };
  }
  return outcome;
}
