/**
 * All the evidence that can make a difference in a phase: made from the document itself. Every path that a condition reads
 * takes every value that the conditions tell apart; artifacts are filled up to what their schemas ask for, and combinations
 * that a schema refuses are left out.
 */
import type { ASTNode } from "@marcbachmann/cel-js";
import { loadSchema, validatorFor, type JsonSchema } from "../../src/system/schemas.js";
import { operandsOf, parseCondition, pathOf } from "../../src/workflow/condition.js";
import type { ArtifactStatus, Evidence, Event, Transition, Workflow } from "../../src/workflow/types.js";

export interface Case {
  evidence: Evidence;
  payload: Event["payload"];
}

const MOST = 50_000;

/** The cases for the rows of one phase and event. */
export async function casesFor(workflow: Workflow, rows: Transition[], workspace: string): Promise<Case[]> {
  const [first] = rows;
  if (first === undefined) return [];
  const names = artifactsFor(workflow, rows);
  // The fields of an artifact hang together: all that the phase looks at vary, though these rows may look at one alone.
  const ofPhase = choicesIn(
    workflow.transitions.filter(({ from }) => from === first.from),
    workflow.limits,
  );
  const asked = choicesIn(rows, workflow.limits);
  const choices = [...ofPhase].flatMap(([path, values]): [string, unknown[]][] =>
    asked.has(path) || names.includes(path.split(".")[0] ?? "")
      ? [[path, withEnum(workflow, path, values, workspace)]]
      : [],
  );
  // What is filled up may have entries in its lists, or none.
  choices.unshift(...names.map((name): [string, unknown[]] => [name, samplesOf(workflow, name, workspace)]));
  const size = choices.reduce((product, [, values]) => product * values.length, 1);
  if (size > MOST) throw new Error(`${first.from}, ${first.event}: ${size} cases are too many to try`);
  const isSound = soundness(workflow, workspace);
  const cases: Case[] = [];
  for (const assignment of product(choices)) {
    const given: Record<string, unknown> = { visits: {}, counters: {}, state: {}, event: {} };
    for (const [path, value] of assignment) assign(given, path, structuredClone(value));
    if (await isSound(names, given)) cases.push(toCase(workflow, first.from, names, given));
  }
  return cases;
}

function toCase(workflow: Workflow, phase: string, names: string[], given: Record<string, unknown>): Case {
  const artifacts = names.map((name): [string, ArtifactStatus] => [
    name,
    { name, file: `${name}.json`, condition: "ok", data: given[name], findings: [], hash: "h" },
  ]);
  return {
    evidence: {
      phase,
      artifacts: Object.fromEntries(artifacts),
      visits: given["visits"] as Record<string, number>,
      counters: given["counters"] as Record<string, number>,
      state: given["state"] as Record<string, unknown>,
      failures: typeof given["failures"] === "number" ? given["failures"] : 0,
      limits: workflow.limits,
      waiting: given["waiting"] === true ? "a reason" : null,
    },
    payload: given["event"] as Event["payload"],
  };
}

/** What the conditions of the rows mention, and what the phase must leave. */
function artifactsFor(workflow: Workflow, rows: Transition[]): string[] {
  const mentioned = rows.flatMap(({ when }) => referencesOf(when).map(([name]) => name));
  const leaves = workflow.phases.find(({ name }) => name === rows[0]?.from)?.leaves ?? [];
  return workflow.artifacts.map(({ name }) => name).filter((name) => mentioned.includes(name) || leaves.includes(name));
}

function referencesOf(when: string): string[][] {
  const parsed = when === "" ? undefined : parseCondition(when);
  return parsed !== undefined && "condition" in parsed ? parsed.condition.references : [];
}

function choicesIn(rows: Transition[], limits: Record<string, number>): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>();
  const add = (path: string[] | undefined, ...values: unknown[]): void => {
    if (path === undefined || path[0] === "limits") return;
    const known = found.get(path.join(".")) ?? [];
    const fresh = values.filter((value) => !known.some((one) => JSON.stringify(one) === JSON.stringify(value)));
    found.set(path.join("."), [...known, ...fresh]);
  };
  for (const { when } of rows) {
    const parsed = when === "" ? undefined : parseCondition(when);
    if (parsed !== undefined && "ast" in parsed) visit(parsed.ast, add, limits);
  }
  return found;
}

type Add = (path: string[] | undefined, ...values: unknown[]) => void;

const COMPARISONS = ["<", "<=", ">", ">="];

function visit(node: ASTNode, add: Add, limits: Record<string, number>): void {
  const operands = operandsOf(node);
  if (node.op === "==" || node.op === "!=") {
    for (const [one, other] of [operands, [...operands].reverse()]) {
      if (one !== undefined && other?.op === "value") addCompared(one, other.args, add);
    }
  } else if (COMPARISONS.includes(node.op)) {
    const held = operands.flatMap((operand) => limits[pathOf(operand)?.[1] ?? ""] ?? []);
    for (const operand of operands) addNumbers(operand, add, held);
  } else if (node.op === "in") {
    const [one, list] = operands;
    const items =
      list?.op === "list" ? operandsOf(list).map((item) => (item.op === "value" ? item.args : undefined)) : [];
    if (one !== undefined) add(pathOf(one), ...items, "something else");
  } else if (node.op === "rcall" && (node.args[0] === "exists" || node.args[0] === "all")) {
    addList(node, add, limits);
  } else if (node.op === "call" && node.args[0] === "has") {
    add(pathOf(operands[0]!), {}, undefined);
  } else if (pathOf(node) !== undefined) add(pathOf(node), true, false);
  else for (const operand of operands) visit(operand, add, limits);
}

function addCompared(node: ASTNode, value: unknown, add: Add): void {
  if (isSize(node)) addNumbers(node, add);
  else if (typeof value === "boolean") add(pathOf(node), true, false);
  else if (typeof value === "bigint") add(pathOf(node), Number(value), Number(value) + 1);
  else add(pathOf(node), value, "something else");
}

/** Numbers that are counted up to a limit: at the beginning, at the limit, and beyond any. Lists: empty or not. */
function addNumbers(node: ASTNode, add: Add, limits: number[] = []): void {
  if (isSize(node)) add(pathOf(operandsOf(node)[0]!), [], ["x"]);
  else add(pathOf(node), 0, ...limits, 1000);
}

function isSize(node: ASTNode): boolean {
  return node.op === "rcall" && node.args[0] === "size";
}

/** `list.exists(x, x.field)`: empty, and with one entry for which it holds, and for which it does not. */
function addList(node: ASTNode, add: Add, limits: Record<string, number>): void {
  const [list, variable, body] = operandsOf(node);
  const fields: Record<string, unknown[]> = {};
  const inner: Add = (path, ...values) => {
    if (path !== undefined && variable?.op === "id" && path[0] === variable.args)
      fields[path.slice(1).join(".")] = values;
  };
  if (body !== undefined) visit(body, inner, limits);
  const entries = product(Object.entries(fields)).map((assignment) => {
    const entry: Record<string, unknown> = {};
    for (const [path, value] of assignment) assign(entry, path, value);
    return entry;
  });
  if (list !== undefined) add(pathOf(list), [], ...entries.map((entry) => [entry]));
}

function product(choices: [string, unknown[]][]): [string, unknown][][] {
  return choices.reduce<[string, unknown][][]>(
    (all, [path, values]) => all.flatMap((one) => values.map((value): [string, unknown][] => [...one, [path, value]])),
    [[]],
  );
}

function assign(target: Record<string, unknown>, path: string, value: unknown): void {
  const parts = path.split(".");
  const last = parts.pop() ?? "";
  let current = target;
  for (const part of parts) current = (current[part] ??= {}) as Record<string, unknown>;
  // A list keeps its valid entries: the conditions ask only how many there are, or for what was put into them.
  const old = current[last];
  const isCount = Array.isArray(value) && value.every((entry) => entry === "x");
  if (isCount && Array.isArray(old) && old.length > 0) current[last] = value.length === 0 ? [] : old;
  else if (Array.isArray(value) && Array.isArray(old) && typeof old[0] === "object")
    current[last] = value.map((entry) => ({ ...(old[0] as object), ...(entry as object) }));
  else if (value === undefined) Reflect.deleteProperty(current, last);
  else current[last] = value;
}

function schemaOf(workflow: Workflow, name: string, workspace: string): JsonSchema | undefined {
  const schema = workflow.artifacts.find((artifact) => artifact.name === name)?.schema;
  return schema === undefined ? undefined : loadSchema(schema, workspace).schema;
}

function samplesOf(workflow: Workflow, name: string, workspace: string): unknown[] {
  const schema = schemaOf(workflow, name, workspace);
  return schema === undefined ? [{}] : [sample(schema, true), sample(schema, false)];
}

/** Where the schema lists the values of a field, it takes all of them, and none at all where it may be left out. */
function withEnum(workflow: Workflow, path: string, values: unknown[], workspace: string): unknown[] {
  const [name = "", ...fields] = path.split(".");
  let schema = schemaOf(workflow, name, workspace);
  let isOptional = false;
  for (const field of fields) {
    isOptional = !((schema?.["required"] ?? []) as string[]).includes(field);
    schema = (schema?.["properties"] as Record<string, JsonSchema> | undefined)?.[field];
  }
  const listed = schema?.["enum"];
  if (!Array.isArray(listed)) return values;
  return [...new Set([...(listed as unknown[]), ...values, ...(isOptional ? [undefined] : [])])];
}

/** A value with everything that the schema can ask for; `filled` lists have one entry. */
function sample(schema: JsonSchema, filled: boolean): unknown {
  if (Array.isArray(schema["enum"])) return schema["enum"][0];
  const type = Array.isArray(schema["type"]) ? (schema["type"] as unknown[])[0] : schema["type"];
  if (type === "object") {
    const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
    const conditional = ((schema["allOf"] ?? []) as { then?: JsonSchema }[]).map(({ then }) => then ?? {});
    const required = [schema, ...conditional].flatMap((part) => (part["required"] ?? []) as string[]);
    const wanted = Object.entries(properties).filter(([key, part]) => required.includes(key) || "default" in part);
    return Object.fromEntries(wanted.map(([key, part]) => [key, sample(part, filled)]));
  }
  if (type === "array") {
    const needsOne = filled || schema["minItems"] !== undefined;
    return needsOne ? [sample((schema["items"] ?? {}) as JsonSchema, filled)] : [];
  }
  return type === "boolean" ? true : type === "integer" || type === "number" ? 1 : "x";
}

function soundness(
  workflow: Workflow,
  workspace: string,
): (names: string[], given: Record<string, unknown>) => Promise<boolean> {
  const validate = validatorFor(workspace);
  const known = new Map<string, boolean>();
  return async (names, given) => {
    for (const name of names) {
      const schema = workflow.artifacts.find((artifact) => artifact.name === name)?.schema;
      if (schema === undefined) continue;
      const key = `${name} ${JSON.stringify(given[name])}`;
      if (!known.has(key)) known.set(key, (await validate(schema, structuredClone(given[name]), name)).length === 0);
      if (known.get(key) !== true) return false;
    }
    return true;
  };
}
