/** Which prompt the document names for a phase. Pure. */
import { evaluateCondition, toCel } from "./condition.js";
import type { Evidence, Workflow } from "./types.js";

/** Undefined where it names none, so that the role's own is meant. A condition that cannot be evaluated names nothing. */
export function promptName(
  { prompts, phases }: Workflow,
  phase: string,
  evidence: Pick<Evidence, "counters" | "limits">,
): string | undefined {
  if (!phases.some(({ name }) => name === phase)) return undefined;
  return prompts.find((choice) => choice.phase === phase && holds(choice.when, evidence))?.prompt;
}

function holds(when: string, { counters, limits }: Pick<Evidence, "counters" | "limits">): boolean {
  const outcome = evaluateCondition(when, { counters: toCel(counters), limits: toCel(limits) });
  return "value" in outcome && outcome.value;
}
