/**
 * All that can be proved of a document before anything runs. Pure: the caller says which actions, roles and schemas exist.
 * What the parser could not read is not repeated here.
 */
import { checkConditions } from "./check-conditions.js";
import { checkDiagram } from "./check-diagram.js";
import type { CheckFinding, Known } from "./check-finding.js";
import { checkGraph } from "./check-graph.js";
import { checkLoops } from "./check-loops.js";
import { checkNames } from "./check-names.js";
import { checkReasons } from "./check-reasons.js";
import { checkRows } from "./check-rows.js";
import { checkUses } from "./check-uses.js";
import type { Workflow } from "./types.js";

export type { CheckFinding, Known } from "./check-finding.js";
export type { JsonSchema } from "./condition-types.js";

export function checkWorkflow(workflow: Workflow, known: Known): CheckFinding[] {
  const findings = [
    ...checkNames(workflow, known),
    ...checkUses(workflow),
    ...checkConditions(workflow, known),
    ...checkReasons(workflow, known),
    ...checkRows(workflow, known),
    ...checkGraph(workflow),
    ...checkLoops(workflow),
    ...checkDiagram(workflow),
  ];
  return unique(findings).sort((a, b) => a.line - b.line || (a.column ?? 0) - (b.column ?? 0));
}

/** A table row that names several phases under From is as many transitions, but one mistake. */
function unique(findings: CheckFinding[]): CheckFinding[] {
  const seen = new Set<string>();
  return findings.filter(({ rule, line, column, message }) => {
    const key = JSON.stringify([rule, line, column, message]);
    return !seen.has(key) && seen.add(key);
  });
}
