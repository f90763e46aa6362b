/** From what pawl.json says of an agent to what is run. */
import { loadPreset } from "./preset.js";
import type { AgentSpec } from "./types.js";

export interface AgentRequest {
  use?: string;
  command?: string[];
  timeoutMs: number;
  env: string[];
  repairs: number;
}

export async function resolveAgent(request: AgentRequest, workspace: string): Promise<AgentSpec> {
  const { timeoutMs, env, repairs } = request;
  if (request.command !== undefined) return { command: request.command, timeoutMs, env, set: {}, repairs };
  if (request.use === "rehearsal") return { command: null, timeoutMs, env, set: {}, repairs };
  const preset = await loadPreset(request.use ?? "", workspace);
  const { command, set, result } = preset;
  return { command, timeoutMs, env: [...preset.env, ...env], set, result, repairs };
}
