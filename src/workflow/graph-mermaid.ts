/** A workflow as a Mermaid state diagram. */
import { arrows, describeWorker, ENDPOINT, stayingEvents, tableEdges, type Mark } from "./graph-edges.js";
import type { Workflow } from "./types.js";

export function toMermaid(workflow: Workflow, mark?: Mark): string {
  const lines = ["stateDiagram-v2"];
  const ids = new Map(workflow.phases.map(({ name }) => [name, mermaidId(name)]));
  const visited = (mark?.visited ?? []).filter((name) => name !== mark?.current && ids.has(name));
  for (const phase of workflow.phases) {
    const here = phase.name === mark?.current ? " ● current" : visited.includes(phase.name) ? " ✓" : "";
    lines.push(`state "${phase.name}${here}<br>${describeWorker(phase)}" as ${ids.get(phase.name) ?? ""}`);
  }
  for (const { from, to } of tableEdges(workflow)) {
    const labels = arrows(workflow).find((arrow) => arrow.from === from && arrow.to === to)?.labels ?? [];
    const ends = [from, to].map((name) => (name === ENDPOINT ? name : (ids.get(name) ?? ""))).join(" --> ");
    lines.push(labels.length === 0 ? ends : `${ends} : ${labels.map(plain).join("<br>")}`);
  }
  for (const { name } of workflow.phases) {
    const events = stayingEvents(workflow, name);
    const id = ids.get(name) ?? "";
    if (events.length > 0) lines.push(`${id} --> ${id} : ${events.join(", ")}`);
  }
  if (mark !== undefined && ids.has(mark.current)) {
    lines.push("classDef current fill:#ffe08a,stroke:#8a5a00,stroke-width:4px,color:#000");
    lines.push(`class ${ids.get(mark.current) ?? ""} current`);
  }
  if (visited.length > 0) {
    lines.push("classDef visited fill:#e3f1e5,stroke:#3d7a45,color:#000");
    lines.push(`class ${visited.map((name) => ids.get(name)).join(", ")} visited`);
  }
  return `${[lines[0], ...lines.slice(1).map((line) => `    ${line}`)].join("\n")}\n`;
}

/** Mermaid's ids know no `-`. */
export function mermaidId(name: string): string {
  return name.replaceAll("-", "_");
}

/** A label must not end its line or begin a comment, a tag or an entity, and Mermaid 10 takes no second colon in a line. */
function plain(text: string): string {
  return text
    .replace(/%%|[;#<>"]/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .replaceAll(":", "#58;");
}
