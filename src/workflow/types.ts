/** The data of a workflow, of the evidence about a task, and of a decision. Plain values: no behaviour, no I/O. */
import type { Finding } from "../errors.js";

export interface Workflow {
  name: string;
  version: number;
  title: string;
  /** Path of the document, as it was given to the parser. */
  file: string;
  /** SHA-256 of the document's text. */
  hash: string;
  /** Where a task of this workflow keeps its phase. */
  state: StatePlace;
  initial: string;
  limits: Record<string, number>;
  /** Line of each key of the front matter; `limits.NAME` for each limit. */
  lines: Record<string, number>;
  /** Ends that are no success: who waits for the task waits in vain. */
  failures: string[];
  /** What a human may do beyond the table, always with a reason. */
  human: { override: boolean; redo: boolean };
  phases: Phase[];
  artifacts: Artifact[];
  /** Which prompt an agent gets, where it is not simply its role's: the first whose condition holds. */
  prompts: PromptChoice[];
  transitions: Transition[];
  /** Edges of the state diagram, when the document has one. */
  diagram: Diagram | null;
}

export interface StatePlace {
  file: string;
  field: string;
  /**
   * `work`: the task is whatever goes on in one directory. The file lies in that directory, and pawl's records below it, in
   * `.pawl/<workflow>`. Absent: in the task directory.
   */
  at?: "work";
}

export type Worker =
  | { kind: "agent"; role: string }
  | { kind: "human" }
  | { kind: "orchestrator" }
  /** Nobody works in a terminal phase. */
  | { kind: "nobody" };

export interface Phase {
  name: string;
  who: Worker;
  /** Names of the artifacts that this phase must leave … */
  leaves: string[];
  /** … and of those that it may leave besides, or instead: `question`? */
  mayLeave: string[];
  purpose: string;
  line: number;
}

export interface Artifact {
  name: string;
  /** Relative to the task directory. */
  file: string;
  /** Heading of the section of a Markdown file that is the artifact, instead of the whole file. */
  section?: string;
  /** File name in `system/schemas`. */
  schema?: string;
  /** Who writes it. `action` names the action with which the orchestrator makes it itself; nobody else can. */
  madeBy: { kind: "agent" } | { kind: "human" } | { kind: "orchestrator"; action: string };
  /** Artifacts that it is a verdict on or is derived from: when one of them changes, this one is stale. */
  judges: string[];
  line: number;
}

export interface PromptChoice {
  phase: string;
  /** CEL; empty means always. */
  when: string;
  /** File name in `system/agents`, without its ending. */
  prompt: string;
  line: number;
  whenColumn: number;
}

export interface Transition {
  from: string;
  event: string;
  /** "any", "human", "agent", "pawl", or role names. */
  by: string[];
  /** CEL; empty means always. */
  when: string;
  actions: ActionCall[];
  to: string;
  /** For people: why this row is taken. `{expression}` in it is worked out when it is. */
  why: string;
  line: number;
  /** Columns of the first characters of condition and reason in the document, for messages about them. */
  whenColumn: number;
  whyColumn: number;
}

export interface ActionCall {
  name: string;
  args: string[];
}

export interface Diagram {
  /** First line of the code block. */
  line: number;
  edges: DiagramEdge[];
  /** Phases whose names Mermaid cannot draw, by the ids that stand for them: `state "agent-review" as agent_review`. */
  aliases: Record<string, string>;
}

export interface DiagramEdge {
  /** "[*]" stands for the start, as `from`, and for the end, as `to`. */
  from: string;
  to: string;
  label: string;
  line: number;
}

/** Who sends an event. */
export type Sender = { kind: "human"; name: string } | { kind: "agent"; role: string } | { kind: "pawl" };

export interface Event {
  name: string;
  by: Sender;
  /** What a condition sees as `event.*`. */
  payload: EventPayload;
}

export interface EventPayload {
  choice?: string;
  note?: string;
  reason?: string;
  to?: string;
  [key: string]: unknown;
}

export type ArtifactCondition = "ok" | "missing" | "invalid" | "stale" | "forged" | "waived";

/** What is known of one artifact of a task, now. */
export interface ArtifactStatus {
  name: string;
  file: string;
  condition: ArtifactCondition;
  /** Parsed content; only when the condition is `ok`. */
  data?: unknown;
  /** SHA-256 of the file (or section); absent when missing. */
  hash?: string;
  /** Why it is not ok. */
  findings: Finding[];
}

/** All that a decision may look at. */
export interface Evidence {
  phase: string;
  artifacts: Record<string, ArtifactStatus>;
  /** How often each phase was entered since a human last stepped in. */
  visits: Record<string, number>;
  /** How often the work of the phase failed during its present visit. */
  failures: number;
  counters: Record<string, number>;
  limits: Record<string, number>;
  /** The task waits for a human, and why. */
  waiting: string | null;
  /** Tasks that have to be done before this one and are not; a condition sees them as `event.unmet`. */
  unmet?: string[];
  /** The state file's further fields, which a workflow's conditions may use as `state.*`. */
  state: Record<string, unknown>;
}

export interface Decision {
  kind: "decision";
  from: string;
  to: string;
  event: string;
  actions: ActionCall[];
  reason: string;
  /** The row that decided; null for a human's override or redo, which the table does not list. */
  row: Transition | null;
  /** Artifacts that the deciding condition looked at. */
  relied: string[];
  /** What an override skipped. */
  skipped: Blocker[];
}

export interface Refusal {
  kind: "refusal";
  phase: string;
  event: string;
  reason: string;
  ways: Way[];
}

/** One way out of the phase, and what stands in it. */
export interface Way {
  to: string;
  event: string;
  by: string[];
  when: string;
  why: string;
  line: number;
  open: boolean;
  blockers: Blocker[];
}

export interface Blocker extends Finding {
  kind: Exclude<ArtifactCondition, "ok" | "waived"> | "condition" | "sender" | "event" | "waiting" | "reason" | "phase";
  artifact?: string;
}
