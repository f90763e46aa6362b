/** The state diagram of a document, made from its table. */
import { ENDPOINT, shortReason, tableEdges } from "./graph-edges.js";
import { mermaidId } from "./graph-mermaid.js";
import { parseDiagram } from "./parse-diagram.js";
import { parseMarkdown } from "./parse-document.js";
import type { Workflow } from "./types.js";

const INDENT = "    ";
const HEADER = "stateDiagram-v2";

/** The body of the Mermaid block. What the old diagram had and the table still has keeps its place and its label. */
export function renderDiagram(workflow: Workflow): string {
  return render(workflow, HEADER, [], []);
}

/** The document's text with its diagram made anew, or with one added; nothing else changes. */
export function replaceDiagram(text: string, workflow: Workflow): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text.split("\n");
  const { sections } = parseMarkdown(text, workflow.file);
  for (const { codeBlocks } of sections) {
    const block = codeBlocks.find(({ lang, text: body }) => lang === "mermaid" && body.includes("stateDiagram"));
    if (block === undefined) continue;
    const old = block.text.split(/\r?\n/);
    const body = renderLike(workflow, old).split("\n").join(eol);
    const before = lines.slice(0, block.line).join("\n");
    const after = lines.slice(block.line + old.length).join("\n");
    return `${before}\n${body}${eol}${after}`;
  }
  const fence = ["```mermaid", ...renderDiagram(workflow).split("\n"), "```"].join(eol);
  const heading = sections.find((section) => section.heading.toLowerCase() === "diagram");
  if (heading !== undefined) {
    const before = lines
      .slice(0, heading.line)
      .join("\n")
      .replace(/\r?\n?$/, eol);
    const after = lines.slice(heading.line).join("\n");
    return `${before}${eol}${fence}${eol}${after}`;
  }
  const gap = text.endsWith("\n") ? eol : eol + eol;
  return `${text}${gap}## Diagram${eol}${eol}${fence}${eol}`;
}

/** Keeps what a person added to the old diagram and what no table can say: direction, notes, comments, colours. */
function renderLike(workflow: Workflow, old: string[]): string {
  const header = old.find((line) => line.trim().startsWith("stateDiagram"))?.trim() ?? HEADER;
  const firstEdge = old.findIndex((line) => line.includes("-->"));
  const isExtra = (line: string): boolean => {
    const { diagram, findings } = parseDiagram(line, 0, workflow.file);
    const says = diagram.edges.length + findings.length + Object.keys(diagram.aliases).length;
    return says === 0 && line.trim() !== "" && line.trim() !== header;
  };
  const split = firstEdge === -1 ? old.length : firstEdge;
  return render(workflow, header, old.slice(0, split).filter(isExtra), old.slice(split).filter(isExtra));
}

function render(workflow: Workflow, header: string, before: string[], after: string[]): string {
  const aliases = workflow.phases
    .filter(({ name }) => mermaidId(name) !== name)
    .map(({ name }) => `${INDENT}state "${name}" as ${mermaidId(name)}`);
  const edges = orderedEdges(workflow).map(({ from, to, label }) => {
    const ends = [from, to].map((name) => (name === ENDPOINT ? name : mermaidId(name))).join(" --> ");
    return `${INDENT}${ends}${label === "" ? "" : ` : ${label}`}`;
  });
  return [header, ...before, ...aliases, ...edges, ...after].join("\n");
}

function orderedEdges(workflow: Workflow): { from: string; to: string; label: string }[] {
  const wanted = tableEdges(workflow);
  const kept = (workflow.diagram?.edges ?? []).filter(
    (edge, index, all) =>
      (wanted.some(({ from, to }) => from === edge.from && to === edge.to) || isLoop(workflow, edge)) &&
      all.findIndex(({ from, to }) => from === edge.from && to === edge.to) === index,
  );
  const edges: { from: string; to: string; label: string }[] = kept.map(({ from, to, label }) => ({ from, to, label }));
  const missing = wanted.filter((edge) => !kept.some(({ from, to }) => from === edge.from && to === edge.to));
  // The ends first, so that every other new line finds its place before them.
  const isEnd = ({ to }: { to: string }): boolean => to === ENDPOINT;
  for (const edge of [...missing.filter(isEnd), ...missing.filter((each) => !isEnd(each))]) {
    const { from, to } = edge;
    const added = { from, to, label: labelOf(workflow, from, to) };
    const last = edges.findLastIndex((each) => each.from === from);
    const end = edges.findIndex(isEnd);
    if (from === ENDPOINT) edges.unshift(added);
    else if (last !== -1) edges.splice(last + 1, 0, added);
    else if (end !== -1 && !isEnd(added)) edges.splice(end, 0, added);
    else edges.push(added);
  }
  return edges;
}

/** A row that stays may be drawn, but need not be. */
function isLoop(workflow: Workflow, { from, to }: { from: string; to: string }): boolean {
  return from === to && workflow.transitions.some((row) => row.from === from && row.to === to);
}

function labelOf(workflow: Workflow, from: string, to: string): string {
  if (from === ENDPOINT || to === ENDPOINT) return "";
  const row = workflow.transitions.find((each) => each.from === from && each.to === to);
  return shortReason(row) || (row?.event ?? "");
}
