/** A form made from a JSON Schema, so that a person can do any phase: one question after the other. */
import type { JsonSchema } from "../system/schemas.js";

/** The port to a person; every answer is null when the form was left. */
export interface FormAsker {
  select(question: string, choices: string[]): Promise<string | null>;
  /** What `problem` objects to is asked for again at once, with its words; it does not come back. */
  input(
    question: string,
    options: { required: boolean; problem?: (text: string) => string | null },
  ): Promise<string | null>;
  confirm(question: string): Promise<boolean | null>;
  /** Several lines. `again` says why they are asked for once more. */
  editor(question: string, again?: string): Promise<string | null>;
}

/** Said where a required answer is empty. */
export const NEEDED = "something has to be said here";

/** The person would rather not. */
class Left extends Error {}

export async function fillForm(schema: JsonSchema, asker: FormAsker): Promise<Record<string, unknown> | null> {
  try {
    return await askObject(schema, "", asker);
  } catch (error) {
    if (error instanceof Left) return null;
    throw error;
  }
}

/** What pawl fills in itself is not asked for. */
const OWN_PARTS = ["who", "now", "evidence"];

async function askObject(schema: JsonSchema, path: string, asker: FormAsker): Promise<Record<string, unknown>> {
  // One person's verdict stands at the top; what several came to together would only say it again.
  const names = Object.keys((schema["properties"] ?? {}) as Record<string, JsonSchema>).filter(
    (name) => name !== schema["x-lift"],
  );
  const value: Record<string, unknown> = {};
  for (const name of names) {
    const field = fieldNow(schema, name, value);
    if (field === null) continue;
    const { property, required } = field;
    if (OWN_PARTS.includes(String(property["x-answer"]))) continue;
    const label = path === "" ? name : `${path}, ${name}`;
    if (!required && !answered(await asker.confirm(`${label}: fill it in?${about(property)}`))) continue;
    value[name] = await askValue(property, label, asker);
  }
  return value;
}

interface Field {
  property: JsonSchema;
  required: boolean;
}

/** A field as the conditions of the schema have it after the answers so far: one decision is left, or none at all (null). */
function fieldNow(schema: JsonSchema, name: string, value: Record<string, unknown>): Field | null {
  const rules = ((schema["allOf"] ?? []) as { if?: JsonSchema; then?: JsonSchema }[])
    .filter((rule) => rule.if !== undefined && holds(rule.if, value))
    .map((rule) => rule.then ?? {});
  const parts = [schema, ...rules];
  const properties = parts.map(
    (part) => (part["properties"] as Record<string, JsonSchema | false> | undefined)?.[name],
  );
  if (properties.includes(false)) return null;
  return {
    property: Object.assign({}, ...properties) as JsonSchema,
    required: parts.some((part) => (part["required"] as string[] | undefined)?.includes(name) === true),
  };
}

/** The conditions that schemas of artifacts use: fields that are there, fields with one value, and the opposite of that. */
function holds(condition: JsonSchema, value: Record<string, unknown>): boolean {
  const not = condition["not"] as JsonSchema | undefined;
  if (not !== undefined && holds(not, value)) return false;
  if (!((condition["required"] ?? []) as string[]).every((name) => name in value)) return false;
  return Object.entries((condition["properties"] ?? {}) as Record<string, JsonSchema>).every(
    ([name, property]) => !(name in value) || !("const" in property) || value[name] === property["const"],
  );
}

async function askValue(schema: JsonSchema, label: string, asker: FormAsker): Promise<unknown> {
  const question = `${label}${about(schema)}`;
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"])) return answered(await asker.select(question, schema["enum"].map(String)));
  const type = Array.isArray(schema["type"]) ? (schema["type"] as string[])[0] : schema["type"];
  switch (type) {
    case "boolean":
      return answered(await asker.confirm(question));
    case "array":
      return askList(schema, label, question, asker);
    case "object":
      return askObject(schema, label, asker);
    case "integer":
    case "number":
      return askNumber(schema, question, type === "integer", asker);
    default: {
      const required = Number(schema["minLength"] ?? 0) > 0;
      if (schema["x-form"] === "text") return askText(question, required, asker);
      return answered(await asker.input(question, { required }));
    }
  }
}

async function askList(schema: JsonSchema, label: string, question: string, asker: FormAsker): Promise<unknown[]> {
  const items = (schema["items"] ?? { type: "string" }) as JsonSchema;
  const least = Number(schema["minItems"] ?? 0);
  const most = Number(schema["maxItems"] ?? Infinity);
  const values: unknown[] = [];
  const goesOn = async (): Promise<boolean> =>
    values.length < least ||
    answered(await asker.confirm(values.length === 0 ? `${question}: add one?` : `${label}: another one?`));
  while (values.length < most && (await goesOn())) {
    values.push(await askValue(items, `${label} ${values.length + 1}`, asker));
  }
  return values;
}

async function askNumber(schema: JsonSchema, question: string, whole: boolean, asker: FormAsker): Promise<number> {
  const least = Number(schema["minimum"] ?? -Infinity);
  const most = Number(schema["maximum"] ?? Infinity);
  const problem = (text: string): string | null => {
    const value = Number(text);
    const found = `found ${text.trim()}`;
    if (!(whole ? Number.isSafeInteger(value) : Number.isFinite(value)))
      return `expected a ${whole ? "whole " : ""}number, ${found}`;
    if (value < least) return `expected at least ${least}, ${found}`;
    return value > most ? `expected at most ${most}, ${found}` : null;
  };
  return Number(answered(await asker.input(question, { required: true, problem })));
}

/** Several lines, and something in them where the schema asks for it. Whoever has nothing to say twice wants to leave. */
async function askText(question: string, required: boolean, asker: FormAsker): Promise<string> {
  const text = answered(await asker.editor(question)).trim();
  if (text !== "" || !required) return text;
  const again = answered(await asker.editor(question, `${NEEDED}; left empty again, the form is left`)).trim();
  return answered(again === "" ? null : again);
}

function about(schema: JsonSchema): string {
  return typeof schema["description"] === "string" ? ` (${schema["description"].replace(/\.$/, "")})` : "";
}

function answered<T>(answer: T | null): T {
  if (answer === null) throw new Left();
  return answer;
}
