/** What a human types who wants work done again: what a document allows differs from one to the next. Pure. */
import { answerChoices } from "../workflow/choices.js";
import { UPDATE } from "../workflow/exits.js";
import type { Workflow } from "../workflow/types.js";

export function wayBack(workflow: Workflow, from: string, target: string, id: string): string {
  if (workflow.human.redo) return `pawl redo ${target} --reason "…" ${id}`;
  const order = workflow.phases.map(({ name }) => name);
  const back = workflow.transitions.filter(
    (row) => row.from === from && row.by.includes("human") && order.indexOf(row.to) < order.indexOf(from),
  );
  const row =
    back.find(({ to, event }) => to === target && event !== "next") ?? back.find(({ event }) => event !== "next");
  if (row?.event === "answer")
    return `pawl answer ${answerChoices({ ...workflow, transitions: [row] }, from).join("|")} --note "…" ${id}`;
  if (row?.event === UPDATE) return `pawl task update ${id} --status ${row.to} --reason "…"`;
  if (workflow.human.override) return `pawl override ${target} --reason "…" ${id}`;
  return `pawl why ${id}`;
}

/** The document as it is now is taken over by whatever a human may do beyond the table. */
export function takeOver({ human }: Workflow, phase: string, id: string): string {
  return `pawl ${human.redo || !human.override ? "redo" : "override"} ${phase} --reason "…" ${id}`;
}
