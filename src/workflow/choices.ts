/** The answers that a phase understands: what its `answer` rows compare a text with, first of all. */
import type { ASTNode } from "@marcbachmann/cel-js";
import { operandsOf, parseCondition, pathOf } from "./condition.js";
import type { Workflow } from "./types.js";

export function answerChoices(workflow: Workflow, phase: string): string[] {
  const rows = workflow.transitions.filter((row) => row.from === phase && row.event === "answer" && row.when !== "");
  const choices = rows.flatMap(({ when }) => {
    const parsed = parseCondition(when);
    return "ast" in parsed ? firstChoice(parsed.ast) : [];
  });
  return [...new Set(choices)];
}

function firstChoice(node: ASTNode): string[] {
  if (node.op === "==") {
    const [left, right] = node.args;
    return pathOf(left) !== undefined && right.op === "value" && typeof right.args === "string" ? [right.args] : [];
  }
  if (node.op === "in" && node.args[1].op === "list") {
    return node.args[1].args.flatMap((item) =>
      item.op === "value" && typeof item.args === "string" ? [item.args] : [],
    );
  }
  for (const operand of operandsOf(node)) {
    const found = firstChoice(operand);
    if (found.length > 0) return found;
  }
  return [];
}
