/** An agent that is a command: an argument list, the prompt in it or on standard input, a time limit, a complete log. */
import { join } from "node:path";
import { run as runProcess } from "../process/run.js";
import { MAX_BYTES } from "../task/strict-json.js";
import { agentEnvironment, PROMPT_FILE, TOKEN_VARIABLE } from "./environment.js";
import { outcomeOf } from "./outcome.js";
import { presetCommand } from "./preset.js";
import { resolveProgram } from "./program.js";
import type { AgentHooks, AgentResult, AgentRun, AgentSpec } from "./types.js";

/** The argument list with its placeholders replaced; `program` is how the template names it. */
export function agentCommand(
  template: string[],
  { taskDir, runDir, prompt, workspace }: AgentRun,
): { command: string[]; program: string; input?: string } {
  const values = { taskDir, runDir, prompt, promptFile: join(runDir, PROMPT_FILE) };
  const { command, ...input } = presetCommand({ command: template }, values);
  const [program = "", ...args] = command;
  return { command: [resolveProgram(program, workspace), ...args], program, ...input };
}

export async function runCommandAgent(
  template: string[],
  spec: AgentSpec,
  run: AgentRun,
  pawlBin: string,
  { log, onExit }: AgentHooks = {},
): Promise<Omit<AgentResult, "usage">> {
  const { command, program, input } = agentCommand(template, run);
  const result = await runProcess(command, {
    cwd: run.cwd,
    env: { ...agentEnvironment(run, spec.env, pawlBin), ...spec.set },
    ...(input === undefined ? {} : { input }),
    marker: TOKEN_VARIABLE,
    ...(spec.timeoutMs === undefined ? {} : { timeoutMs: spec.timeoutMs }),
    ...(log === undefined ? { logFile: join(run.runDir, "output.log") } : { log }),
    // An artifact that is printed has to be kept whole.
    keepBytes: MAX_BYTES,
    onOutput: run.progress,
    ...(run.signal === undefined ? {} : { signal: run.signal }),
    ...(run.onStart === undefined ? {} : { onStart: run.onStart }),
  });
  onExit?.(result);
  return {
    ...outcomeOf(result, { program, carriesPrompt: input === undefined, spec, run }),
    durationMs: result.durationMs,
    stdout: result.stdout,
  };
}
