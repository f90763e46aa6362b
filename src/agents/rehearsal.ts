/**
 * The built-in agent that replays a script: no model, no network, the same result every time.
 *
 * `<task>/rehearsal/<phase>/<attempt>/` holds what it does in that attempt: `files/` is copied into the worktree,
 * `delete.txt` lists paths to delete there, `<artifact>.json` is left as that artifact (`<artifact>.md` at the end of a Markdown
 * file that is there already, as a section of it), `output.txt` is printed, and
 * `exit` is its exit code; `ended.json` has it end as an agent did that was recorded. `<attempt>.<n>/` is for a repair;
 * without it the attempt is played again.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { resolveInside } from "../task/paths.js";
import { readPlainFile } from "../task/plain-file.js";
import { usage } from "../errors.js";
import { placeFile } from "./place-file.js";
import type { AgentResult, AgentRun } from "./types.js";

/** How an agent that was recorded ended. */
export const ENDED_FILE = "ended.json";
export type Ended = Pick<AgentResult, "outcome" | "exitCode" | "summary">;

export async function runRehearsal(run: AgentRun): Promise<Omit<AgentResult, "usage">> {
  const started = performance.now();
  const phase = join(run.taskDir, "rehearsal", run.phase);
  const attempt = join(phase, String(run.attempt));
  const repair = `${attempt}.${run.repair}`;
  const script = run.repair > 0 && existsSync(repair) ? repair : attempt;
  const done = (
    outcome: AgentResult["outcome"],
    exitCode: number | null,
    summary: string,
  ): Omit<AgentResult, "usage"> => ({
    outcome,
    exitCode,
    summary,
    durationMs: Math.round(performance.now() - started),
    stdout: "",
  });
  if (!existsSync(script)) {
    return done("not-found", null, `the rehearsal has no ${relative(run.taskDir, script)}`);
  }
  const output = readIfThere(join(script, "output.txt")) ?? `rehearsed ${run.phase}, attempt ${run.attempt}\n`;
  placeFile(join(run.runDir, "output.log"), output);
  run.progress(output);
  if (existsSync(join(script, "files")))
    cpSync(join(script, "files"), run.cwd, { recursive: true, verbatimSymlinks: true });
  for (const path of (readIfThere(join(script, "delete.txt")) ?? "").split("\n").filter((line) => line.trim() !== "")) {
    const place = resolveInside(run.cwd, path.trim());
    if ("error" in place) throw usage(`delete.txt: ${place.error.message}`);
    rmSync(place.path, { recursive: true, force: true });
  }
  for (const [name, path] of Object.entries(run.artifacts)) {
    const source = readdirSync(script).find((file) => file.replace(/\.[a-z]+$/, "") === name);
    if (source === undefined) continue;
    mkdirSync(dirname(path), { recursive: true });
    placeFile(path, Buffer.concat([beginningOf(path), readFileSync(join(script, source))]));
  }
  const ended = readIfThere(join(script, ENDED_FILE));
  if (ended !== undefined) {
    const { outcome, exitCode, summary } = JSON.parse(ended) as Ended;
    return done(outcome, exitCode, summary);
  }
  const exitCode = Number(readIfThere(join(script, "exit")) ?? "0");
  return exitCode === 0
    ? done("finished", 0, "the rehearsal went through its script")
    : done("crashed", exitCode, `the rehearsal exited with ${exitCode}`);
}

function beginningOf(path: string): Buffer {
  if (!path.endsWith(".md") || !existsSync(path)) return Buffer.alloc(0);
  return Buffer.concat([readPlainFile(path), Buffer.from("\n")]);
}

function readIfThere(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
