/** Rows are tried in order: does each get its turn, and is the order what decides where it should not? */
import { errorAt, warningAt, type CheckFinding, type Known } from "./check-finding.js";
import { parseCondition } from "./condition.js";
import { ConditionLogic } from "./condition-logic.js";
import { isRequired, schemaOf } from "./condition-types.js";
import { variablesOf, type Formula } from "./formula.js";
import type { Transition, Workflow } from "./types.js";

interface Rule {
  row: Transition;
  formula: Formula;
}

/** What the engine keeps is always there; fields of an artifact are when its schema requires them. */
const ALWAYS_THERE = ["visits", "counters", "limits", "failures", "waiting"];

export function* checkRows(workflow: Workflow, known: Known): Generator<CheckFinding> {
  for (const competing of groups(workflow)) {
    const logic = new ConditionLogic((path) => isAlwaysThere(workflow, known, path));
    const rules = competing.flatMap((row) => ruleOf(workflow, logic, row));
    for (const [index, rule] of rules.entries()) {
      const earlier = rules.slice(0, index);
      const never = neverFires(workflow, logic, rule, earlier);
      if (never !== undefined) yield never;
      else yield* overlaps(workflow, logic, rule, earlier);
    }
  }
}

/** Rows that compete: those of one phase and one event. */
function groups(workflow: Workflow): Transition[][] {
  const found = new Map<string, Transition[]>();
  for (const row of workflow.transitions) {
    const key = JSON.stringify([row.from, row.event]);
    found.set(key, [...(found.get(key) ?? []), row]);
  }
  return [...found.values()];
}

/** Nothing for a condition that is no CEL: that is said elsewhere. */
function ruleOf(workflow: Workflow, logic: ConditionLogic, row: Transition): Rule[] {
  const parsed = row.when === "" ? undefined : parseCondition(row.when);
  if (parsed !== undefined && "error" in parsed) return [];
  const mentioned = new Set(parsed?.condition.references.map(([name = ""]) => name));
  // `next` completes a phase: what the phase must leave has to be there, whichever way it goes.
  const leaves = row.event === "next" ? workflow.phases.find(({ name }) => name === row.from)?.leaves : [];
  const needs = workflow.artifacts.filter(({ name }) => mentioned.has(name) || leaves?.includes(name));
  return [
    {
      row,
      formula: logic.formula(
        parsed?.ast,
        needs.map(({ name }) => name),
      ),
    },
  ];
}

function isAlwaysThere(workflow: Workflow, known: Known, [name = "", ...path]: readonly string[]): boolean {
  if (ALWAYS_THERE.includes(name)) return true;
  const artifact = workflow.artifacts.find((each) => each.name === name);
  const schema = artifact === undefined ? undefined : schemaOf(artifact, known.schemas);
  return schema !== undefined && isRequired(schema, path);
}

function neverFires(
  workflow: Workflow,
  logic: ConditionLogic,
  { row, formula }: Rule,
  earlier: Rule[],
): CheckFinding | undefined {
  const twin = earlier.find((other) => sameText(other.row, row));
  if (twin !== undefined) {
    return errorAt(workflow, row.line, "duplicate-row", `this row stands in line ${twin.row.line} already`, {
      expected: "every row once",
      found: describe(row),
      hint: "remove one of them",
    });
  }
  if (logic.possible([formula]) === false) {
    return errorAt(workflow, row.line, "dead-row", `this row can never be taken: \`${row.when}\` is never true`, {
      column: row.whenColumn,
      expected: "a condition that can hold",
      found: row.when,
      hint: "correct the condition, or remove the row",
    });
  }
  const before = earlier.filter((other) => covers(other.row.by, row.by));
  const single = before.find((other) => logic.possible([formula], [other.formula]) === false);
  const all = before.map((other) => other.formula);
  if (single === undefined && (before.length < 2 || logic.possible([formula], all) !== false)) return undefined;
  const lines = (single === undefined ? before : [single]).map((other) => other.row.line).join(", ");
  const message = `this row can never be taken: whenever it could be, ${single === undefined ? "one of the rows of lines" : "the row of line"} ${lines} is taken before it`;
  return errorAt(workflow, row.line, "dead-row", message, {
    expected: "a case that no earlier row takes",
    found: describe(row),
    hint: "rows are tried in order: put the special case before the general one, or remove this row",
  });
}

function* overlaps(
  workflow: Workflow,
  logic: ConditionLogic,
  { row, formula }: Rule,
  earlier: Rule[],
): Generator<CheckFinding> {
  for (const other of earlier) {
    if (!intersect(other.row.by, row.by) || sameOutcome(other.row, row)) continue;
    if (isFallback(logic, { row, formula }, other)) continue;
    if (logic.possible([other.formula, formula]) !== true) continue;
    const message = `this row and the one of line ${other.row.line} can hold at the same time; only their order decides between ${outcome(other.row)} and ${outcome(row)}`;
    yield warningAt(workflow, row.line, "overlap", message, {
      column: row.whenColumn,
      expected: "conditions that exclude each other, or the special case first and the general one after it",
      found: `line ${other.row.line}: ${other.row.when || "always"}; line ${row.line}: ${row.when}`,
      hint: `make it explicit: add what line ${other.row.line} excludes to this condition, or add this row's condition to line ${other.row.line}`,
    });
  }
}

/** Special before general is what the order is for. */
function isFallback(logic: ConditionLogic, later: Rule, earlier: Rule): boolean {
  if (later.row.when === "") return true;
  if (covers(later.row.by, earlier.row.by) && !covers(earlier.row.by, later.row.by)) return true;
  if (logic.possible([earlier.formula], [later.formula]) === false) return true;
  const [special, general] = [variablesOf(earlier.formula), variablesOf(later.formula)];
  return special.size > general.size && [...general].every((variable) => special.has(variable));
}

function covers(wide: string[], narrow: string[]): boolean {
  const everybody = ["human", "agent", "pawl"];
  const asked = narrow.includes("any") ? everybody : narrow;
  return asked.every((sender) => wide.some((each) => includesSender(each, sender)));
}

function intersect(a: string[], b: string[]): boolean {
  return a.some((one) => b.some((two) => two === "any" || includesSender(one, two) || includesSender(two, one)));
}

function includesSender(wide: string, narrow: string): boolean {
  if (wide === "any" || wide === narrow) return true;
  return wide === "agent" && narrow !== "human" && narrow !== "pawl" && narrow !== "any";
}

function sameText(a: Transition, b: Transition): boolean {
  return sameOutcome(a, b) && a.when === b.when && covers(a.by, b.by) && covers(b.by, a.by);
}

function sameOutcome(a: Transition, b: Transition): boolean {
  return a.to === b.to && JSON.stringify(a.actions) === JSON.stringify(b.actions);
}

function outcome({ to, actions }: Transition): string {
  const calls = actions.map(({ name, args }) => [name, ...args].join(" ")).join(", ");
  return calls === "" ? to : `${to} (${calls})`;
}

function describe(row: Transition): string {
  return `${row.from}, ${row.event} → ${outcome(row)}${row.when === "" ? "" : ` when ${row.when}`}`;
}
