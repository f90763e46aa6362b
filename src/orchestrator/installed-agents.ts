/** Which of the agents that pawl has presets for are on this machine. */
import { loadPreset, presetNames, type Preset } from "../agents/preset.js";
import { PawlError } from "../errors.js";
import { run, type RunResult } from "../process/run.js";
import type { Engine } from "./context.js";

export interface FoundAgent {
  name: string;
  /** A preset that cannot be read says nothing about the others. */
  preset: Preset | PawlError;
  /** What it says of its version, or why it cannot be relied on; null when it is not there. */
  found: { version: string } | { broken: string } | null;
}

const PATIENCE_MS = 5000;

export function findAgents(engine: Engine): Promise<FoundAgent[]> {
  const { root } = engine.workspace;
  return Promise.all(
    presetNames(root).map(async (name) => {
      const preset = await loadPreset(name, root).catch((error: unknown) => {
        if (error instanceof PawlError) return error;
        throw error;
      });
      return { name, preset, found: preset instanceof PawlError ? null : await look(engine, preset) };
    }),
  );
}

async function look(engine: Engine, { version: command }: Preset): Promise<FoundAgent["found"]> {
  const { PATH = "", HOME = "" } = engine.workspace.env;
  const result = await run(command, { cwd: engine.workspace.root, env: { PATH, HOME }, timeoutMs: PATIENCE_MS });
  if (result.outcome === "not-found") return null;
  if (result.outcome === "exited" && result.exitCode === 0)
    return { version: firstLine(result.stdout) ?? "there, of an unknown version" };
  return { broken: `${command.join(" ")} ${whatWentWrong(result)}` };
}

function whatWentWrong({ outcome, exitCode, signal, error, stderr, stdout }: RunResult): string {
  if (outcome === "not-started") return `could not be started: ${error ?? ""}`;
  if (outcome === "timeout") return `did not end within ${PATIENCE_MS / 1000} s`;
  const said = firstLine(stderr) ?? firstLine(stdout);
  const how = exitCode === null ? `was ended by ${signal ?? "a signal"}` : `exited with ${exitCode}`;
  return said === undefined ? how : `${how}: ${said}`;
}

function firstLine(text: string): string | undefined {
  return text.trim().split("\n")[0] || undefined;
}
