/** Running an agent, and the record of it: prompt.md, output.log, result.json. */
import { lstatSync, mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { maskSecrets } from "../task/mask.js";
import { resolveInside } from "../task/paths.js";
import { readPlainFile } from "../task/plain-file.js";
import { sha256 } from "../workflow/hash.js";
import { runCommandAgent } from "./command.js";
import { knownEnvelopes } from "./envelopes.js";
import { PROMPT_FILE } from "./environment.js";
import { placeFile } from "./place-file.js";
import { printedArtifact, reportedError } from "./printed.js";
import { runRehearsal } from "./rehearsal.js";
import { runTerminalAgent } from "./session/terminal-agent.js";
import type { AgentHooks, AgentResult, AgentRun, AgentSpec } from "./types.js";
import { usageOf } from "./usage.js";

/** `hooks`: whoever holds it takes what it prints, and has its terminal. */
export async function runAgent(
  spec: AgentSpec,
  run: AgentRun,
  pawlBin: string,
  hooks: AgentHooks = {},
): Promise<AgentResult> {
  mkdirSync(run.runDir, { recursive: true });
  placeFile(join(run.runDir, PROMPT_FILE), run.prompt);
  const ended = await perform(spec, run, pawlBin, hooks);
  const told = withReportedError(ended, spec);
  // What an agent says of its failure may quote the key that was refused.
  const summary = maskSecrets(told.summary, run.env);
  const result = { ...told, summary, usage: usageOf(ended.stdout, spec.result) };
  if (result.outcome === "finished") await takePrinted(run, result.stdout, spec);
  const { stdout: _stdout, usage, ...how } = result;
  const record = {
    ...how,
    ...usage,
    role: run.role,
    phase: run.phase,
    attempt: run.attempt,
    repair: run.repair,
    artifacts: hashes(run),
  };
  placeFile(join(run.runDir, "result.json"), `${JSON.stringify(record, null, 2)}\n`);
  return result;
}

function perform(
  spec: AgentSpec,
  run: AgentRun,
  pawlBin: string,
  hooks: AgentHooks,
): Promise<Omit<AgentResult, "usage">> {
  const { command, terminal } = spec;
  if (command === null) return runRehearsal(run);
  if (terminal) return runTerminalAgent(command, spec, run, pawlBin, hooks);
  return runCommandAgent(command, spec, run, pawlBin, hooks);
}

/** Some exit with 0 and say in their own words that they failed; of the others, their words say more than the exit code. */
function withReportedError<T extends Omit<AgentResult, "usage">>(ended: T, spec: AgentSpec): T {
  if (ended.outcome !== "finished" && ended.outcome !== "crashed") return ended;
  const error = reportedError(ended.stdout, spec.result);
  if (error === null) return ended;
  const how = ended.outcome === "crashed" ? `${ended.summary} and` : "the agent";
  return { ...ended, outcome: "crashed", summary: `${how} reported an error: ${error}` };
}

/**
 * Some print the artifact instead of leaving it. It is taken only when it is the one thing that is missing, and JSON: a file
 * of another kind would take whatever is printed for content.
 */
async function takePrinted({ taskDir, artifacts }: AgentRun, stdout: string, { result }: AgentSpec): Promise<void> {
  const [path, ...others] = Object.values(artifacts).filter((place) => isNotLeft(taskDir, place));
  if (path === undefined || others.length > 0 || !path.endsWith(".json") || stdout.trim() === "") return;
  const printed = printedArtifact(stdout, result, result === undefined ? await knownEnvelopes() : []);
  if (printed !== null) placeFile(path, printed);
}

/** An empty file is what a tool touched and never wrote. A link or a pipe was left, and is refused as what it is. */
function isNotLeft(taskDir: string, path: string): boolean {
  if ("error" in resolveInside(taskDir, relative(taskDir, path))) return false;
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat === undefined || (stat.isFile() && stat.size === 0);
}

function hashes({ taskDir, artifacts }: AgentRun): Record<string, string | null> {
  return Object.fromEntries(Object.entries(artifacts).map(([name, path]) => [name, hashOf(taskDir, path)]));
}

/** Null for what is no file of the task's own: why it is none, the reader of the artifact says. */
function hashOf(taskDir: string, path: string): string | null {
  if ("error" in resolveInside(taskDir, relative(taskDir, path))) return null;
  try {
    return sha256(readPlainFile(path));
  } catch {
    return null;
  }
}
