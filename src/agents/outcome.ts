/** How an agent ended, in one sentence: for history and people. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { RunResult } from "../process/run.js";
import { isRelativePath, resolveProgram } from "./program.js";
import type { AgentResult, AgentRun, AgentSpec } from "./types.js";

export interface StartedAgent {
  program: string;
  /** The prompt is one of the arguments. */
  carriesPrompt: boolean;
  spec: AgentSpec;
  run: AgentRun;
}

export function outcomeOf(
  result: Pick<RunResult, "outcome" | "exitCode" | "signal" | "error">,
  started: StartedAgent,
): Pick<AgentResult, "outcome" | "exitCode" | "summary"> {
  const { exitCode } = result;
  const { spec } = started;
  switch (result.outcome) {
    case "not-found":
      return { outcome: "not-found", exitCode, summary: notFound(started) };
    case "not-started":
      return { outcome: "not-found", exitCode, summary: notStarted(result.error ?? "", started) };
    case "timeout":
      return {
        outcome: "timeout",
        exitCode,
        summary: `the agent was ended after its time limit of ${String(spec.timeoutMs)} ms`,
      };
    case "interrupted":
      return { outcome: "interrupted", exitCode, summary: "the agent was interrupted" };
    case "exited":
      if (exitCode === 0) return { outcome: "finished", exitCode, summary: "the agent finished" };
      return {
        outcome: "crashed",
        exitCode,
        summary:
          exitCode === null
            ? `the agent was ended by ${result.signal ?? "a signal"}`
            : `the agent exited with ${exitCode}`,
      };
  }
}

function notFound({ program, run }: StartedAgent): string {
  const summary = `the agent's program ${program} was not found`;
  const path = resolve(run.cwd, resolveProgram(program, run.workspace));
  // The system says the same of a script whose interpreter is missing.
  if (program.includes("/") && existsSync(path))
    return `the agent's program ${path} is there, but the interpreter that its first line names was not found`;
  if (!isRelativePath(program)) return summary;
  return `${summary}, neither in the workspace ${run.workspace} nor in its working directory ${run.cwd}`;
}

function notStarted(error: string, { program, carriesPrompt, spec, run }: StartedAgent): string {
  if (!carriesPrompt || !error.includes("E2BIG"))
    return `the agent's program ${program} could not be started: ${error}`;
  const size = `its prompt of ${Buffer.byteLength(run.prompt)} bytes is too long for an argument`;
  const otherwise = spec.terminal ? "and use {prompt_file}" : "and the prompt comes on standard input";
  return `the agent's program ${program} could not be started: ${size}; leave {prompt} out of its command, ${otherwise}`;
}
