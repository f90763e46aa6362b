/**
 * Can a task go round for ever without a human? A loop is bounded when one of its rows is, by a number that grows on the way round
 * and that nothing on the way resets.
 */
import { errorAt, warningAt, type CheckFinding } from "./check-finding.js";
import { conjunctsOf, parseCondition, pathOf } from "./condition.js";
import type { Transition, Workflow } from "./types.js";

type Ast = Parameters<typeof pathOf>[0];
/** `visits.review`, `counters.crashes`, `failures`: what must stay below a number for the row to be taken. */
type Measure = string[];

/** Beyond this many loops nobody would read the answer. */
const MAX_LOOPS = 5_000;
const STOP = "wait-for-human";
/** Actions after which the visits of the phases count from 0 again. */
const RESET_VISITS = ["reset-rounds", "archive-evidence"];

export function* checkLoops(workflow: Workflow): Generator<CheckFinding> {
  const rows = workflow.transitions.filter((row) => runsByItself(workflow, row));
  const loops = findLoops(workflow, rows);
  if (loops === undefined) {
    yield warningAt(workflow, rows[0]?.line ?? 1, "unbounded-loop", "it cannot be proved that every loop is bounded", {
      expected: `at most ${MAX_LOOPS} different loops`,
      found: "more",
      hint: "bound the ways back one by one, such as `visits.PHASE < limits.NAME`, or let fewer rows lead back",
    });
    return;
  }
  const reported: Set<string>[] = [];
  for (const loop of unbounded(loops).sort((a, b) => a.length - b.length)) {
    const phases = new Set(loop.map(({ from }) => from));
    // A longer loop around a reported one would only repeat the news.
    if (reported.some((smaller) => [...smaller].every((phase) => phases.has(phase)))) continue;
    reported.push(phases);
    yield unboundedLoop(workflow, loop);
  }
}

/** Does pawl or an agent take the row without a human's word before or after it? */
function runsByItself(workflow: Workflow, row: Transition): boolean {
  const worker = workflow.phases.find(({ name }) => name === row.from)?.who.kind;
  if (worker === undefined || worker === "nobody") return false;
  if (row.by.every((sender) => sender === "human")) return false;
  if (worker === "human" && row.by.some((sender) => sender === "any" || sender === "human")) return false;
  if (row.actions.some(({ name }) => name === STOP)) return false;
  // An agent that asks again and changes nothing, or only a text, is no loop of the workflow.
  const isIdle = row.actions.every(({ name }) => name === "set-summary");
  const asksOnly = row.from === row.to && isIdle && row.event !== "next" && row.event !== "fail";
  return !asksOnly;
}

/** Every loop that passes each of its phases once, each begun at its first phase in the table; undefined when there are too many. */
function findLoops(workflow: Workflow, rows: Transition[]): Transition[][] | undefined {
  const order = new Map(workflow.phases.map(({ name }, index) => [name, index]));
  const loops: Transition[][] = [];
  let steps = 0;
  const walk = (start: string, path: Transition[]): boolean => {
    const here = path.at(-1)?.to ?? start;
    for (const row of rows) {
      if (row.from !== here) continue;
      if (++steps > MAX_LOOPS * 20 || loops.length > MAX_LOOPS) return false;
      if (row.to === start) loops.push([...path, row]);
      else if ((order.get(row.to) ?? -1) > (order.get(start) ?? 0) && !path.some(({ to }) => to === row.to)) {
        if (!walk(start, [...path, row])) return false;
      }
    }
    return true;
  };
  return workflow.phases.every(({ name }) => walk(name, [])) ? loops : undefined;
}

/**
 * A row that is only on bounded loops is taken a finite number of times, so that what it resets is reset a finite number of
 * times; knowing this may prove further loops, until nothing new is learnt.
 */
function unbounded(loops: Transition[][]): Transition[][] {
  const measures = new Map(loops.flat().map((row) => [row, measuresOf(row)]));
  let open = loops;
  for (;;) {
    const endless = new Set(open.flat());
    const left = open.filter((loop) => !loop.some((row) => isBound(measures.get(row) ?? [], row, loop, endless)));
    if (left.length === open.length) break;
    open = left;
  }
  // A loop whose bound another endless loop resets is that one's fault; two that reset each other are to blame both.
  const guilty = open.filter((loop) => !loop.some((row) => isBound(measures.get(row) ?? [], row, loop, new Set(loop))));
  return guilty.length > 0 ? guilty : open;
}

function isBound(measures: Measure[][], row: Transition, loop: Transition[], endless: Set<Transition>): boolean {
  const resets = (names: string[], argument?: string): boolean =>
    [...endless].some(({ actions }) =>
      actions.some(({ name, args }) => names.includes(name) && (argument === undefined || args.includes(argument))),
    );
  const grows = ([kind, name = ""]: Measure): boolean => {
    // Failures are counted within one visit, and only work that failed counts.
    if (kind === "failures") return loop.length === 1 && row.event !== "next";
    // A row that stays is no new visit.
    if (kind === "visits") return loop.length > 1 && loop.some(({ from }) => from === name) && !resets(RESET_VISITS);
    const counted = loop.some(({ actions }) =>
      actions.some((call) => call.name === "count" && call.args.includes(name)),
    );
    return counted && !resets(["clear"], name);
  };
  return measures.some((alternatives) => alternatives.length > 0 && alternatives.every(grows));
}

/** One list for each part of the condition: if all in it grow, the part fails in the end. */
function measuresOf({ when }: Transition): Measure[][] {
  const parsed = when === "" ? undefined : parseCondition(when);
  if (parsed === undefined || "error" in parsed) return [];
  return conjunctsOf(parsed.ast).map(upperBounds);
}

/** What an expression holds below a number, in each of the alternatives of an `||`; empty where some alternative is open. */
function upperBounds(node: Ast): Measure[] {
  if (node.op === "||") {
    const sides = node.args.map(
      (side) =>
        conjunctsOf(side)
          .map(upperBounds)
          .find((found) => found.length > 0) ?? [],
    );
    return sides.every((side) => side.length > 0) ? sides.flat() : [];
  }
  if (node.op === "<" || node.op === "<=" || node.op === "==") {
    const measure = measureOf(node.args[0]);
    if (measure !== undefined && isFixed(node.args[1])) return [measure];
  }
  if (node.op === ">" || node.op === ">=" || node.op === "==") {
    const measure = measureOf(node.args[1]);
    if (measure !== undefined && isFixed(node.args[0])) return [measure];
  }
  return [];
}

function measureOf(node: Ast): Measure | undefined {
  const path = pathOf(node);
  const known = path?.length === 1 ? path[0] === "failures" : path?.[0] === "visits" || path?.[0] === "counters";
  return known ? path : undefined;
}

function isFixed(node: Ast): boolean {
  return node.op === "value" || pathOf(node)?.[0] === "limits";
}

function unboundedLoop(workflow: Workflow, loop: Transition[]): CheckFinding {
  const closing = loop.at(-1);
  const phases = [...loop.map(({ from }) => from), loop[0]?.from ?? ""];
  const [first = ""] = phases;
  const message = `nothing bounds the loop ${phases.join(" → ")}`;
  const limit = Object.keys(workflow.limits)[0] ?? "rounds";
  const measure = loop.length === 1 ? (closing?.event === "fail" ? "failures" : "counters.NAME") : `visits.${first}`;
  const count = measure.startsWith("counters") ? " with `count NAME` under Do," : "";
  return errorAt(workflow, closing?.line ?? 1, "unbounded-loop", message, {
    expected: "a row on it with an upper bound, a human's word, or the action wait-for-human",
    found: loop.map(({ from, event, when, line }) => `line ${line}: ${from}, ${event}, ${when || "always"}`).join("; "),
    hint: `bound this row: \`${measure} < limits.${limit}\`,${count} and add a row after it for when the bound is reached`,
  });
}
