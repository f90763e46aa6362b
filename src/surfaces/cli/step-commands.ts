import { usage } from "../../errors.js";
import { suggest } from "../../orchestrator/suggest.js";
import type { Step } from "../../orchestrator/transition.js";
import { formatStep, formatSuggestion } from "./format.js";
import { requireText, type Invocation, type Report } from "./invocation.js";

const MAX_STEPS = 100;
const HUMAN_NEEDED = 10;

export async function nextCommand(call: Invocation): Promise<Report> {
  const [named] = call.args;
  if (call.flag("dryRun")) {
    if (call.options["override"] !== undefined)
      throw usage("--dry-run and --override exclude each other", { hint: "leave one of them out" });
    const suggestion = await suggest(await call.task(named));
    return { json: suggestion, text: () => formatSuggestion(suggestion, call.style) };
  }
  if (call.options["override"] !== undefined) return overrideNext(call, named);
  if (call.options["to"] !== undefined)
    throw usage("--to goes with --override", { hint: 'pawl next --override "why" --to PHASE' });
  if (call.flag("auto")) return autoNext(call, named);
  const { advance } = await import("../../orchestrator/advance.js");
  const context = await call.task(named, "next");
  const step = await advance(context);
  const suggestion = await suggest(context);
  return {
    json: { ...stepJson(step), suggestion },
    text: () => `${formatStep(step, call.style)}\n${formatSuggestion(suggestion, call.style)}`,
    exitCode: suggestion.waiting === null ? stepCode(step) : HUMAN_NEEDED,
  };
}

async function overrideNext(call: Invocation, named: string | undefined): Promise<Report> {
  const { override } = await import("../../orchestrator/human.js");
  const reason = requireText(call, "override", "the history says why");
  const context = await call.task(named, `next --override ${JSON.stringify(reason)}`);
  const to = call.text("to");
  const step = await override(context, { reason, ...(to === undefined ? {} : { to }) });
  return stepReport(call, step);
}

async function autoNext(call: Invocation, named: string | undefined): Promise<Report> {
  const { advanceToEnd } = await import("../../orchestrator/advance.js");
  const context = await call.task(named, "next --auto");
  const result = await advanceToEnd(context, {
    maxSteps: typeof call.options["maxSteps"] === "number" ? call.options["maxSteps"] : MAX_STEPS,
    onStep: (step) => call.engine.progress(`${formatStep(step, call.style)}\n`),
    onRetry: (error) => call.engine.progress(`${call.style.yellow("again:")} ${error.message}\n`),
  });
  const suggestion = await suggest(context);
  return {
    json: { ...result, steps: result.steps.map(stepJson), suggestion },
    text: () =>
      `stopped in ${call.style.bold(result.phase)}: ${result.reason}\n${formatSuggestion(suggestion, call.style)}`,
    exitCode: result.stopped === "human" ? HUMAN_NEEDED : 0,
  };
}

export async function runCommand(call: Invocation): Promise<Report> {
  const { runPhase } = await import("../../orchestrator/run-phase.js");
  const [phase = "", named] = call.args;
  const context = await call.task(named, `run ${phase}`);
  const result = await runPhase(context, phase);
  const suggestion = await suggest(context);
  return {
    json: { ...result, suggestion },
    text: () =>
      `${call.style.green(`${result.outcome}:`)} the work of ${phase}\n${formatSuggestion(suggestion, call.style)}`,
  };
}

export function stepReport(call: Invocation, step: Step): Report {
  return { json: stepJson(step), text: () => formatStep(step, call.style), exitCode: stepCode(step) };
}

/** A script that steps has to learn at once that the next step is a human's. */
function stepCode(step: Step): number {
  return step.waiting === null ? 0 : HUMAN_NEEDED;
}

export function stepJson(step: Step): Record<string, unknown> {
  const { from, to, reason, notes, waiting, event } = step;
  return { from, to, reason, notes, waiting, seq: event.seq };
}
