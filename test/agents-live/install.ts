/** Installs the agents from npm, each version into a folder of its own, once. They are no dependency of pawl. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RealAgent } from "./agents.js";

/** The directory that holds the agent's program. */
export function install(agent: RealAgent): string {
  const base = process.env["PAWL_AGENTS_DIR"] ?? join(tmpdir(), ".pawl-agents");
  const folder = join(base, `${agent.name}-${agent.version}`);
  const bin = join(folder, "node_modules", ".bin");
  const complete = join(folder, "installed");
  if (existsSync(complete)) return bin;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const result = spawnSync(
    "npm",
    ["install", "--no-audit", "--no-fund", "--loglevel=error", `${agent.packageName}@${agent.version}`],
    { cwd: folder, encoding: "utf8", timeout: 10 * 60_000 },
  );
  if (result.status !== 0) throw new Error(`npm install ${agent.packageName}: ${result.stderr}${result.stdout}`);
  writeFileSync(complete, "");
  return bin;
}
