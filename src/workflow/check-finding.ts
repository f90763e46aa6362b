/** What a check says, and what it has to know besides the document. */
import { nearest, type Finding } from "../errors.js";
import type { JsonSchema } from "./condition-types.js";
import type { Sender, Workflow } from "./types.js";

export interface CheckFinding extends Finding {
  rule: string;
  severity: "error" | "warning";
  file: string;
  line: number;
}

/** The world around a document: what the program offers, and the schemas beside it. */
export interface Known {
  /** `leaves` are artifacts that an action writes: the record of what it did. */
  actions: { name: string; kind: "action" | "maker"; leaves?: string[] }[];
  /** By file name; undefined for one that is named but does not exist. */
  schemas: Record<string, JsonSchema | undefined>;
  /** Roles for which there is a prompt. */
  roles: string[];
  /** What can be sent, and by whom. */
  events: { name: string; by: Sender["kind"][] }[];
}

export type Details = Pick<Finding, "column" | "expected" | "found" | "hint">;

export function errorAt(workflow: Workflow, line: number, rule: string, message: string, more: Details): CheckFinding {
  return { rule, severity: "error", message, file: workflow.file, line, ...more };
}

export function warningAt(
  workflow: Workflow,
  line: number,
  rule: string,
  message: string,
  more: Details,
): CheckFinding {
  return { rule, severity: "warning", message, file: workflow.file, line, ...more };
}

/** The hint for a name that is not among the candidates. */
export function didYouMean(word: string, candidates: readonly string[], otherwise: string): string {
  const near = nearest(word, candidates);
  return near === undefined ? otherwise : `did you mean ${near}?`;
}

export function listed(names: readonly string[]): string {
  return names.length === 0 ? "nothing (there is none)" : names.join(", ");
}
