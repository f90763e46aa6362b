/** The types of what a condition may name: artifacts by their JSON Schemas, and the numbers that the engine keeps. */
import { Environment } from "@marcbachmann/cel-js";
import { parseCondition } from "./condition.js";
import { countersOf } from "./counters.js";
import type { Artifact, Workflow } from "./types.js";

export type JsonSchema = Record<string, unknown>;

export interface TypedConditions {
  /** The type of an expression, or the first thing that is wrong with it. */
  check(source: string): { type: string } | { code: string; summary: string; start: number; end: number };
  /** Every name that a condition may begin with. */
  variables: string[];
  /** The fields of a type; without its name, those of all types. */
  fields(type?: string): string[];
  /** The ways to call a function; none for what is no function. */
  signatures(name: string): string[];
  /** A text about types, for people: what a schema describes has no name there. */
  readable(text: string): string;
}

/** Names that a condition may use besides the artifacts. */
export const ENGINE_VARIABLES = ["visits", "counters", "limits", "failures", "waiting", "event", "state"];

/** A schema may refer to itself; nobody writes a condition that deep. */
const MAX_DEPTH = 12;

export function typedConditions(workflow: Workflow, schemas: Record<string, JsonSchema | undefined>): TypedConditions {
  const environment = new Environment({ homogeneousAggregateLiterals: false });
  const types = new Map<string, string[]>();
  const register = (hint: string, fields: Record<string, string>): string => {
    const name = `${hint.replace(/\W/g, "_")}_${types.size}`;
    environment.registerType(name, { fields });
    types.set(name, Object.keys(fields));
    return name;
  };
  const variables: string[] = [];
  const declare = (name: string, type: string): void => {
    environment.registerVariable(name, type);
    variables.push(name);
  };
  const numbers = (kind: string, names: string[]): void =>
    declare(kind, register(kind, Object.fromEntries(names.map((name) => [name, "int"]))));

  numbers(
    "visits",
    workflow.phases.map(({ name }) => name),
  );
  numbers("limits", Object.keys(workflow.limits));
  numbers("counters", countersOf(workflow));
  declare("failures", "int");
  declare("waiting", "bool");
  declare("event", "dyn");
  declare("state", "dyn");
  for (const artifact of workflow.artifacts) {
    const { name } = artifact;
    if (variables.includes(name) || !isVariableName(name)) continue;
    const content = schemaOf(artifact, schemas);
    declare(name, content === undefined ? "dyn" : celType(content, name, content, register, 0));
  }
  return {
    check(source) {
      const { type, error } = environment.check(source);
      if (error === undefined) return { type: type ?? "dyn" };
      const { start, end } = error.range ?? { start: 0, end: source.length };
      return { code: error.code, summary: error.summary, start, end };
    },
    variables,
    fields: (type) => (type === undefined ? [...types.values()].flat() : (types.get(type) ?? [])),
    signatures: (name) =>
      environment
        .getDefinitions()
        .functions.filter((each) => each.name === name)
        .map(({ signature }) => signature),
    readable: (text) => text.replace(/\w+/g, (word) => (types.has(word) ? "object" : word)),
  };
}

/** What a condition sees of a file that is no JSON … */
const TEXT: JsonSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
/** … and of a section of one: `none` where it does not say whether it is for or against. */
const SECTION: JsonSchema = {
  type: "object",
  properties: { text: { type: "string" }, verdict: { enum: ["pass", "fail", "none"] } },
  required: ["text", "verdict"],
};

export function isText({ file, section }: Artifact): boolean {
  return section !== undefined || !file.endsWith(".json");
}

/** What is known of an artifact's value; undefined when nothing is. */
export function schemaOf(artifact: Artifact, schemas: Record<string, JsonSchema | undefined>): JsonSchema | undefined {
  if (artifact.section !== undefined && artifact.schema === undefined) return SECTION;
  if (artifact.section === undefined && isText(artifact)) return TEXT;
  return artifact.schema === undefined ? undefined : schemas[artifact.schema];
}

/** Can a condition say this name? `plan-review` would be a subtraction, `in` is an operator. */
export function isVariableName(name: string): boolean {
  if (ENGINE_VARIABLES.includes(name)) return false;
  const parsed = parseCondition(name);
  if ("error" in parsed || parsed.ast.op !== "id") return false;
  try {
    new Environment().registerVariable(name, "dyn");
    return true;
  } catch {
    return false;
  }
}

/** The part of a schema that describes the value at a path; undefined where the schema does not say. */
export function schemaAt(root: JsonSchema, path: readonly string[]): JsonSchema | undefined {
  let schema: JsonSchema | undefined = resolve(root, root);
  for (const step of path) {
    const next: unknown = schema === undefined ? undefined : propertiesOf(schema, root)[step];
    schema = isSchema(next) ? resolve(next, root) : undefined;
  }
  return schema;
}

/** Is there always a value at the path, in a document that is valid? */
export function isRequired(root: JsonSchema, path: readonly string[]): boolean {
  return path.every((step, index) => {
    const parent = schemaAt(root, path.slice(0, index));
    const required = parent?.["required"];
    const field = schemaAt(root, path.slice(0, index + 1));
    return (Array.isArray(required) && required.includes(step)) || (field !== undefined && "default" in field);
  });
}

function celType(
  schema: JsonSchema,
  name: string,
  root: JsonSchema,
  register: (name: string, fields: Record<string, string>) => string,
  depth: number,
): string {
  if (depth > MAX_DEPTH) return "dyn";
  const { type, items, additionalProperties, ...rest } = resolve(schema, root);
  const inner = (part: unknown, step: string): string =>
    isSchema(part) ? celType(part, `${name}_${step}`, root, register, depth + 1) : "dyn";
  if (Array.isArray(rest["enum"])) return commonType(rest["enum"]);
  if ("const" in rest) return commonType([rest["const"]]);
  if (type === "integer") return "int";
  if (type === "number") return "double";
  if (type === "boolean") return "bool";
  if (type === "string") return "string";
  if (type === "array") return `list<${inner(items, "item")}>`;
  const properties = Object.entries(propertiesOf(rest, root));
  if (type !== "object" && (type !== undefined || properties.length === 0)) return "dyn";
  if (properties.length === 0) {
    return isSchema(additionalProperties) ? `map<string, ${inner(additionalProperties, "value")}>` : "dyn";
  }
  return register(name, Object.fromEntries(properties.map(([field, part]) => [field, inner(part, field)])));
}

function commonType(values: unknown[]): string {
  const types = new Set(
    values.map((value) => {
      if (typeof value === "string") return "string";
      if (typeof value === "boolean") return "bool";
      return Number.isInteger(value) ? "int" : "dyn";
    }),
  );
  const [first = "dyn"] = types;
  return types.size === 1 ? first : "dyn";
}

function propertiesOf(schema: JsonSchema, root: JsonSchema): Record<string, unknown> {
  const parts = Array.isArray(schema["allOf"]) ? schema["allOf"].filter(isSchema) : [];
  const merged: Record<string, unknown> = {};
  for (const part of parts) Object.assign(merged, resolve(part, root)["properties"] ?? {});
  return Object.assign(merged, schema["properties"] ?? {});
}

/** Follows references within the same file; any other one says nothing here. */
function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let current = schema;
  for (let hops = 0; typeof current["$ref"] === "string" && hops < MAX_DEPTH; hops++) {
    const reference = current["$ref"];
    if (!reference.startsWith("#")) return {};
    let target: unknown = root;
    for (const step of reference.slice(1).split("/").filter(Boolean)) {
      target = isSchema(target) ? target[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
    }
    if (!isSchema(target)) return {};
    current = target;
  }
  return current;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
