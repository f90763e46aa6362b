/** What the build needs of pawl's own code. */
import standaloneCode from "ajv/dist/standalone/index.js";
import { createAjv } from "../src/system/compile-schema.js";
import { sha256 } from "../src/workflow/hash.js";
import { parseWorkflow } from "../src/workflow/parse-workflow.js";

interface Source {
  name: string;
  text: string;
}

export function compileWorkflows(documents: Source[]): string {
  return JSON.stringify(
    Object.fromEntries(documents.map(({ name, text }) => [sha256(text), parseWorkflow(text, name)])),
  );
}

/** A CommonJS module that exports `validators`, keyed by the hash of the schema's text. */
export function compileValidators(schemas: Source[]): string {
  const ajv = createAjv({ code: { source: true } });
  const names: Record<string, string> = {};
  const entries = schemas.map(({ name, text }, index) => {
    ajv.addSchema(JSON.parse(text) as object, name);
    names[`schema${index}`] = name;
    return `${JSON.stringify(sha256(text))}: exports.schema${index}`;
  });
  return `${standaloneCode.default(ajv, names)}\nexports.validators = {${entries.join(", ")}};\n`;
}
