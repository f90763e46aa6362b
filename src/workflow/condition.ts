/**
 * Conditions: expressions in CEL, evaluated by a library. Besides this file only `condition-types` and `condition-logic` know
 * the library; they prove things of conditions without evaluating them.
 *
 * A condition that cannot be evaluated (a field that is not there, a type that does not fit) is false, and says why.
 */
import { Environment, serialize, type ASTNode } from "@marcbachmann/cel-js";

export interface Condition {
  source: string;
  /** Every name that the condition reads, with the path below it as far as it is fixed: `visits.plan_review` → ["visits", "plan_review"]. */
  references: string[][];
  /** The parts joined by `&&` at the top, as text. */
  conjuncts: string[];
}

export interface ConditionError {
  message: string;
  /** Offset in the source. */
  start: number;
  end: number;
}

export type Outcome = { value: boolean } | { error: string };

const environment = new Environment({ unlistedVariablesAreDyn: true });

type Compiled = ReturnType<typeof environment.parse>;

type Parsed = { condition: Condition; ast: ASTNode } | { error: ConditionError };

/** A document has a few dozen conditions, and a batch asks each of them thousands of times. */
function remembering<T>(make: (source: string) => T): (source: string) => T {
  const known = new Map<string, T>();
  return (source) => {
    const before = known.get(source);
    if (before !== undefined) return before;
    if (known.size >= MOST) known.clear();
    const made = make(source);
    known.set(source, made);
    return made;
  };
}

const MOST = 5_000;
const compiled = remembering<Compiled>((source) => environment.parse(source));

/** Throws nothing: a condition that is no CEL gives an error with its place. */
export const parseCondition = remembering<Parsed>((source) => {
  let ast: ASTNode;
  try {
    ast = compiled(source).ast;
  } catch (error) {
    return { error: conditionError(error, source) };
  }
  const refusedCall = findCall(ast, "matches");
  if (refusedCall !== undefined) {
    // A regular expression from a document runs on text from an agent: a way to hang the gate.
    const message = "`matches` is not allowed; use ==, in, startsWith, endsWith or contains";
    return { error: { message, start: refusedCall.start, end: refusedCall.end } };
  }
  const references: string[][] = [];
  collectReferences(ast, new Set(), references);
  return { condition: { source, references, conjuncts: conjunctsOf(ast).map(textOf) }, ast };
});

/** The value of a condition; anything but true or false is an error, and an error opens nothing. */
export function evaluateCondition(source: string, context: Record<string, unknown>): Outcome {
  if (source === "") return { value: true };
  try {
    const value: unknown = compiled(source)(context);
    return typeof value === "boolean" ? { value } : { error: `expected true or false, found ${typeof value}` };
  } catch (error) {
    return { error: conditionError(error, source).message };
  }
}

/** The value of any expression, for explanations; undefined where it has none. */
export function valueOf(source: string, context: Record<string, unknown>): unknown {
  try {
    return compiled(source)(context);
  } catch {
    return undefined;
  }
}

/** Numbers of JSON as CEL knows them: whole ones are `int`. */
export function toCel(value: unknown): unknown {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, toCel(entry)]));
  }
  return value;
}

export function conditionError(error: unknown, source: string): ConditionError {
  const { range, message } = error as { range?: { start: number; end: number }; message?: string };
  const firstLine = (message ?? String(error)).split("\n")[0] ?? "";
  return { message: firstLine, start: range?.start ?? 0, end: range?.end ?? source.length };
}

export function conjunctsOf(ast: ASTNode): ASTNode[] {
  return ast.op === "&&" ? [...conjunctsOf(ast.args[0]), ...conjunctsOf(ast.args[1])] : [ast];
}

/** A node's range leaves out parentheses at its ends, even those of its own operands, so its text is written anew. */
function textOf(node: ASTNode): string {
  const text = serialize(node);
  return node.op === "||" || node.op === "?:" ? `(${text})` : text;
}

/** All direct operands of a node. */
export function operandsOf(node: ASTNode): ASTNode[] {
  const found: ASTNode[] = [];
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) part.forEach(visit);
    else if (typeof part === "object" && part !== null && "op" in part) found.push(part as ASTNode);
  };
  visit(node.args);
  return found;
}

/** `a.b["c"]` as ["a", "b", "c"]; undefined for anything that is not a fixed path. */
export function pathOf(node: ASTNode): string[] | undefined {
  if (node.op === "id") return [node.args];
  if (node.op === ".") {
    const base = pathOf(node.args[0]);
    return base === undefined ? undefined : [...base, node.args[1]];
  }
  if (node.op === "[]" && node.args[1].op === "value" && typeof node.args[1].args === "string") {
    const base = pathOf(node.args[0]);
    return base === undefined ? undefined : [...base, node.args[1].args];
  }
  return undefined;
}

/** Macros that bind a name, such as `list.exists(x, …)`. */
const BINDING_MACROS = new Set(["all", "exists", "exists_one", "map", "filter"]);

function collectReferences(node: ASTNode, bound: ReadonlySet<string>, into: string[][]): void {
  const path = pathOf(node);
  if (path !== undefined) {
    if (!bound.has(path[0] ?? "")) into.push(path);
    return;
  }
  if (node.op === "rcall" && BINDING_MACROS.has(node.args[0])) {
    const [, receiver, callArgs] = node.args;
    collectReferences(receiver, bound, into);
    const variable = callArgs[0];
    const inner = new Set(bound);
    if (variable?.op === "id") inner.add(variable.args);
    for (const argument of callArgs.slice(1)) collectReferences(argument, inner, into);
    return;
  }
  for (const operand of operandsOf(node)) collectReferences(operand, bound, into);
}

function findCall(node: ASTNode, name: string): ASTNode | undefined {
  if ((node.op === "rcall" || node.op === "call") && node.args[0] === name) return node;
  for (const operand of operandsOf(node)) {
    const found = findCall(operand, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
