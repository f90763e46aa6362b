/** Formulas over variables with few values each, and the search for a case in which they hold. Knows nothing of conditions. */

export type Formula =
  | { op: "and" | "or"; parts: Formula[] }
  | { op: "not"; part: Formula }
  | { op: "if"; test: Formula; yes: Formula; no: Formula }
  | { op: "constant"; value: boolean }
  | { op: "atom"; variable: string; test: (value: Value) => boolean };

export type Value = boolean | number | string;
export type Domain = (Value | typeof MISSING)[];
/** Not a value: what an expression over a missing field gives. */
export const MISSING = Symbol("no value");

/** Possible results of a formula while some variables are still open, as bits. */
const TRUE = 1;
const FALSE = 2;
const ERROR = 4;

/** Beyond this many steps a question stays unanswered. */
const MAX_STEPS = 50_000;

/** Is there a case in which all of the first hold and none of the second? Undefined: too much to try. */
export function isPossible(
  hold: readonly Formula[],
  fail: readonly Formula[],
  domains: ReadonlyMap<string, Domain>,
): boolean | undefined {
  const assigned = new Map<string, Value | typeof MISSING>();
  let steps = 0;
  const search = (): boolean => {
    if (++steps > MAX_STEPS) throw MISSING;
    const open = new Set<string>();
    for (const formula of hold) {
      const undecided = new Set<string>();
      const bits = results(formula, assigned, domains, undecided);
      if ((bits & TRUE) === 0) return false;
      if (bits !== TRUE) undecided.forEach((variable) => open.add(variable));
    }
    for (const formula of fail) {
      const undecided = new Set<string>();
      const bits = results(formula, assigned, domains, undecided);
      if (bits === TRUE) return false;
      if ((bits & TRUE) !== 0) undecided.forEach((variable) => open.add(variable));
    }
    const [variable] = open;
    if (variable === undefined) return true;
    for (const value of domains.get(variable) ?? []) {
      assigned.set(variable, value);
      if (search()) return true;
    }
    assigned.delete(variable);
    return false;
  };
  try {
    return search();
  } catch (error) {
    if (error === MISSING) return undefined;
    throw error;
  }
}

/** The names of a formula's variables, to tell a special case from a general one. */
export function variablesOf(formula: Formula): Set<string> {
  switch (formula.op) {
    case "constant":
      return new Set();
    case "atom":
      return new Set([formula.variable]);
    case "not":
      return variablesOf(formula.part);
    case "if":
      return new Set([formula.test, formula.yes, formula.no].flatMap((part) => [...variablesOf(part)]));
    default:
      return new Set(formula.parts.flatMap((part) => [...variablesOf(part)]));
  }
}

/** Errors behave as in CEL: `false && error` is false, `true || error` is true. Undecided variables are added to `open`. */
function results(
  formula: Formula,
  assigned: ReadonlyMap<string, Value | typeof MISSING>,
  domains: ReadonlyMap<string, Domain>,
  open: Set<string>,
): number {
  const of = (part: Formula): number => results(part, assigned, domains, open);
  switch (formula.op) {
    case "constant":
      return formula.value ? TRUE : FALSE;
    case "atom": {
      const one = (value: Value | typeof MISSING): number =>
        value === MISSING ? ERROR : formula.test(value) ? TRUE : FALSE;
      const value = assigned.get(formula.variable);
      if (value !== undefined) return one(value);
      open.add(formula.variable);
      return (domains.get(formula.variable) ?? []).reduce<number>((bits, each) => bits | one(each), 0);
    }
    case "not": {
      const bits = of(formula.part);
      return (bits & TRUE ? FALSE : 0) | (bits & FALSE ? TRUE : 0) | (bits & ERROR);
    }
    case "if": {
      const test = of(formula.test);
      return (test & TRUE ? of(formula.yes) : 0) | (test & FALSE ? of(formula.no) : 0) | (test & ERROR);
    }
    default: {
      const absorbing = formula.op === "and" ? FALSE : TRUE;
      const neutral = TRUE + FALSE - absorbing;
      return formula.parts.reduce<number>((left, part) => {
        if (left === absorbing) return left;
        const right = of(part);
        const absorbed = (left | right) & absorbing;
        const both = left & right & neutral;
        const failed = (left & ERROR && right & (ERROR | neutral)) || (right & ERROR && left & (ERROR | neutral));
        return absorbed | both | (failed ? ERROR : 0);
      }, neutral);
    }
  }
}
