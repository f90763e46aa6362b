/** `notify` in pawl.json: somebody is told when a task waits for a human, ends, or is halted. */
import { run } from "../process/run.js";
import { record, type TaskContext } from "./context.js";
import { phaseOf } from "./suggest.js";
import type { Step } from "./transition.js";

const PATIENCE_MS = 30_000;

/** Telling is a courtesy: that it went wrong is noted, and changes nothing for the task. */
export async function notify(context: TaskContext, step: Step): Promise<void> {
  const kind = occasionOf(context, step);
  if (kind === null) return;
  const { notify: command } = await context.config();
  if (command === undefined) return;
  const { from, to, reason, waiting, event } = step;
  const message = {
    event: kind,
    task: context.id,
    workflow: context.workflow.name,
    from,
    to,
    reason,
    waiting,
    at: event.at,
    dir: context.dir,
  };
  const settings = await context.settings();
  const result = await run(command, {
    cwd: context.workspace.root,
    env: settings.env,
    input: `${JSON.stringify(message)}\n`,
    timeoutMs: PATIENCE_MS,
  });
  if (result.outcome === "exited" && result.exitCode === 0) return;
  const how = `${result.outcome}, exit code ${result.exitCode ?? "none"}`;
  const problem = `notify (${command.join(" ")}) went wrong (${how}): ${result.error ?? result.stderr.trim().slice(0, 200)}`;
  record(context, { kind: "note", text: problem });
  context.progress(`${problem}\n`);
}

/** `waiting`: the table stopped it. `human`: it stands in a human's phase. `ended`: nothing follows. */
function occasionOf(context: TaskContext, step: Step): "waiting" | "human" | "ended" | null {
  if (step.waiting !== null) return "waiting";
  if (step.from === step.to) return null;
  const { kind } = phaseOf(context.workflow, step.to).who;
  if (kind === "human") return "human";
  return kind === "nobody" ? "ended" : null;
}
