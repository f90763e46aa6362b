/** What the agents that pawl knows wrap their answers in: a command of one's own may well run one of them. */
import { packageRoot } from "../system/locate.js";
import { loadPreset, presetNames, type PresetResult } from "./preset.js";

export async function knownEnvelopes(): Promise<PresetResult[]> {
  // The built-in ones: what a workspace makes of a preset is said of that preset alone.
  const root = packageRoot();
  const presets = await Promise.all(presetNames(root).map((name) => loadPreset(name, root)));
  const results = presets.flatMap(({ result, envelopes = [] }) => [result, ...envelopes]);
  return results.filter(({ format }) => format !== "text");
}
