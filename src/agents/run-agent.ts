/** Running an agent, and the record of it: prompt.md, output.log, result.json. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../workflow/hash.js";
import { runCommandAgent } from "./command.js";
import { PROMPT_FILE } from "./environment.js";
import { printedArtifact, reportedError } from "./printed.js";
import { runRehearsal } from "./rehearsal.js";
import type { AgentResult, AgentRun, AgentSpec } from "./types.js";
import { usageOf } from "./usage.js";

export async function runAgent(spec: AgentSpec, run: AgentRun, pawlBin: string): Promise<AgentResult> {
  mkdirSync(run.runDir, { recursive: true });
  writeFileSync(join(run.runDir, PROMPT_FILE), run.prompt);
  const ended =
    spec.command === null ? await runRehearsal(run) : await runCommandAgent(spec.command, spec, run, pawlBin);
  const result = { ...withReportedError(ended, spec), usage: usageOf(ended.stdout, spec.result) };
  if (result.outcome === "finished") takePrinted(run.artifacts, result.stdout, spec);
  const { stdout: _stdout, usage, ...how } = result;
  const record = {
    ...how,
    ...usage,
    role: run.role,
    phase: run.phase,
    attempt: run.attempt,
    repair: run.repair,
    artifacts: hashes(run.artifacts),
  };
  writeFileSync(join(run.runDir, "result.json"), `${JSON.stringify(record, null, 2)}\n`);
  return result;
}

/** Some exit with 0 and say in their own words that they failed. */
function withReportedError<T extends Omit<AgentResult, "usage">>(ended: T, spec: AgentSpec): T {
  const error = ended.outcome === "finished" ? reportedError(ended.stdout, spec.result) : null;
  return error === null ? ended : { ...ended, outcome: "crashed", summary: `the agent reported an error: ${error}` };
}

/** Some print the artifact instead of leaving it. It is taken only when it is the one thing that is missing. */
function takePrinted(artifacts: Record<string, string>, stdout: string, spec: AgentSpec): void {
  const [path, ...others] = Object.values(artifacts).filter(isNotLeft);
  if (path === undefined || others.length > 0) return;
  const printed = printedArtifact(stdout, spec.result);
  if (printed !== null) writeFileSync(path, printed.text);
}

/** An empty file is what a tool touched and never wrote. */
function isNotLeft(path: string): boolean {
  return !existsSync(path) || statSync(path).size === 0;
}

function hashes(artifacts: Record<string, string>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(artifacts).map(([name, path]) => [name, existsSync(path) ? sha256(readFileSync(path)) : null]),
  );
}
