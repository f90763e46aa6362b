/** Who speaks: an agent is known by the token that its run was given; whoever has none is the human at the keyboard. */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { ancestorsWith } from "../process/ancestors.js";
import { agentMarks } from "../task/agent-mark.js";
import type { TaskState } from "../task/state.js";
import type { Sender } from "../workflow/types.js";
import type { TaskContext } from "./context.js";

export function senderOf(context: TaskContext, state: TaskState): Sender {
  const token = tokenOf(context);
  if (token === undefined) return { kind: "human", name: context.user };
  const hash = createHash("sha256").update(token).digest("hex");
  const mark = agentMarks(state.fields).find((each) => each.token === hash);
  // One that was dismissed has nothing to say any more.
  if (mark !== undefined) return { kind: "agent", role: mark.dismissed === true ? "dismissed" : mark.role };
  const phase = Object.keys(state.actors).find((name) => state.actors[name]?.run?.token === hash);
  const who = context.workflow.phases.find(({ name }) => name === phase)?.who;
  // A token that fits nothing (an older run's, another task's) is an agent's all the same, and of no role.
  return { kind: "agent", role: who?.kind === "agent" ? who.role : "unknown" };
}

export function isAgent(context: TaskContext): boolean {
  return tokenOf(context) !== undefined;
}

/** An agent that drops the token from its environment is still the child of a process that was given one, in this workspace. */
function tokenOf({ workspace: { env, root } }: TaskContext): string | undefined {
  if (env["PAWL_TOKEN"] !== undefined) return env["PAWL_TOKEN"];
  above ??= ancestorsWith("PAWL_TOKEN");
  // The directory may be known by several names, and an agent chooses which one it uses.
  const here = realPath(root);
  const isHere = (task: string | undefined): boolean => task === undefined || realPath(dirname(dirname(task))) === here;
  return above.find(({ PAWL_TASK_DIR: task }) => isHere(task))?.["PAWL_TOKEN"];
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Looked up once: who started this process does not change. */
let above: Record<string, string>[] | undefined;
