/** What a run of an agent gets, and what comes of it. */
import type { PresetResult } from "./preset.js";
import type { Usage } from "./usage.js";

export interface AgentRun {
  role: string;
  phase: string;
  /** 1, 2, … over the whole life of the task. */
  attempt: number;
  /** 0 for the attempt itself; 1, 2, … for having it mend what was refused. */
  repair: number;
  task: string;
  taskDir: string;
  /** Where pawl.json is. */
  workspace: string;
  /** The worktree; the task directory where there is no repository. */
  cwd: string;
  /** Absolute directory for prompt, log and result. */
  runDir: string;
  prompt: string;
  /** Artifact name → absolute path that it must leave. */
  artifacts: Record<string, string>;
  /** The environment that pawl was started with. */
  env: Record<string, string>;
  /** The right to speak in this role. */
  token: string;
  signal?: AbortSignal;
  progress: (text: string) => void;
}

export type AgentOutcome = "finished" | "crashed" | "timeout" | "interrupted" | "not-found";

/** How it ended, told apart from what it left. */
export interface AgentResult {
  outcome: AgentOutcome;
  exitCode: number | null;
  durationMs: number;
  /** One sentence, for history and people. */
  summary: string;
  /** What it printed on standard output, bounded. */
  stdout: string;
  usage: Usage;
}

export interface AgentSpec {
  /** An argument list with placeholders; null for the built-in rehearsal. */
  command: string[] | null;
  timeoutMs: number;
  /** Secret-looking environment variables that it may see. */
  env: string[];
  /** Environment variables with fixed values. */
  set: Record<string, string>;
  /** How to read what it prints. */
  result?: PresetResult;
  /** How often it may mend an artifact that was refused, before the attempt counts as failed. */
  repairs: number;
}
