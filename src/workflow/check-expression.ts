/** What can be wrong with a piece of CEL in a document: its syntax, the names that it uses, its types. */
import { didYouMean, errorAt, listed, type CheckFinding, type Details } from "./check-finding.js";
import { conjunctsOf, operandsOf, parseCondition, pathOf, type ConditionError } from "./condition.js";
import type { TypedConditions } from "./condition-types.js";
import type { Workflow } from "./types.js";

export type Ast = Extract<ReturnType<typeof parseCondition>, { ast: unknown }>["ast"];

/** A piece of CEL, and where it stands. */
export interface Expression {
  kind: "condition" | "reason";
  text: string;
  line: number;
  column: number;
}

/** What conditions are made of; CEL has more. */
const FUNCTIONS = ["size", "contains", "startsWith", "endsWith", "has", "exists", "all", "filter", "map"];

export function syntaxError(
  workflow: Workflow,
  expression: Expression,
  { message, start }: ConditionError,
): CheckFinding {
  const { kind, text } = expression;
  return findingAt(workflow, expression, start, `${kind}-syntax`, `the ${kind} is no CEL: ${message}`, {
    expected:
      kind === "condition"
        ? "a condition in CEL, such as `tests.overall_pass && visits.test < limits.test_rounds`"
        : "an expression in CEL, such as `{plan.questions.map(q, q.text)}`",
    found: start >= text.length ? `the end of the ${kind}` : text.slice(start, start + 20),
    hint: "mend it at this column; strings stand in double quotes, `and` is &&, `not` is !",
  });
}

/** The checker stops at its first complaint, so each part of a conjunction is checked by itself where that is possible. */
export function* typeErrors(
  workflow: Workflow,
  typed: TypedConditions,
  expression: Expression,
  ast: Ast,
): Generator<CheckFinding> {
  const whole = typed.check(expression.text);
  if ("type" in whole) {
    yield* missingInHas(workflow, typed, expression, ast);
    return;
  }
  const parts = conjunctsOf(ast).map(({ range }) => ({
    text: expression.text.slice(range.start, range.end),
    at: range.start,
  }));
  const findings = parts.flatMap(({ text, at }) => {
    const result = typed.check(text);
    if ("type" in result || !("ast" in parseCondition(text))) return [];
    const shifted = { ...result, start: result.start + at, end: result.end + at };
    return [typeError(workflow, typed, expression, shifted, text)];
  });
  yield* findings.length > 0 ? findings : [typeError(workflow, typed, expression, whole, expression.text)];
}

function typeError(
  workflow: Workflow,
  typed: TypedConditions,
  expression: Expression,
  { code, summary, start, end }: { code: string; summary: string; start: number; end: number },
  source: string,
): CheckFinding {
  const { kind, text } = expression;
  if (code === "unknown_variable") {
    const name = text.slice(start, end);
    const message = `the ${kind} names \`${name}\`, which is neither an artifact nor anything that pawl keeps`;
    return findingAt(workflow, expression, start, "unknown-variable", message, {
      expected: listed(typed.variables),
      found: name,
      hint: didYouMean(name, typed.variables, `use one of: ${listed(typed.variables)}`),
    });
  }
  if (code === "no_such_key" || code === "cannot_index_type") {
    const field = text.slice(start, end).replace(/^["']|["']$/g, "");
    return unknownField(workflow, typed, expression, start, field, baseOf(source, field));
  }
  const called = code === "no_matching_overload" ? /(\w+)\(/.exec(summary)?.[1] : undefined;
  if (called !== undefined) return unknownCall(workflow, typed, expression, start, called, summary);
  const misfit = typed.readable(summary);
  return findingAt(workflow, expression, start, `${kind}-type`, `the ${kind}'s types do not fit: ${misfit}`, {
    expected: "operands of one type",
    found: misfit,
    hint: "compare like with like: text with text in double quotes, whole numbers with whole numbers",
  });
}

function unknownCall(
  workflow: Workflow,
  typed: TypedConditions,
  expression: Expression,
  start: number,
  name: string,
  summary: string,
): CheckFinding {
  const signatures = typed.signatures(name);
  if (signatures.length === 0) {
    const message = `the ${expression.kind} calls \`${name}\`, which is no function of CEL`;
    return findingAt(workflow, expression, start, "unknown-function", message, {
      expected: listed(FUNCTIONS),
      found: name,
      hint: didYouMean(name, FUNCTIONS, `use one of: ${listed(FUNCTIONS)}`),
    });
  }
  const called = typed.readable(summary.replace(/^found no matching overload for /, "").replaceAll("'", ""));
  const message = `the ${expression.kind} calls \`${name}\` with what it does not take: ${called}`;
  return findingAt(workflow, expression, start, `${expression.kind}-type`, message, {
    expected: signatures.join(", "),
    found: called,
    hint: `call it as one of these: ${signatures.join(", ")}`,
  });
}

function unknownField(
  workflow: Workflow,
  typed: TypedConditions,
  expression: Expression,
  start: number,
  field: string,
  base: string | undefined,
): CheckFinding {
  const result = base === undefined ? undefined : typed.check(base);
  const type = result !== undefined && "type" in result ? result.type : undefined;
  const fields = typed.fields(type);
  const known = fields.length > 0 ? listed(fields) : "no field";
  const message = base === undefined ? `there is no field \`${field}\`` : `\`${base}\` has no field \`${field}\``;
  const hint = fieldHint(typed, fields, field, base, type);
  return findingAt(workflow, expression, start, "unknown-field", message, { expected: known, found: field, hint });
}

function fieldHint(
  typed: TypedConditions,
  fields: string[],
  field: string,
  base: string | undefined,
  type: string | undefined,
): string {
  // `visits.agent-review` is a subtraction.
  const hyphened = fields.find((name) => name.startsWith(`${field}-`));
  if (hyphened !== undefined) return `write ${base ?? ""}["${hyphened}"]`;
  if (base === "counters")
    return didYouMean(field, fields, `no row counts it: add \`count ${field}\` under Do of the row to be counted`);
  if (base === "limits")
    return didYouMean(field, fields, `declare it in the front matter: \`limits: { ${field}: 3 }\``);
  if (fields.length > 0) return didYouMean(field, fields, `use one of: ${listed(fields)}`);
  return `\`${base ?? field}\` is ${typed.readable(type ?? "a value")}, which has no fields: use it as it is`;
}

/** The text before the first `.field` or `["field"]`. */
function baseOf(source: string, field: string): string | undefined {
  const parsed = parseCondition(source);
  if ("error" in parsed) return undefined;
  for (const node of nodesOf(parsed.ast)) {
    const path = pathOf(node);
    const at = path?.indexOf(field, 1) ?? -1;
    if (path !== undefined && at > 0) return path.slice(0, at).join(".");
  }
  return undefined;
}

/** `has(plan.foo)` is legal CEL and always false. */
function* missingInHas(
  workflow: Workflow,
  typed: TypedConditions,
  expression: Expression,
  ast: Ast,
): Generator<CheckFinding> {
  for (const node of nodesOf(ast)) {
    if (node.op !== "call" || node.args[0] !== "has") continue;
    const path = node.args[1][0] === undefined ? undefined : pathOf(node.args[1][0]);
    if (path === undefined || !typed.variables.includes(path[0] ?? "")) continue;
    const result = typed.check(path.join("."));
    if (!("code" in result) || result.code !== "no_such_key") continue;
    const field = path.at(-1) ?? "";
    yield unknownField(workflow, typed, expression, node.range.start, field, path.slice(0, -1).join("."));
  }
}

export function nodesOf(node: Ast): Ast[] {
  return [node, ...operandsOf(node).flatMap(nodesOf)];
}

export function findingAt(
  workflow: Workflow,
  { text, line, column }: Expression,
  offset: number,
  rule: string,
  message: string,
  more: Details,
): CheckFinding {
  // In a table every | of an expression is written \|, one character more than was parsed.
  const escapes = text.slice(0, offset).split("|").length - 1;
  return errorAt(workflow, line, rule, message, { column: column + offset + escapes, ...more });
}
