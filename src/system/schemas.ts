/**
 * JSON Schemas: loading them, and holding values against them. Built-in schemas are compiled when pawl is built; others
 * when they are used.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createRequire } from "node:module";
import { invalid, messageOf, type Finding } from "../errors.js";
import { canonicalJson, sha256 } from "../workflow/hash.js";
import { valueAt } from "./json-pointer.js";
import { findSystemFile, listSystemFiles, packageRoot } from "./locate.js";

export type JsonSchema = Record<string, unknown>;

/** The part of an ajv error that is used here. */
interface SchemaError {
  instancePath: string;
  keyword: string;
  params: Record<string, unknown>;
  message?: string;
}

interface CompiledSchema {
  (value: unknown): boolean;
  errors?: SchemaError[] | null;
}

/** Keywords of our own: where an answer's parts go, what is long text in a form, which part's fields also stand at the top. */
export const OWN_KEYWORDS = ["x-answer", "x-form", "x-lift"];

interface LoadedSchema {
  schema: JsonSchema;
  hash: string;
}

/** By path; a text that has changed is another schema. */
const loaded = new Map<string, LoadedSchema & { text: string }>();

export function loadSchema(name: string, workspace: string): LoadedSchema {
  const file = findSystemFile("schemas", name, workspace);
  if (file === undefined) {
    throw invalid(`there is no schema ${name}`, {
      hint: `put it into system/schemas, beside ${listSystemFiles("schemas", ".json", workspace)
        .map((each) => each.name)
        .join(", ")}`,
    });
  }
  const text = readFileSync(file.path, "utf8");
  const known = loaded.get(file.path);
  if (known?.text === text) return known;
  try {
    const read = { schema: JSON.parse(text) as JsonSchema, hash: sha256(text), text };
    loaded.set(file.path, read);
    return read;
  } catch (error) {
    throw invalid(`the schema ${file.path} is not JSON: ${messageOf(error)}`, { hint: "mend the file" });
  }
}

/**
 * Findings as JSON pointer, expected, found. Fills in defaults, and lifts a part's fields to the top where the schema says so.
 * Each schema is read once: what is judged in one go is judged by the same rules.
 */
export function validatorFor(workspace: string): (schema: string, value: unknown, file: string) => Promise<Finding[]> {
  const ready = new Map<string, { schema: JsonSchema; validate: CompiledSchema }>();
  return async (name, value, file) => {
    let known = ready.get(name);
    if (known === undefined) {
      const { schema, hash } = loadSchema(name, workspace);
      ready.set(name, (known = { schema, validate: await compile(schema, hash, name) }));
    }
    return validateWith(known.validate, known.schema, value, file);
  };
}

function validateWith(validate: CompiledSchema, schema: JsonSchema, value: unknown, file: string): Finding[] {
  // Before defaults are filled in: what nobody wrote contradicts nothing.
  const part = schema["x-lift"];
  const lifted = typeof part === "string" && isObject(value) && isObject(value[part]) ? { ...value[part] } : {};
  const top = isObject(value) ? Object.keys(value) : [];
  // `if` only repeats what its `then` says better.
  const errors = validate(value) ? [] : (validate.errors ?? []).filter((error) => error.keyword !== "if");
  const findings = errors.map((error) => findingOf(error, value, schema, file));
  const isLifted = typeof part === "string" && isObject(value);
  return unique(isLifted ? [...findings, ...lift(value, top, lifted, part, file)] : findings);
}

async function compile(schema: JsonSchema, hash: string, name: string): Promise<CompiledSchema> {
  const known = knownValidators();
  const compiled = known[hash];
  if (compiled !== undefined) return compiled;
  const { compileSchema } = await import("./compile-schema.js");
  try {
    return (known[hash] = compileSchema(schema));
  } catch (error) {
    throw invalid(`the schema ${name} cannot be used: ${messageOf(error)}`, {
      hint: "it has to be JSON Schema, draft 2020-12",
    });
  }
}

/** By the hash of the schema's text. */
let validators: Record<string, CompiledSchema> | undefined;

function knownValidators(): Record<string, CompiledSchema> {
  if (validators !== undefined) return validators;
  const file = join(packageRoot(), "dist", "validators.cjs");
  if (!existsSync(file)) return (validators = {});
  const module = createRequire(import.meta.url)(file) as { validators: Record<string, CompiledSchema> };
  return (validators = { ...module.validators });
}

/** The fields of `value[part]` are also those of `value`; where both say something, they have to say the same. */
function lift(
  value: Record<string, unknown>,
  top: string[],
  inner: Record<string, unknown>,
  part: string,
  file: string,
): Finding[] {
  const findings: Finding[] = [];
  for (const [key, entry] of Object.entries(inner)) {
    if (!top.includes(key)) value[key] = entry;
    else if (canonicalJson(value[key]) !== canonicalJson(entry)) {
      findings.push({
        message: `${file}: /${key} and /${part}/${key} contradict each other`,
        file,
        pointer: `/${part}/${key}`,
        expected: JSON.stringify(value[key]),
        found: JSON.stringify(entry),
      });
    }
  }
  return findings;
}

/** Two rules of a schema may ask for the same. */
function unique(findings: Finding[]): Finding[] {
  const said = new Set<string>();
  return findings.filter(({ message }) => !said.has(message) && said.add(message));
}

function findingOf(error: SchemaError, value: unknown, schema: JsonSchema, file: string): Finding {
  const { expected, pointer, found } = describe(error, value, schema);
  return {
    message: `${file}: ${pointer === "" ? "/" : pointer} expected ${expected}, found ${found}`,
    file,
    pointer,
    expected,
    found,
  };
}

function describe(
  error: SchemaError,
  value: unknown,
  schema: JsonSchema,
): { expected: string; pointer: string; found: string } {
  const { instancePath, keyword, params } = error;
  const found = show(valueAt(value, instancePath));
  const say = (expected: string): { expected: string; pointer: string; found: string } => ({
    expected,
    pointer: instancePath,
    found,
  });
  switch (keyword) {
    case "required": {
      const property = String(params["missingProperty"]);
      const pointer = `${instancePath}/${property}`;
      const type =
        instancePath === ""
          ? typeName((schema["properties"] as Record<string, JsonSchema> | undefined)?.[property])
          : "a value";
      return { expected: type, pointer, found: "nothing" };
    }
    case "type":
      return say(
        [params["type"]]
          .flat()
          .map((type) => article(String(type)))
          .join(" or "),
      );
    case "enum":
      return say(
        `one of ${(params["allowedValues"] as unknown[]).map((allowed) => JSON.stringify(allowed)).join(", ")}`,
      );
    case "const":
      return say(JSON.stringify(params["allowedValue"]));
    case "additionalProperties":
      return {
        expected: "no further field",
        pointer: `${instancePath}/${String(params["additionalProperty"])}`,
        found: "one",
      };
    case "minItems":
      return say(`at least ${String(params["limit"])} entries`);
    case "maxItems":
      return say(params["limit"] === 0 ? "an empty list" : `at most ${String(params["limit"])} entries`);
    case "minLength":
      return say("text that is not empty");
    case "false schema":
      return say("nothing, with what else was said");
    default:
      return say(error.message ?? keyword);
  }
}

function typeName(schema: JsonSchema | undefined): string {
  if (Array.isArray(schema?.["enum"]))
    return `one of ${schema["enum"].map((allowed) => JSON.stringify(allowed)).join(", ")}`;
  return typeof schema?.["type"] === "string" ? article(schema["type"]) : "a value";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function article(type: string): string {
  if (type === "null") return type;
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function show(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
