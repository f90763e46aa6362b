/** By which lines it is seen that an agent waits for somebody: those of any program, and those of the preset it runs by. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { invalid, PawlError } from "../../errors.js";
import { packageRoot } from "../../system/locate.js";
import { validatorFor } from "../../system/schemas.js";
import { parseStrictJson } from "../../task/strict-json.js";
import { checkWaiting, loadPreset, presetNames, type WaitingRule } from "../preset.js";

export interface WaitingPattern {
  kind: WaitingRule["kind"];
  /** For a single line of at most 500 characters. */
  pattern: RegExp;
}

const FILE = "waiting.json";
const SCHEMA = "waiting.schema.json";

/** `use`: what stands in pawl.json; a command of one's own may well run one of the agents that pawl knows. */
export async function waitingPatterns(use: string | undefined, workspace: string): Promise<WaitingPattern[]> {
  const rules = [...(await rulesOf(use, workspace)), ...(await generalRules(workspace))];
  return rules.map(({ kind, pattern }) => ({ kind, pattern: new RegExp(pattern, "i") }));
}

async function rulesOf(use: string | undefined, workspace: string): Promise<WaitingRule[]> {
  if (use !== undefined) return presetRules(use, workspace);
  const root = packageRoot();
  const all = await Promise.all(presetNames(root).map((name) => presetRules(name, root)));
  return all.flat();
}

/** What is wrong with a preset is said to whoever runs it. */
async function presetRules(name: string, workspace: string): Promise<WaitingRule[]> {
  try {
    return (await loadPreset(name, workspace)).terminal?.waiting ?? [];
  } catch (error) {
    if (error instanceof PawlError) return [];
    throw error;
  }
}

/** The workspace's own file of that name, or the built-in one. */
async function generalRules(workspace: string): Promise<WaitingRule[]> {
  const own = join(workspace, "system", FILE);
  const path = existsSync(own) ? own : join(packageRoot(), "system", FILE);
  const parsed = parseStrictJson(readFileSync(path), path);
  const findings = "error" in parsed ? [parsed.error] : await validatorFor(workspace)(SCHEMA, parsed.value, path);
  if (findings.length > 0) throw invalid(findings[0]?.message ?? "", { findings, hint: `mend ${path}` });
  const { waiting } = (parsed as { value: { waiting: WaitingRule[] } }).value;
  checkWaiting(waiting, path, "/waiting");
  return waiting;
}
