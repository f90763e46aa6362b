/** Is every condition CEL, with names that exist and types that fit? */
import { didYouMean, errorAt, listed, type CheckFinding, type Details, type Known } from "./check-finding.js";
import { conjunctsOf, operandsOf, parseCondition, pathOf } from "./condition.js";
import { schemaAt, typedConditions, type TypedConditions } from "./condition-types.js";
import type { Transition, Workflow } from "./types.js";

type Ast = Extract<ReturnType<typeof parseCondition>, { ast: unknown }>["ast"];

export function* checkConditions(workflow: Workflow, known: Known): Generator<CheckFinding> {
  const typed = typedConditions(workflow, known.schemas);
  for (const row of workflow.transitions) {
    if (row.when === "") continue;
    const parsed = parseCondition(row.when);
    if ("error" in parsed) {
      const { message, start } = parsed.error;
      yield conditionError(workflow, row, start, "condition-syntax", `the condition is no CEL: ${message}`, {
        expected: "a condition in CEL, such as `tests.overall_pass && visits.test < limits.test_rounds`",
        found: start >= row.when.length ? "the end of the condition" : row.when.slice(start, start + 20),
        hint: "mend it at this column; strings stand in double quotes, `and` is &&, `not` is !",
      });
      continue;
    }
    const wrong = [...typeErrors(workflow, typed, row, parsed.ast)];
    yield* wrong;
    if (wrong.length === 0) yield* impossibleValues(workflow, known, row, parsed.ast);
  }
}

/** The checker stops at its first complaint, so each part of a conjunction is checked by itself where that is possible. */
function* typeErrors(workflow: Workflow, typed: TypedConditions, row: Transition, ast: Ast): Generator<CheckFinding> {
  const whole = typed.check(row.when);
  if ("type" in whole) {
    if (whole.type !== "bool" && whole.type !== "dyn") {
      yield conditionError(workflow, row, 0, "condition-type", `the condition is a ${whole.type}, not true or false`, {
        expected: "bool",
        found: whole.type,
        hint: `compare it with something, such as \`${row.when} ${whole.type === "string" ? '== "…"' : "> 0"}\``,
      });
    }
    yield* missingInHas(workflow, typed, row, ast);
    return;
  }
  const parts = conjunctsOf(ast).map(({ range }) => ({
    text: row.when.slice(range.start, range.end),
    at: range.start,
  }));
  const findings = parts.flatMap(({ text, at }) => {
    const result = typed.check(text);
    if ("type" in result || !("ast" in parseCondition(text))) return [];
    return [typeError(workflow, typed, row, { ...result, start: result.start + at, end: result.end + at }, text)];
  });
  yield* findings.length > 0 ? findings : [typeError(workflow, typed, row, whole, row.when)];
}

function typeError(
  workflow: Workflow,
  typed: TypedConditions,
  row: Transition,
  { code, summary, start, end }: { code: string; summary: string; start: number; end: number },
  source: string,
): CheckFinding {
  if (code === "unknown_variable") {
    const name = row.when.slice(start, end);
    const message = `the condition names \`${name}\`, which is neither an artifact nor anything that pawl keeps`;
    return conditionError(workflow, row, start, "unknown-variable", message, {
      expected: listed(typed.variables),
      found: name,
      hint: didYouMean(name, typed.variables, `use one of: ${listed(typed.variables)}`),
    });
  }
  if (code === "no_such_key") {
    const field = summary.replace(/^No such key: /, "");
    return unknownField(workflow, typed, row, start, field, baseOf(source, field));
  }
  return conditionError(workflow, row, start, "condition-type", `the condition's types do not fit: ${summary}`, {
    expected: "operands of one type",
    found: summary,
    hint: "compare like with like: text with text in double quotes, whole numbers with whole numbers",
  });
}

function unknownField(
  workflow: Workflow,
  typed: TypedConditions,
  row: Transition,
  start: number,
  field: string,
  base: string | undefined,
): CheckFinding {
  const type = base === undefined ? undefined : typed.check(base);
  const fields = typed.fields(type !== undefined && "type" in type ? type.type : undefined);
  const known = fields.length > 0 ? listed(fields) : "no field";
  // `visits.agent-review` is a subtraction.
  const hyphened = fields.find((name) => name.startsWith(`${field}-`));
  const hint =
    hyphened !== undefined
      ? `write ${base ?? ""}["${hyphened}"]`
      : base === "counters"
        ? didYouMean(field, fields, `no row counts it: add \`count ${field}\` under Do of the row to be counted`)
        : didYouMean(field, fields, `use one of: ${known}`);
  return conditionError(
    workflow,
    row,
    start,
    "unknown-field",
    `${base === undefined ? "" : `\`${base}\` has `}no field \`${field}\``.replace(/^no field/, "there is no field"),
    { expected: known, found: field, hint },
  );
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
function* missingInHas(workflow: Workflow, typed: TypedConditions, row: Transition, ast: Ast): Generator<CheckFinding> {
  for (const node of nodesOf(ast)) {
    if (node.op !== "call" || node.args[0] !== "has") continue;
    const path = node.args[1][0] === undefined ? undefined : pathOf(node.args[1][0]);
    if (path === undefined || !typed.variables.includes(path[0] ?? "")) continue;
    const result = typed.check(path.join("."));
    if (!("code" in result) || result.code !== "no_such_key") continue;
    const field = path.at(-1) ?? "";
    yield unknownField(workflow, typed, row, node.range.start, field, path.slice(0, -1).join("."));
  }
}

/** A comparison with a word that the schema's list of values lacks is never true. */
function* impossibleValues(workflow: Workflow, known: Known, row: Transition, ast: Ast): Generator<CheckFinding> {
  for (const node of nodesOf(ast)) {
    if (node.op !== "==" && node.op !== "!=" && node.op !== "in") continue;
    for (const [subject, other] of [node.args, [...node.args].reverse() as [Ast, Ast]]) {
      const [name = "", ...path] = pathOf(subject) ?? [];
      const file = workflow.artifacts.find((artifact) => artifact.name === name)?.schema;
      const schema = file === undefined ? undefined : known.schemas[file];
      const values = schema === undefined ? undefined : schemaAt(schema, path)?.["enum"];
      if (!Array.isArray(values)) continue;
      const allowed = values.map(String);
      for (const literal of other.op === "list" ? other.args : [other]) {
        if (literal.op !== "value" || typeof literal.args !== "string" || allowed.includes(literal.args)) continue;
        const message = `\`${[name, ...path].join(".")}\` is never "${literal.args}"`;
        yield conditionError(workflow, row, literal.range.start, "unknown-value", message, {
          expected: allowed.join(", "),
          found: literal.args,
          hint: didYouMean(literal.args, allowed, `use one of: ${allowed.join(", ")}`),
        });
      }
    }
  }
}

function nodesOf(node: Ast): Ast[] {
  return [node, ...operandsOf(node).flatMap(nodesOf)];
}

function conditionError(
  workflow: Workflow,
  row: Transition,
  offset: number,
  rule: string,
  message: string,
  more: Details,
): CheckFinding {
  // In a table every | of the condition is written \|, one character more than was parsed.
  const escapes = row.when.slice(0, offset).split("|").length - 1;
  return errorAt(workflow, row.line, rule, message, { column: row.whenColumn + offset + escapes, ...more });
}
