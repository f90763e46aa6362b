/** The rows of the table as the arrows of a picture. */
import { withoutSlots } from "./reason.js";
import type { Phase, Transition, Workflow } from "./types.js";

/** Mermaid's sign for the start, before an arrow, and for the end, after it. */
export const ENDPOINT = "[*]";

/** All rows from one phase to another, as one arrow. */
export interface Arrow {
  from: string;
  to: string;
  labels: string[];
}

/** The phase that a task is in, and those that it has been in. */
export interface Mark {
  current: string;
  visited?: string[];
}

const MAX_LABEL = 40;

export function isTerminal(phase: Phase): boolean {
  return phase.who.kind === "nobody";
}

/** What a diagram must show: the start, every way from one phase to another, the ends. */
export function tableEdges(workflow: Workflow): { from: string; to: string; line: number }[] {
  const phases = new Set(workflow.phases.map(({ name }) => name));
  const edges = new Map<string, { from: string; to: string; line: number }>();
  const add = (from: string, to: string, line: number): void => {
    if (!edges.has(`${from} ${to}`)) edges.set(`${from} ${to}`, { from, to, line });
  };
  if (phases.has(workflow.initial)) add(ENDPOINT, workflow.initial, 0);
  for (const phase of phases) {
    for (const { from, to, line } of workflow.transitions) {
      if (from === phase && to !== from && phases.has(to)) add(from, to, line);
    }
  }
  for (const phase of workflow.phases) if (isTerminal(phase)) add(phase.name, ENDPOINT, 0);
  return [...edges.values()];
}

/** The arrows between different phases, each with a label for every event that may take it. */
export function arrows(workflow: Workflow): Arrow[] {
  return tableEdges(workflow)
    .filter(({ from, to }) => from !== ENDPOINT && to !== ENDPOINT)
    .map(({ from, to }) => {
      const rows = workflow.transitions.filter((row) => row.from === from && row.to === to);
      const drawn = workflow.diagram?.edges.find((edge) => edge.from === from && edge.to === to)?.label ?? "";
      const events = [...new Set(rows.map(({ event }) => event))];
      const labels = events.map((event, index) => {
        const row = rows.find((candidate) => candidate.event === event);
        const reason = index === 0 && drawn !== "" ? drawn : shortReason(row);
        if (reason === "" || reason === event) return event;
        return event === "next" ? reason : `${event}: ${reason}`;
      });
      return { from, to, labels };
    });
}

/** The events that leave a task where it is. */
export function stayingEvents(workflow: Workflow, phase: string): string[] {
  const rows = workflow.transitions.filter(({ from, to }) => from === phase && to === phase);
  return [...new Set(rows.map(({ event }) => event))];
}

/** Why a row is taken, in the few words that fit beside an arrow. */
export function shortReason(row: Transition | undefined): string {
  const [clause = ""] = withoutSlots(row?.why ?? "").split(/[:;.]\s/);
  const words = clause.replace(/[:;]/g, " ").trim();
  if (words.length <= MAX_LABEL) return words;
  const cut = words.slice(0, MAX_LABEL);
  return `${cut.slice(0, cut.lastIndexOf(" ")).replace(/[,\s]+$/, "")} …`;
}

/** Who works in a phase, for people. */
export function describeWorker({ who }: Phase): string {
  if (who.kind === "agent") return `agent ${who.role}`;
  return who.kind === "nobody" ? "end" : who.kind;
}
