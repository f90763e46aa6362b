/** Measuring, so that a busy machine does not decide: the things compared are run in turn, and medians are compared. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Result {
  name: string;
  measured: string;
  target: string;
  met: boolean;
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** The time of each, in ms, measured in turn. */
export async function inTurn<K extends string>(
  rounds: number,
  work: Record<K, () => unknown>,
): Promise<Record<K, number>> {
  const times = new Map<K, number[]>();
  for (let round = 0; round < rounds; round++) {
    for (const name of Object.keys(work) as K[]) {
      const start = performance.now();
      await work[name]();
      times.set(name, [...(times.get(name) ?? []), performance.now() - start]);
    }
  }
  return Object.fromEntries([...times].map(([name, values]) => [name, median(values)])) as Record<K, number>;
}

/** An environment in which nothing slows every start of node, such as extra certificates. */
export function plainEnvironment(): Record<string, string> {
  const home = mkdtempSync(join(tmpdir(), "pawl-bench-home-"));
  return { PATH: process.env["PATH"] ?? "", HOME: home, GIT_CONFIG_GLOBAL: "/dev/null", PAWL_USER: "bench" };
}

export function runNode(args: string[], options: { cwd: string; env: Record<string, string> }): void {
  const result = spawnSync(process.execPath, args, {
    ...options,
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
  });
  if (result.status !== 0) throw new Error(`${args.join(" ")} exited with ${String(result.status)}: ${result.stderr}`);
}

/** The most memory that a run of node needed, in MiB. */
export function peakMemory(args: string[], options: { cwd: string; env: Record<string, string> }): number {
  const folder = mkdtempSync(join(tmpdir(), "pawl-bench-memory-"));
  const out = join(folder, "rss");
  const hook = join(folder, "hook.cjs");
  writeFileSync(
    hook,
    `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(out)}, String(process.resourceUsage().maxRSS)));`,
  );
  runNode(["--require", hook, ...args], options);
  return Number(readFileSync(out, "utf8")) / 1024;
}
