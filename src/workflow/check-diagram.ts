/** The diagram is for people; it must not say anything else than the table. */
import { didYouMean, errorAt, type CheckFinding } from "./check-finding.js";
import { ENDPOINT, isTerminal, tableEdges } from "./graph-edges.js";
import type { Diagram, DiagramEdge, Workflow } from "./types.js";

const FIX = "run `pawl spec check --fix` to have the diagram made from the table";

export function* checkDiagram(workflow: Workflow): Generator<CheckFinding> {
  const { diagram } = workflow;
  if (diagram === null) return;
  for (const edge of diagram.edges) yield* checkEdge(workflow, diagram, edge);
  yield* missingEdges(workflow, diagram);
}

function* checkEdge(workflow: Workflow, diagram: Diagram, edge: DiagramEdge): Generator<CheckFinding> {
  const phases = workflow.phases.map(({ name }) => name);
  const unknown = [edge.from, edge.to].filter((name) => name !== ENDPOINT && !phases.includes(name));
  for (const name of unknown) {
    yield errorAt(workflow, edge.line, "diagram", `the diagram shows \`${name}\`, which is no phase`, {
      expected: phases.join(", "),
      found: name,
      hint: didYouMean(name, phases, FIX),
    });
  }
  if (unknown.length > 0) return;
  for (const name of [edge.from, edge.to]) {
    if (name === ENDPOINT || !name.includes("-") || Object.values(diagram.aliases).includes(name)) continue;
    yield errorAt(workflow, edge.line, "diagram", `Mermaid cannot draw a state with the name \`${name}\``, {
      expected: `state "${name}" as ${name.replaceAll("-", "_")}`,
      found: name,
      hint: FIX,
    });
  }
  if (inTable(workflow, edge)) return;
  yield errorAt(workflow, edge.line, "diagram", `the diagram shows ${arrow(edge)}, which the table lacks`, {
    expected: edge.from === ENDPOINT ? `[*] --> ${workflow.initial}` : "only what the table has",
    found: arrow(edge),
    hint: FIX,
  });
}

function* missingEdges(workflow: Workflow, diagram: Diagram): Generator<CheckFinding> {
  const drawn = new Set(diagram.edges.map(arrow));
  for (const edge of tableEdges(workflow)) {
    if (drawn.has(arrow(edge))) continue;
    const where = edge.line === 0 ? "" : ` (line ${edge.line})`;
    yield errorAt(workflow, diagram.line, "diagram", `the diagram lacks ${arrow(edge)}${where}`, {
      expected: arrow(edge),
      found: "no such line",
      hint: FIX,
    });
  }
}

function inTable(workflow: Workflow, { from, to }: DiagramEdge): boolean {
  if (from === ENDPOINT) return to === workflow.initial;
  if (to === ENDPOINT) return workflow.phases.some((phase) => phase.name === from && isTerminal(phase));
  return workflow.transitions.some((row) => row.from === from && row.to === to);
}

function arrow({ from, to }: { from: string; to: string }): string {
  return `${from} --> ${to}`;
}
