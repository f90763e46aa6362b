/** Which of the agents that pawl has presets for are on this machine. */
import { loadPreset, presetNames, type Preset } from "../agents/preset.js";
import { PawlError } from "../errors.js";
import { run } from "../process/run.js";
import type { Engine } from "./context.js";

export interface FoundAgent {
  name: string;
  /** A preset that cannot be read says nothing about the others. */
  preset: Preset | PawlError;
  /** What it says of its version; null when it is not there. */
  version: string | null;
}

const PATIENCE_MS = 20_000;

export function findAgents(engine: Engine): Promise<FoundAgent[]> {
  const { root } = engine.workspace;
  return Promise.all(
    presetNames(root).map(async (name) => {
      const preset = await loadPreset(name, root).catch((error: unknown) => {
        if (error instanceof PawlError) return error;
        throw error;
      });
      return { name, preset, version: preset instanceof PawlError ? null : await versionOf(engine, preset) };
    }),
  );
}

async function versionOf(engine: Engine, preset: Preset): Promise<string | null> {
  const { PATH = "", HOME = "" } = engine.workspace.env;
  const result = await run(preset.version, { cwd: engine.workspace.root, env: { PATH, HOME }, timeoutMs: PATIENCE_MS });
  if (result.outcome === "not-found" || result.outcome === "not-started") return null;
  return result.stdout.trim().split("\n")[0] || "there, of an unknown version";
}
