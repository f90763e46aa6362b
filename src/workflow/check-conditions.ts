/** Is every condition CEL, with names that exist and types that fit? */
import { findingAt, nodesOf, syntaxError, typeErrors, type Ast, type Expression } from "./check-expression.js";
import { didYouMean, type CheckFinding, type Known } from "./check-finding.js";
import { parseCondition, pathOf } from "./condition.js";
import { schemaAt, schemaOf, typedConditions, type TypedConditions } from "./condition-types.js";
import type { Transition, Workflow } from "./types.js";

export function* checkConditions(workflow: Workflow, known: Known): Generator<CheckFinding> {
  const typed = typedConditions(workflow, known.schemas);
  for (const row of [...workflow.transitions, ...workflow.prompts])
    if (row.when !== "") yield* checkCondition(workflow, known, typed, row);
}

function* checkCondition(
  workflow: Workflow,
  known: Known,
  typed: TypedConditions,
  { when, line, whenColumn }: Pick<Transition, "when" | "line" | "whenColumn">,
): Generator<CheckFinding> {
  const expression: Expression = { kind: "condition", text: when, line, column: whenColumn };
  const parsed = parseCondition(when);
  if ("error" in parsed) {
    yield syntaxError(workflow, expression, parsed.error);
    return;
  }
  const wrong = [...typeErrors(workflow, typed, expression, parsed.ast), ...notABool(workflow, typed, expression)];
  yield* wrong;
  if (wrong.length === 0) yield* impossibleValues(workflow, known, expression, parsed.ast);
}

function* notABool(workflow: Workflow, typed: TypedConditions, expression: Expression): Generator<CheckFinding> {
  const result = typed.check(expression.text);
  if (!("type" in result) || result.type === "bool" || result.type === "dyn") return;
  const { type } = result;
  const [field] = typed.fields(type);
  const what = typed.readable(type);
  yield findingAt(workflow, expression, 0, "condition-type", `the condition is ${what}, not true or false`, {
    expected: "bool",
    found: what,
    hint:
      field === undefined
        ? `compare it with something, such as \`${expression.text} ${type === "string" ? '== "…"' : "> 0"}\``
        : `name one of its fields, such as \`${expression.text}.${field}\``,
  });
}

/** A comparison with a word that the schema's list of values lacks is never true. */
function* impossibleValues(
  workflow: Workflow,
  known: Known,
  expression: Expression,
  ast: Ast,
): Generator<CheckFinding> {
  for (const node of nodesOf(ast)) {
    if (node.op !== "==" && node.op !== "!=" && node.op !== "in") continue;
    for (const [subject, other] of [node.args, [...node.args].reverse() as [Ast, Ast]]) {
      const [name = "", ...path] = pathOf(subject) ?? [];
      const artifact = workflow.artifacts.find((each) => each.name === name);
      const schema = artifact === undefined ? undefined : schemaOf(artifact, known.schemas);
      const values = schema === undefined ? undefined : schemaAt(schema, path)?.["enum"];
      if (!Array.isArray(values)) continue;
      const allowed = values.map(String);
      for (const literal of other.op === "list" ? other.args : [other]) {
        if (literal.op !== "value" || typeof literal.args !== "string" || allowed.includes(literal.args)) continue;
        const message = `\`${[name, ...path].join(".")}\` is never "${literal.args}"`;
        yield findingAt(workflow, expression, literal.range.start, "unknown-value", message, {
          expected: allowed.join(", "),
          found: literal.args,
          hint: didYouMean(literal.args, allowed, `use one of: ${allowed.join(", ")}`),
        });
      }
    }
  }
}
