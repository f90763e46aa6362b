/** What JSON has to look like, as a table of checks. Used on every look at a task: no library, and nothing to compile. */

export interface Misfit {
  /** JSON pointer. */
  pointer: string;
  expected: string;
  found: unknown;
}

export type Check = (value: unknown, pointer: string) => Misfit[];

export const text = check("text", (value) => typeof value === "string");
export const flag = check("true or false", (value) => typeof value === "boolean");
export const whole = check("a whole number", Number.isSafeInteger);
export const count = check("a whole number, 0 or more", (value) => Number.isSafeInteger(value) && Number(value) >= 0);
export const anObject = check("an object", isObject);

export function check(expected: string, holds: (value: unknown) => boolean): Check {
  return (value, pointer) => (holds(value) ? [] : [{ pointer, expected, found: value }]);
}

export function oneOf(...values: string[]): Check {
  return check(`one of: ${values.join(", ")}`, (value) => values.includes(value as string));
}

export function optional(inner: Check): Check {
  return (value, pointer) => (value === undefined ? [] : inner(value, pointer));
}

export function nullOr(inner: Check): Check {
  return (value, pointer) =>
    value === null
      ? []
      : inner(value, pointer).map((misfit) =>
          misfit.pointer === pointer ? { ...misfit, expected: `null or ${misfit.expected}` } : misfit,
        );
}

export function listOf(item: Check): Check {
  return (value, pointer) =>
    Array.isArray(value)
      ? value.flatMap((entry, index) => item(entry, `${pointer}/${index}`))
      : [{ pointer, expected: "a list", found: value }];
}

/** An object with whatever keys. */
export function mapOf(item: Check): Check {
  return (value, pointer) =>
    isObject(value)
      ? Object.entries(value).flatMap(([key, entry]) => item(entry, `${pointer}/${escape(key)}`))
      : anObject(value, pointer);
}

/** An object with these fields; others may stand beside them. */
export function shape(fields: Record<string, Check>): Check {
  return (value, pointer) =>
    isObject(value)
      ? Object.entries(fields).flatMap(([key, field]) => field(value[key], `${pointer}/${escape(key)}`))
      : anObject(value, pointer);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function showFound(found: unknown): string {
  return found === undefined ? "nothing" : JSON.stringify(found).slice(0, 80);
}

function escape(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
