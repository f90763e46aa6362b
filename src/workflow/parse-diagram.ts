/** The subset of Mermaid's state diagrams that a workflow document uses: one `from --> to : label` a line, and aliases. */
import type { Finding } from "../errors.js";
import type { Diagram, DiagramEdge } from "./types.js";

const EDGE = /^(\[\*\]|[\w.-]+)\s*-->\s*(\[\*\]|[\w.-]+)\s*(?::\s*(.*))?$/;
const ALIAS = /^state\s+"([^"]+)"\s+as\s+([\w.]+)$/;
const IGNORED = /^(stateDiagram(-v2)?|%%.*|direction\s+\w+|note\s.*|end note|classDef\s.*|class\s.*)?$/;

/** `line` is that of the opening fence. */
export function parseDiagram(text: string, line: number, file: string): { diagram: Diagram; findings: Finding[] } {
  const edges: DiagramEdge[] = [];
  const findings: Finding[] = [];
  const aliases: Record<string, string> = {};
  text.split("\n").forEach((raw, index) => {
    const content = raw.trim();
    if (IGNORED.test(content)) return;
    const place = line + 1 + index;
    const alias = ALIAS.exec(content);
    if (alias !== null) {
      aliases[alias[2] ?? ""] = alias[1] ?? "";
      return;
    }
    const match = EDGE.exec(content);
    if (match === null) {
      findings.push({
        message: `the diagram's line is not understood: ${content}`,
        file,
        line: place,
        expected: "`from --> to : label`",
        hint: "write one transition a line, or run `pawl spec check --fix` to have the diagram made from the table",
      });
      return;
    }
    edges.push({ from: match[1] ?? "", to: match[2] ?? "", label: match[3]?.trim() ?? "", line: place });
  });
  const named = edges.map((edge) => ({
    ...edge,
    from: aliases[edge.from] ?? edge.from,
    to: aliases[edge.to] ?? edge.to,
  }));
  return { diagram: { line, edges: named, aliases }, findings };
}
