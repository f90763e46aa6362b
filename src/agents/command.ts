/** An agent that is a command: an argument list, the prompt in it or on standard input, a time limit, a complete log. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { run as runProcess, type RunResult } from "../process/run.js";
import { MAX_BYTES } from "../task/strict-json.js";
import { agentEnvironment, PROMPT_FILE, TOKEN_VARIABLE } from "./environment.js";
import { presetCommand } from "./preset.js";
import { isRelativePath, resolveProgram } from "./program.js";
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
  const [program = "", ...args] = command;
  const result = await runProcess([resolveProgram(program, run.workspace), ...args], {
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
  const carriesPrompt = input === undefined;
  return {
    ...outcomeOf(result, { program, carriesPrompt, spec, run }),
    durationMs: result.durationMs,
    stdout: result.stdout,
  };
}

interface Started {
  program: string;
  /** The prompt is one of the arguments. */
  carriesPrompt: boolean;
  spec: AgentSpec;
  run: AgentRun;
}

function outcomeOf(result: RunResult, started: Started): Pick<AgentResult, "outcome" | "exitCode" | "summary"> {
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

function notFound({ program, run }: Started): string {
  const summary = `the agent's program ${program} was not found`;
  const path = resolve(run.cwd, resolveProgram(program, run.workspace));
  // The system says the same of a script whose interpreter is missing.
  if (program.includes("/") && existsSync(path))
    return `the agent's program ${path} is there, but the interpreter that its first line names was not found`;
  if (!isRelativePath(program)) return summary;
  return `${summary}, neither in the workspace ${run.workspace} nor in its working directory ${run.cwd}`;
}

function notStarted(error: string, { program, carriesPrompt, run }: Started): string {
  if (!carriesPrompt || !error.includes("E2BIG"))
    return `the agent's program ${program} could not be started: ${error}`;
  const size = `its prompt of ${Buffer.byteLength(run.prompt)} bytes is too long for an argument`;
  return `the agent's program ${program} could not be started: ${size}; leave {prompt} out of its command, and the prompt comes on standard input`;
}
