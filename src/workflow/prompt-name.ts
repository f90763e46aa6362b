/** Which prompt the document names for a phase. Pure. */
import { evaluateCondition, toCel } from "./condition.js";
import { countersOf } from "./counters.js";
import type { Evidence, Workflow } from "./types.js";

/** Undefined where it names none, so that the role's own is meant. A condition that cannot be evaluated names nothing. */
export function promptName(workflow: Workflow, phase: string, evidence: Known): string | undefined {
  const none = (names: string[]): Record<string, number> => Object.fromEntries(names.map((name) => [name, 0]));
  const known: Known = {
    limits: evidence.limits,
    counters: { ...none(countersOf(workflow)), ...evidence.counters },
    visits: { ...none(workflow.phases.map(({ name }) => name)), ...evidence.visits },
  };
  return workflow.prompts.find((choice) => choice.phase === phase && holds(choice.when, known))?.prompt;
}

/** What is counted is 0 before it is. */
type Known = Pick<Evidence, "counters" | "limits" | "visits">;

function holds(when: string, { counters, limits, visits }: Known): boolean {
  const outcome = evaluateCondition(when, {
    counters: toCel(counters),
    limits: toCel(limits),
    visits: toCel(visits),
  });
  return "value" in outcome && outcome.value;
}
