/** Does every phase have a way in, a way on, and a way to the end? */
import { errorAt, type CheckFinding } from "./check-finding.js";
import { isTerminal } from "./graph-edges.js";
import type { Phase, Workflow } from "./types.js";

export function* checkGraph(workflow: Workflow): Generator<CheckFinding> {
  const reached = reachablePhases(workflow);
  const ends = workflow.phases.filter(isTerminal).map(({ name }) => name);
  // Work in a directory goes on with what comes next, for as long as there is something; a task is done one day.
  if (ends.length === 0 && workflow.phases.length > 0 && workflow.state.at !== "work") {
    yield errorAt(workflow, workflow.phases[0]?.line ?? 1, "no-end", "the workflow has no terminal phase", {
      expected: "a phase with nothing under Who",
      found: "none",
      hint: "add a phase such as `done`, leave its Who empty, and let a row lead to it",
    });
  }
  const deadEnds = workflow.phases.filter((phase) => !isTerminal(phase) && waysOn(workflow, phase).length === 0);
  const ending = canReach(workflow, [...ends, ...deadEnds.map(({ name }) => name)]);
  for (const phase of workflow.phases) {
    if (reached.size > 0 && !reached.has(phase.name)) yield unreachable(workflow, phase);
    if (isTerminal(phase)) yield* rowsOutOfEnd(workflow, phase);
    else if (deadEnds.includes(phase)) {
      yield errorAt(workflow, phase.line, "no-way-out", `no row leads out of \`${phase.name}\` to another phase`, {
        expected: `a row from ${phase.name} to another phase`,
        found: workflow.transitions.some(({ from }) => from === phase.name) ? "only rows that stay" : "no row",
        hint: "add the row, or leave Who empty if this is an end",
      });
    } else if (ends.length > 0 && !ending.has(phase.name)) {
      yield errorAt(workflow, phase.line, "cannot-end", `a task in \`${phase.name}\` cannot end`, {
        expected: `rows that lead to a terminal phase: ${ends.join(", ")}`,
        found: "none, whichever way is taken",
        hint: "add a row that leads out of this circle of phases",
      });
    }
  }
}

/** The phases that a task can get to by rows; empty when the initial phase is no phase. */
export function reachablePhases(workflow: Workflow): Set<string> {
  const names = new Set(workflow.phases.map(({ name }) => name));
  const reached = new Set(names.has(workflow.initial) ? [workflow.initial] : []);
  // A Set is iterated in the order of insertion, including what is added meanwhile.
  for (const phase of reached) {
    for (const { from, to } of workflow.transitions) if (from === phase && names.has(to)) reached.add(to);
  }
  return reached;
}

/** A human's override or redo gets anywhere, but that is a way past the table, not one that it shows. */
function unreachable(workflow: Workflow, phase: Phase): CheckFinding {
  const message = `no task gets to \`${phase.name}\` from the initial phase \`${workflow.initial}\``;
  return errorAt(workflow, phase.line, "unreachable", message, {
    expected: `a row that leads to ${phase.name} from a phase that can be reached`,
    found: "none",
    hint: "add the row, or remove the phase",
  });
}

function* rowsOutOfEnd(workflow: Workflow, phase: Phase): Generator<CheckFinding> {
  for (const row of workflow.transitions.filter(({ from }) => from === phase.name)) {
    yield errorAt(workflow, row.line, "row-out-of-end", `\`${phase.name}\` is an end, but this row leads out of it`, {
      expected: "no row from a terminal phase",
      found: `${row.from} → ${row.to}`,
      hint: `say who works in \`${phase.name}\` (line ${phase.line}), or remove the row`,
    });
  }
}

function waysOn(workflow: Workflow, phase: Phase): string[] {
  return workflow.transitions.filter(({ from, to }) => from === phase.name && to !== phase.name).map(({ to }) => to);
}

/** The phases from which one of the targets can be reached. */
function canReach(workflow: Workflow, targets: string[]): Set<string> {
  const found = new Set(targets);
  for (const target of found) {
    for (const { from, to } of workflow.transitions) if (to === target) found.add(from);
  }
  return found;
}
