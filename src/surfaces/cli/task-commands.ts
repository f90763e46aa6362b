import { usage } from "../../errors.js";
import { complete, update, type Update } from "../../orchestrator/update.js";
import type { Invocation, Report } from "./invocation.js";
import { stepReport } from "./step-commands.js";

/** The words in which an agent, or a human, asks for the next status of a task. */
export async function updateCommand(call: Invocation): Promise<Report> {
  const [named] = call.args;
  const status = call.text("status");
  const summary = call.text("summary");
  const reason = call.text("reason");
  if (status === undefined && summary === undefined)
    throw usage("nothing to update: neither a status nor a summary is given", {
      hint: 'pawl task update --status STATUS [--reason "…"], or --summary "…"',
    });
  const request: Update = {
    ...(status === undefined ? {} : { status }),
    ...(summary === undefined ? {} : { summary }),
    ...(reason === undefined ? {} : { reason }),
    ...(call.flag("deleteBranch") ? { deleteBranch: true } : {}),
  };
  const said = Object.entries(request).map(([name, value]) => `--${name} ${JSON.stringify(value)}`);
  return stepReport(call, await update(await call.task(named, `task update ${said.join(" ")}`), request));
}

export async function completeCommand(call: Invocation): Promise<Report> {
  return stepReport(call, await complete(await call.task(call.args[0], "task complete")));
}
