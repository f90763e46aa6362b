/** `demo`: the sample task goes the whole way, on a repository of its own, with no model and no network. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { advance } from "../../orchestrator/advance.js";
import { openContext, type Engine, type TaskContext } from "../../orchestrator/context.js";
import { answer } from "../../orchestrator/human.js";
import { suggest } from "../../orchestrator/suggest.js";
import type { Step } from "../../orchestrator/transition.js";
import { run } from "../../process/run.js";
import { packageRoot } from "../../system/locate.js";
import { formatStep } from "./format.js";
import type { Invocation, Report } from "./invocation.js";
import { stepJson } from "./step-commands.js";

const SAMPLE = "add-slugify";
const MAX_STEPS = 40;

export async function demo(call: Invocation): Promise<Report> {
  const workspace = mkdtempSync(join(tmpdir(), "pawl-demo-"));
  try {
    mkdirSync(join(workspace, "tasks"));
    const sample = join(packageRoot(), "tasks", SAMPLE);
    for (const part of ["task.md", "rehearsal"])
      cpSync(join(sample, part), join(workspace, "tasks", SAMPLE, part), { recursive: true });
    return await play(call, workspace);
  } finally {
    if (!call.flag("keep")) rmSync(workspace, { recursive: true, force: true });
  }
}

async function play(call: Invocation, root: string): Promise<Report> {
  const { style, io } = call;
  const say = (text: string): void => (call.json ? undefined : io.out(`${text}\n`));
  // The demo speaks for itself: what agents and tests print is in its logs.
  const engine: Engine = {
    ...call.engine,
    workspace: { root, cwd: root, env: withoutPawl(io.env) },
    progress: () => undefined,
  };
  const context = await openContext(engine, SAMPLE);
  say(
    `${style.bold("pawl demo")}: the task ${style.bold(SAMPLE)} under ${context.workflow.name}, by the rehearsal agent (no model, no network)\n`,
  );
  const steps: Step[] = [];
  const take = (step: Step): void => {
    steps.push(step);
    say(formatStep({ ...step, notes: [] }, style));
  };
  for (let count = 0; count < MAX_STEPS; count++) {
    const { action } = await suggest(context);
    if (action !== "work" && action !== "advance") break;
    take(await advance(context));
  }
  const question = await suggest(context);
  say(
    `\n${style.yellow("stops here:")} ${question.reason}\n  ${style.dim(`$ ${question.command.split(" ").slice(0, 2).join(" ")} accepted --note "does what was asked"`)}\n`,
  );
  take(await answer(context, { choice: "accepted", note: "does what was asked" }));
  const log = await mergedLog(context, io.env);
  say(`\nThe base branch of its repository now:\n${log.map((line) => `  ${line}`).join("\n")}`);
  if (call.flag("keep")) say(`\nkept: ${root}`);
  else say(`\nYours: ${style.cyan('pawl init, then pawl new "<title>", then pawl')} (the REPL)`);
  return {
    json: { task: SAMPLE, steps: steps.map(stepJson), log, ...(call.flag("keep") ? { workspace: root } : {}) },
    text: () => "",
  };
}

async function mergedLog(context: TaskContext, env: Record<string, string | undefined>): Promise<string[]> {
  const { repo } = await context.settings();
  const result = await run(["git", "log", "--oneline", "--graph", "main"], {
    cwd: repo ?? context.dir,
    env: { PATH: env["PATH"] ?? "", HOME: env["HOME"] ?? "" },
  });
  return result.stdout.trimEnd().split("\n");
}

/** Whoever starts a demo from inside a task must not have that task's settings in it. */
function withoutPawl(env: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("PAWL_")));
}
