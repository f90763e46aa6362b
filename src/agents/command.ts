/** An agent that is a command: an argument list, the prompt in it or on standard input, a time limit, a complete log. */
import { join } from "node:path";
import { run as runProcess, type RunResult } from "../process/run.js";
import { MAX_BYTES } from "../task/strict-json.js";
import { agentEnvironment, PROMPT_FILE, TOKEN_VARIABLE } from "./environment.js";
import { presetCommand } from "./preset.js";
import type { AgentResult, AgentRun, AgentSpec } from "./types.js";

export async function runCommandAgent(
  template: string[],
  spec: AgentSpec,
  run: AgentRun,
  pawlBin: string,
): Promise<Omit<AgentResult, "usage">> {
  const { taskDir, runDir, prompt } = run;
  const values = { taskDir, runDir, prompt, promptFile: join(runDir, PROMPT_FILE) };
  const { command, input } = presetCommand({ command: template }, values);
  const result = await runProcess(command, {
    cwd: run.cwd,
    env: { ...agentEnvironment(run, spec.env, pawlBin), ...spec.set },
    ...(input === undefined ? {} : { input }),
    marker: TOKEN_VARIABLE,
    timeoutMs: spec.timeoutMs,
    logFile: join(run.runDir, "output.log"),
    // An artifact that is printed has to be kept whole.
    keepBytes: MAX_BYTES,
    onOutput: run.progress,
    ...(run.signal === undefined ? {} : { signal: run.signal }),
  });
  return { ...outcomeOf(result, command[0] ?? "", spec), durationMs: result.durationMs, stdout: result.stdout };
}

function outcomeOf(
  result: RunResult,
  program: string,
  spec: AgentSpec,
): Pick<AgentResult, "outcome" | "exitCode" | "summary"> {
  const { exitCode } = result;
  switch (result.outcome) {
    case "not-found":
      return { outcome: "not-found", exitCode, summary: `the agent's program ${program} was not found` };
    case "not-started":
      return {
        outcome: "not-found",
        exitCode,
        summary: `the agent's program ${program} could not be started: ${result.error ?? ""}`,
      };
    case "timeout":
      return {
        outcome: "timeout",
        exitCode,
        summary: `the agent was ended after its time limit of ${spec.timeoutMs} ms`,
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
