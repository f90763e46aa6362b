/** What a run of an agent gets, and what comes of it. */
import type { OutputLog } from "../process/run-log.js";
import type { Terminal } from "../process/terminal.js";
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
  /** The same for those that it may leave besides, or instead. */
  mayLeave?: Record<string, string>;
  /** The environment that pawl was started with. */
  env: Record<string, string>;
  /** The right to speak in this role. */
  token: string;
  signal?: AbortSignal;
  progress: (text: string) => void;
  /** Called once its process is there. */
  onStart?: (pid: number) => void;
}

/** For whoever holds an agent and has its terminal. */
export interface AgentHooks {
  /** Takes what it prints; without it that goes into the file of its run. */
  log?: OutputLog;
  onTerminal?: (terminal: Terminal) => void;
  /** How its process ended; what it left is looked at after that. */
  onExit?: (end: { exitCode: number | null; signal: string | null }) => void;
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
  /** Left out, it may take as long as it likes. */
  timeoutMs?: number;
  /** It runs in a terminal, for people to look at and to type into. */
  terminal: boolean;
  /** Secret-looking environment variables that it may see. */
  env: string[];
  /** Environment variables with fixed values. */
  set: Record<string, string>;
  /** How to read what it prints. */
  result?: PresetResult;
  /** How often it may mend an artifact that was refused, before the attempt counts as failed. */
  repairs: number;
}
