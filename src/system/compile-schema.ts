/** ajv, set up the way pawl uses it; loaded only where a schema has not been compiled when pawl was built. */
import { Ajv2020, type Options } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { OWN_KEYWORDS } from "./schemas.js";

export function createAjv(options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    useDefaults: true,
    strict: true,
    allowUnionTypes: true,
    strictTypes: false,
    strictRequired: false,
    ...options,
  });
  formats.default(ajv);
  for (const keyword of OWN_KEYWORDS) ajv.addKeyword({ keyword });
  return ajv;
}

export function compileSchema(schema: object): (value: unknown) => boolean {
  return createAjv().compile(schema);
}
