/** The environment of an agent: what it was told about its work, and none of the secrets that it was not given. */
import { delimiter, join } from "node:path";
import { isSecret } from "../task/mask.js";
import type { AgentRun } from "./types.js";

/** The right to speak in a role; every run has its own, so that it also tells whose a process is. */
export const TOKEN_VARIABLE = "PAWL_TOKEN";
export const PROMPT_FILE = "prompt.md";

/** What a run of an agent is told about its work. */
const OF_A_RUN = [
  "PAWL_TASK",
  "PAWL_TASK_DIR",
  "PAWL_PHASE",
  "PAWL_ROLE",
  "PAWL_ATTEMPT",
  "PAWL_REPAIR",
  "PAWL_PROMPT_FILE",
  "PAWL_ARTIFACTS",
  TOKEN_VARIABLE,
];

/** For a process that is none of an agent's, though an agent may have had it started. */
export function withoutRun(env: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_A_RUN.includes(name)));
}

export function agentEnvironment(run: AgentRun, allowed: string[], pawlBin: string): Record<string, string> {
  const inherited = Object.entries(run.env).filter(
    ([name, value]) => !name.startsWith("PAWL_") && (!isSecret(name, value) || allowed.includes(name)),
  );
  const environment = Object.fromEntries(inherited);
  return {
    ...environment,
    PATH: environment["PATH"] === undefined ? pawlBin : `${pawlBin}${delimiter}${environment["PATH"]}`,
    PAWL_TASK: run.task,
    PAWL_TASK_DIR: run.taskDir,
    PAWL_PHASE: run.phase,
    PAWL_ROLE: run.role,
    PAWL_ATTEMPT: String(run.attempt),
    ...(run.repair === 0 ? {} : { PAWL_REPAIR: String(run.repair) }),
    PAWL_PROMPT_FILE: join(run.runDir, PROMPT_FILE),
    PAWL_ARTIFACTS: JSON.stringify({ ...run.artifacts, ...run.mayLeave }),
    [TOKEN_VARIABLE]: run.token,
  };
}
