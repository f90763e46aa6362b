/** Is what stands in braces in a reason CEL, and will it be known when the row is taken? */
import { syntaxError, typeErrors, findingAt, type Expression } from "./check-expression.js";
import { listed, type CheckFinding, type Known } from "./check-finding.js";
import { parseCondition } from "./condition.js";
import { typedConditions, type TypedConditions } from "./condition-types.js";
import { relevantArtifacts } from "./decide.js";
import { slotsOf, strayBrace } from "./reason.js";
import type { Transition, Workflow } from "./types.js";

export function* checkReasons(workflow: Workflow, known: Known): Generator<CheckFinding> {
  const typed = typedConditions(workflow, known.schemas);
  for (const row of workflow.transitions) yield* checkReason(workflow, typed, row);
}

/** A reason's value may be of any type: it is only told. */
function* checkReason(
  workflow: Workflow,
  typed: TypedConditions,
  { from, why, line, whyColumn }: Transition,
): Generator<CheckFinding> {
  const stray = strayBrace(why);
  if (stray !== undefined) {
    const whole: Expression = { kind: "reason", text: why, line, column: whyColumn };
    yield findingAt(workflow, whole, stray, "reason-syntax", "the reason has a brace without its other half", {
      expected: "`{expression}`, without further braces in it",
      found: why.slice(stray, stray + 20),
      hint: "close the brace, or remove it",
    });
  }
  const relevant = relevantArtifacts(workflow, from);
  for (const { source, start } of slotsOf(why)) {
    const escapes = why.slice(0, start).split("|").length - 1;
    const expression: Expression = { kind: "reason", text: source, line, column: whyColumn + start + escapes };
    const parsed = parseCondition(source);
    if ("error" in parsed) {
      yield syntaxError(workflow, expression, parsed.error);
      continue;
    }
    const wrong = [...typeErrors(workflow, typed, expression, parsed.ast)];
    yield* wrong;
    const mentioned = new Set(parsed.condition.references.map(([name = ""]) => name));
    const unread = workflow.artifacts.find(({ name }) => mentioned.has(name) && !relevant.includes(name));
    if (wrong.length > 0 || unread === undefined) continue;
    const message = `the reason tells of \`${unread.name}\`, which nobody looks at in \`${from}\``;
    yield findingAt(workflow, expression, 0, "unread-artifact", message, {
      expected: listed(relevant),
      found: unread.name,
      hint: `let a condition of ${from} mention it, or leave it out of the reason`,
    });
  }
}
