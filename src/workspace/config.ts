/** pawl.json: read and held against its schema. Environment variables win over the file. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { invalid } from "../errors.js";
import { validatorFor } from "../system/schemas.js";
import { parseStrictJson } from "../task/strict-json.js";

export const CONFIG_FILE = "pawl.json";

export interface AgentConfig {
  use?: string;
  command?: string[];
  timeout?: string;
  env?: string[];
  repairs?: number;
  terminal?: boolean;
}

export interface Config {
  workflow?: string;
  baseBranch?: string;
  test?: string[];
  testTimeout?: string;
  setup?: { copy?: string[]; run?: string[] };
  preflight?: string;
  verifyRed?: boolean;
  masterPlan?: string;
  agents?: Record<string, AgentConfig>;
  notify?: string[];
  limits?: Record<string, number>;
}

export async function readConfig(workspace: string, env: Record<string, string | undefined>): Promise<Config> {
  const config = await readConfigFile(workspace);
  if (env["PAWL_BASE_BRANCH"]) config.baseBranch = env["PAWL_BASE_BRANCH"];
  return config;
}

async function readConfigFile(workspace: string): Promise<Config> {
  const file = join(workspace, CONFIG_FILE);
  if (!existsSync(file)) return {};
  const parsed = parseStrictJson(readFileSync(file), CONFIG_FILE);
  const findings =
    "error" in parsed ? [parsed.error] : await validatorFor(workspace)("pawl.schema.json", parsed.value, CONFIG_FILE);
  if (findings.length > 0) throw invalid(findings[0]?.message ?? "", { findings, hint: `mend ${file}` });
  return (parsed as { value: Config }).value;
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** "90s" → 90000. The schema has checked the form. */
export function milliseconds(duration: string): number {
  const [, amount = "0", unit = "ms"] = /^(\d+)(ms|s|m|h)$/.exec(duration) ?? [];
  return Number(amount) * (UNITS[unit] ?? 1);
}
