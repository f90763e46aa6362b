import { basename, dirname } from "node:path";
import { usage } from "../../errors.js";
import type { Invocation, Report } from "./invocation.js";

const FAILED = 4;

export async function newCommand(call: Invocation): Promise<Report> {
  const { newTask } = await import("../../orchestrator/new-task.js");
  const [title] = call.args;
  if (title === undefined && call.text("from") === undefined)
    throw usage("a task needs a title", { hint: 'pawl new "Mend the login form"' });
  const request = Object.fromEntries(
    Object.entries({
      title,
      id: call.text("id"),
      workflow: call.text("workflow"),
      repo: call.text("repo"),
      from: call.text("from"),
    }).filter(([, value]) => value !== undefined),
  );
  const created = await newTask(call.engine, request);
  return {
    json: created,
    text: () =>
      `${call.style.green("new:")} ${call.style.bold(created.id)} (${created.workflow}), in ${created.phase}\n  ${created.dir}/${created.brief} says what is wanted\n  ${call.style.cyan("next:")} pawl next ${created.id}`,
  };
}

export async function initCommand(call: Invocation): Promise<Report> {
  const { init } = await import("../../orchestrator/init.js");
  // Here, not in a workspace above.
  const root = call.text("dir") === undefined ? call.io.cwd : call.engine.workspace.root;
  const result = await init({ ...call.engine, workspace: { ...call.engine.workspace, root } });
  return {
    json: result,
    text: () =>
      [
        ...result.created.map((name) => `${call.style.green("made:")} ${name}`),
        ...result.kept.map((name) => `${call.style.dim("kept:")} ${name}`),
        `  ${call.style.cyan("next:")} name your agents and test commands in pawl.json, then pawl new "<title>"`,
      ].join("\n"),
  };
}

export async function doctorCommand(call: Invocation): Promise<Report> {
  const { doctor } = await import("../../orchestrator/doctor.js");
  const result = await doctor(call.engine);
  const { style } = call;
  return {
    json: result,
    text: () =>
      result.checks
        .map(
          ({ name, ok, warning, found, hint }) =>
            `${!ok ? style.red("FAIL") : warning === true ? style.yellow("note") : style.green("ok  ")} ${name.padEnd(12)} ${found}${hint === undefined ? "" : `\n     ${style.cyan("next:")} ${hint}`}`,
        )
        .join("\n"),
    exitCode: result.ok ? 0 : FAILED,
  };
}

export async function recordCommand(call: Invocation): Promise<Report> {
  const { makeRehearsal } = await import("../../orchestrator/make-rehearsal.js");
  const target = call.text("to");
  if (target === undefined)
    throw usage("--to is needed: where the rehearsal goes", { hint: "pawl record --to tasks/<new id>" });
  const context = await call.task(call.args[0]);
  const rehearsal = await makeRehearsal(context, target);
  const { dir, runs, limits } = rehearsal;
  const { style } = call;
  const needed =
    Object.keys(limits).length === 0
      ? []
      : [
          `  ${style.yellow("note:")} limits of this workspace differ from the document's; the replay needs them in its pawl.json: "limits": ${JSON.stringify(limits)}`,
        ];
  return {
    json: rehearsal,
    text: () =>
      [
        `${style.green("recorded:")} ${runs.length} runs of ${context.id} in ${dir}`,
        ...needed,
        `  ${style.cyan("next:")} ${replayCommand(dir)}`,
      ].join("\n"),
  };
}

/** A task is found by its workspace, two directories above it. */
function replayCommand(dir: string): string {
  if (basename(dirname(dir)) === "tasks") return `pawl next --auto --dir ${dirname(dirname(dir))} ${basename(dir)}`;
  return `put ${dir} into tasks/ of a workspace, then pawl next --auto ${basename(dir)} there`;
}

export async function demoCommand(call: Invocation): Promise<Report> {
  const { demo } = await import("./demo.js");
  return demo(call);
}
