/** From what pawl.json says of an agent to what is run. */
import { invalid } from "../errors.js";
import { loadPreset, type Preset } from "./preset.js";
import type { AgentSpec } from "./types.js";

export interface AgentRequest {
  use?: string;
  command?: string[];
  /** Left out, there is no limit. */
  timeoutMs?: number;
  terminal: boolean;
  env: string[];
  repairs: number;
}

export async function resolveAgent(request: AgentRequest, workspace: string): Promise<AgentSpec> {
  const { use, command, env, ...rest } = request;
  if (command !== undefined) return { ...rest, command, env, set: {} };
  // What it replays was printed: it has no use for a terminal.
  if (use === "rehearsal") return { ...rest, command: null, terminal: false, env, set: {} };
  const preset = await loadPreset(use ?? "", workspace);
  const spec = { ...rest, env: [...preset.env, ...env], set: preset.set };
  // What goes through a terminal is for people: nothing is read from it.
  if (request.terminal) return { ...spec, command: terminalCommand(preset) };
  return { ...spec, command: preset.command, result: preset.result };
}

function terminalCommand({ name, terminal }: Preset): string[] {
  if (terminal !== undefined) return terminal.command;
  throw invalid(`the preset ${name} does not say how it is run in a terminal`, {
    hint: `give it "terminal": { "command": ["…"] }, or in pawl.json a "command" in place of "use"`,
  });
}
