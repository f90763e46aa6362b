/**
 * What can be proved of conditions without evaluating them: can these hold together, does this one leave any case for that one?
 *
 * A condition becomes a formula over variables with few values each: an expression that is compared with constants takes
 * one value on, below, above and between them; two expressions that are compared with each other are less, equal or greater; any
 * other expression is true or false. Every variable may also have no value, because a field may be missing, and a condition
 * whose value is not known to be true opens nothing. The real cases are among these, so "never" is a proof; "perhaps" is not.
 */
import { serialize, type ASTNode } from "@marcbachmann/cel-js";
import { parseCondition, pathOf } from "./condition.js";
import { isPossible, MISSING, type Domain, type Formula, type Value } from "./formula.js";

/** Stands for every string that no condition mentions. */
const OTHER = "\u0000other";

const MIRRORED: Record<string, string> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!=" };

/** The conditions of rows that compete with each other; they must share one instance to be compared. */
export class ConditionLogic {
  private readonly constants = new Map<string, Set<number | string>>();
  private readonly kinds = new Map<string, "boolean" | "order" | "constants">();
  private readonly wholeNumbers = new Set<string>();
  private readonly partial = new Set<string>();
  private domains: Map<string, Domain> | undefined;

  /** `always` says whether a path has a value in every case. */
  constructor(private readonly always: (path: readonly string[]) => boolean) {}

  /** `needs` are the artifacts without which the row is not even looked at. */
  formula(ast: ASTNode | undefined, needs: readonly string[]): Formula {
    this.domains = undefined;
    const parts = needs.map((name) => this.booleanAtom(`present ${name}`));
    if (ast !== undefined) parts.push(this.compile(ast));
    return { op: "and", parts };
  }

  /** Is there a case in which all of the first hold and none of the second? Undefined: too much to try. */
  possible(hold: readonly Formula[], fail: readonly Formula[] = []): boolean | undefined {
    return isPossible(hold, fail, (this.domains ??= this.makeDomains()));
  }

  private compile(node: ASTNode): Formula {
    if (node.op === "&&" || node.op === "||") {
      return { op: node.op === "&&" ? "and" : "or", parts: node.args.map((part) => this.compile(part)) };
    }
    if (node.op === "!_") return { op: "not", part: this.compile(node.args) };
    if (node.op === "?:") {
      const [test, yes, no] = node.args;
      return { op: "if", test: this.compile(test), yes: this.compile(yes), no: this.compile(no) };
    }
    if (node.op === "value" && typeof node.args === "boolean") return { op: "constant", value: node.args };
    if (node.op === "in" && node.args[1].op === "list") {
      const [element, list] = node.args;
      return { op: "or", parts: list.args.map((item) => this.comparison("==", element, item)) };
    }
    if (node.op in MIRRORED) {
      const [left, right] = node.args as [ASTNode, ASTNode];
      return this.comparison(node.op, left, right);
    }
    return this.booleanAtom(serialize(node), node);
  }

  private comparison(op: string, left: ASTNode, right: ASTNode): Formula {
    const [a, b] = [literalOf(left), literalOf(right)];
    if (a !== undefined && b !== undefined) return { op: "constant", value: compare(op, a, b) };
    if (a !== undefined) return this.comparison(MIRRORED[op] ?? op, right, left);
    if (typeof b === "boolean") {
      const same: Formula = this.compile(left);
      return (op === "==") === b ? same : { op: "not", part: same };
    }
    if (typeof b === "string" && op !== "==" && op !== "!=") {
      return this.booleanAtom(`${serialize(left)} ${op} ${JSON.stringify(b)}`, left);
    }
    if (b !== undefined) {
      const variable = this.variable(serialize(left), "constants", [left]);
      this.constants.set(variable, (this.constants.get(variable) ?? new Set()).add(b));
      if (isWholeNumber(left)) this.wholeNumbers.add(variable);
      return { op: "atom", variable, test: (value) => compare(op, value, b) };
    }
    const [first, second] = [serialize(left), serialize(right)];
    if (first > second) return this.comparison(MIRRORED[op] ?? op, right, left);
    const variable = this.variable(`${first} ? ${second}`, "order", [left, right]);
    return { op: "atom", variable, test: (value) => compare(op, value, 0) };
  }

  private booleanAtom(name: string, node?: ASTNode): Formula {
    const variable = this.variable(name, "boolean", node === undefined ? [] : [node]);
    return { op: "atom", variable, test: (value) => value === true };
  }

  private variable(name: string, kind: "boolean" | "order" | "constants", nodes: ASTNode[]): string {
    const variable = `${kind} ${name}`;
    this.kinds.set(variable, kind);
    if (nodes.some((node) => !this.hasValue(node))) this.partial.add(variable);
    return variable;
  }

  private hasValue(node: ASTNode): boolean {
    const path = pathOf(node);
    if (path !== undefined) return this.always(path);
    const parsed = parseCondition(serialize(node));
    return "condition" in parsed && parsed.condition.references.every((reference) => this.always(reference));
  }

  private makeDomains(): Map<string, Domain> {
    const domains = new Map<string, Domain>();
    for (const [variable, kind] of this.kinds) {
      const values: Domain =
        kind === "boolean"
          ? [true, false]
          : kind === "order"
            ? [-1, 0, 1]
            : samples([...(this.constants.get(variable) ?? [])], this.wholeNumbers.has(variable));
      domains.set(variable, this.partial.has(variable) ? [...values, MISSING] : values);
    }
    return domains;
  }
}

/** One value for every case that comparisons with these constants can tell apart. */
function samples(constants: (number | string)[], wholeNumber: boolean): Domain {
  const strings = constants.filter((constant) => typeof constant === "string");
  const numbers = constants.filter((constant) => typeof constant === "number").sort((a, b) => a - b);
  const values: Domain = strings.length > 0 ? [...strings, OTHER] : [];
  if (wholeNumber) {
    // Sizes and counts: never below 0, nothing between 0 and 1.
    const near = numbers.flatMap((number) => [Math.ceil(number) - 1, Math.ceil(number), Math.floor(number) + 1]);
    return [...values, ...new Set(near.filter((number) => number >= 0))];
  }
  numbers.forEach((number, index) => {
    const before = numbers[index - 1];
    values.push(before === undefined ? number - 1 : (before + number) / 2, number);
  });
  const last = numbers.at(-1);
  return last === undefined ? values : [...values, last + 1];
}

function isWholeNumber(node: ASTNode): boolean {
  if ((node.op === "call" || node.op === "rcall") && node.args[0] === "size") return true;
  return ["visits", "counters", "failures"].includes(pathOf(node)?.[0] ?? "");
}

/** Undefined for anything that is not written as a constant. */
function literalOf(node: ASTNode): Value | undefined {
  if (node.op === "-_") {
    const value = literalOf(node.args);
    return typeof value === "number" ? -value : undefined;
  }
  if (node.op !== "value") return undefined;
  if (typeof node.args === "bigint") return Number(node.args);
  const value = node.args;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : undefined;
}

function compare(op: string, a: Value, b: Value): boolean {
  if (op === "==") return a === b;
  if (op === "!=") return a !== b;
  if (typeof a !== typeof b) return false;
  if (op === "<") return a < b;
  if (op === "<=") return a <= b;
  return op === ">" ? a > b : a >= b;
}
