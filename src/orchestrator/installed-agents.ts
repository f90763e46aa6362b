/** Which of the agents that pawl has presets for are on this machine. */
import { listPresets, type Preset } from "../agents/preset.js";
import { run } from "../process/run.js";
import type { Engine } from "./context.js";

export interface InstalledAgent {
  preset: Preset;
  /** What it says of its version; null when it is not there. */
  version: string | null;
}

const PATIENCE_MS = 20_000;

export async function findAgents(engine: Engine): Promise<InstalledAgent[]> {
  const presets = await listPresets(engine.workspace.root);
  return Promise.all(presets.map(async (preset) => ({ preset, version: await versionOf(engine, preset) })));
}

async function versionOf(engine: Engine, preset: Preset): Promise<string | null> {
  const { PATH = "", HOME = "" } = engine.workspace.env;
  const result = await run(preset.version, { cwd: engine.workspace.root, env: { PATH, HOME }, timeoutMs: PATIENCE_MS });
  if (result.outcome === "not-found" || result.outcome === "not-started") return null;
  return result.stdout.trim().split("\n")[0] || "there, of an unknown version";
}
