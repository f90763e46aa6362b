/** A workflow in the language of Graphviz. */
import { arrows, describeWorker, isTerminal, stayingEvents, type Mark } from "./graph-edges.js";
import type { Phase, Workflow } from "./types.js";

export function toDot(workflow: Workflow, mark?: Mark): string {
  const lines = [
    "rankdir=TB;",
    'node [shape=box, style="rounded,filled", fillcolor="white", fontname="Helvetica"];',
    'edge [fontname="Helvetica", fontsize=10];',
    '"[*]" [shape=point, width=0.2, label=""];',
    ...workflow.phases.map((phase) => node(phase, mark)),
    `"[*]" -> ${quote(workflow.initial)};`,
    ...arrows(workflow).map(({ from, to, labels }) => `${quote(from)} -> ${quote(to)} [label=${quote(...labels)}];`),
  ];
  for (const { name } of workflow.phases) {
    const events = stayingEvents(workflow, name);
    if (events.length > 0)
      lines.push(`${quote(name)} -> ${quote(name)} [label=${quote(events.join(", "))}, style=dashed];`);
  }
  return `digraph ${quote(workflow.name)} {\n${lines.map((line) => `  ${line}`).join("\n")}\n}\n`;
}

function node(phase: Phase, mark: Mark | undefined): string {
  const current = phase.name === mark?.current;
  const visited = !current && mark?.visited?.includes(phase.name) === true;
  const name = `${phase.name}${current ? " ● current" : visited ? " ✓" : ""}`;
  const attributes = [`label=${quote(name, describeWorker(phase))}`];
  if (isTerminal(phase)) attributes.push("peripheries=2");
  if (current) attributes.push('style="rounded,filled,bold"', 'fillcolor="#ffe08a"', "penwidth=3");
  if (visited) attributes.push('fillcolor="#e3f1e5"');
  return `${quote(phase.name)} [${attributes.join(", ")}];`;
}

/** A string of one or more lines. */
function quote(...lines: string[]): string {
  return `"${lines.map((line) => line.replace(/[\\"]/g, "\\$&")).join("\\n")}"`;
}
