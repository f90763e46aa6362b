/**
 * `record`: a task that real agents did becomes a rehearsal, which does the same again without them: every run's artifact
 * and change, in the form that src/agents/rehearsal.ts plays, on a repository that begins where the task began.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { exportDifference, exportTree } from "../actions/export-tree.js";
import { gitRecord } from "../actions/git-record.js";
import { openRepository, type Repository } from "../actions/repository.js";
import { ENDED_FILE, type Ended } from "../agents/rehearsal.js";
import { invalid, refused } from "../errors.js";
import { runPath } from "../task/archive.js";
import { readHistory } from "../task/history.js";
import { readPlainFile } from "../task/plain-file.js";
import { actorOf, type TaskState } from "../task/state.js";
import { HISTORY_FILE, loadTask } from "../task/store.js";
import { formatTaskFile, TASK_FILE, type TaskFile } from "../task/task-file.js";
import { sha256 } from "../workflow/hash.js";
import type { Artifact, Phase } from "../workflow/types.js";
import type { TaskContext } from "./context.js";
import { deedsIn } from "./recorded-deeds.js";

export interface Rehearsal {
  dir: string;
  /** `codegen/2` and so on, in no particular order. */
  runs: string[];
  /** Those of the workspace that differ from the document's. */
  limits: Record<string, number>;
}

export async function makeRehearsal(context: TaskContext, target: string): Promise<Rehearsal> {
  const dir = resolve(context.workspace.cwd, target);
  if (existsSync(dir))
    throw refused(`${dir} is there already`, { hint: "name a directory that is not, such as tasks/<new id>" });
  const { state } = loadTask(context.dir, context.workflow);
  const { events } = readHistory(join(context.dir, HISTORY_FILE));
  const phases = context.workflow.phases
    .filter(({ who }) => who.kind === "agent")
    .map((phase) => ({ phase, deeds: deedsIn(events, phase.name, agentArtifact(context, phase)?.name) }))
    .filter(({ deeds }) => deeds.length > 0);
  if (phases.length === 0)
    throw refused(`nobody has done an agent's work on ${context.id} yet`, { hint: `pawl next ${context.id}` });
  const settings = await context.settings();
  const repository = settings.repo === null ? null : await openRepository(settings);
  const start = gitRecord(state.fields).start;
  mkdirSync(dir, { recursive: true });
  const runs: string[] = [];
  for (const { phase, deeds } of phases) {
    let tree = start;
    // In the replay, what a human left is an attempt like any other: those that follow count from there.
    let left = 0;
    let counted = 0;
    const scriptFor = (attempt: number): string => {
      const script = join(dir, "rehearsal", phase.name, String(attempt));
      rmSync(script, { recursive: true, force: true });
      runs.push(`${phase.name}/${attempt}`);
      return script;
    };
    for (const deed of deeds) {
      if (deed.kind === "left") {
        left++;
        recordLeft(context, phase, deed.hash, scriptFor(++counted));
        continue;
      }
      // Where a human did the work, in the worktree, no agent left a record.
      const byHand = deed.finished ? { ...WENT_WELL, attempt: counted + 1 - left } : null;
      const result = readResult(join(context.dir, runPath(phase.name, deed.run))) ?? byHand;
      // A run that a crash cut off was done again, as the same attempt.
      if (result === null) continue;
      const attempt = result.attempt + left;
      tree = (await recordRun(context, state, phase, deed.run, scriptFor(attempt), result, repository, tree)) ?? tree;
      // So was one that was interrupted.
      counted = result.outcome === "interrupted" ? attempt - 1 : attempt;
    }
  }
  const file: TaskFile = {
    title: settings.title,
    workflow: context.workflow.name,
    agent: "rehearsal",
    test: settings.test,
    brief: settings.brief,
  };
  if (repository !== null && start !== undefined) {
    await exportTree(repository, start, join(dir, "rehearsal", "repo"));
    Object.assign(file, { repo: "repo", seed: "rehearsal/repo", base: "main" });
  }
  writeFileSync(join(dir, TASK_FILE), formatTaskFile(file));
  return { dir, runs: [...new Set(runs)], limits: await ownLimits(context) };
}

/** They stand in pawl.json, which belongs to the workspace: a task cannot bring them along. */
async function ownLimits({ workflow, config }: TaskContext): Promise<Record<string, number>> {
  const { limits = {} } = await config();
  return Object.fromEntries(Object.entries(limits).filter(([name, value]) => workflow.limits[name] !== value));
}

function agentArtifact({ workflow }: TaskContext, { leaves }: Phase): Artifact | undefined {
  return workflow.artifacts.find(({ name, madeBy }) => leaves.includes(name) && madeBy.kind === "agent");
}

/** The version that was accepted is in place, or was put away when the phase began anew. */
function recordLeft(context: TaskContext, phase: Phase, hash: string, script: string): void {
  const artifact = agentArtifact(context, phase);
  if (artifact === undefined) return;
  const runs = join(context.dir, phase.name, "runs");
  const archives = (existsSync(runs) ? readdirSync(runs) : []).map((run) => join(runs, run, "archive"));
  const versions = archives
    .filter((archive) => existsSync(archive))
    .flatMap((archive) => readdirSync(archive).map((name) => join(archive, name)));
  const source = [join(context.dir, artifact.file), ...versions].find(
    (file) => existsSync(file) && sha256(readPlainFile(file)) === hash,
  );
  if (source === undefined)
    throw invalid(`what a human left in ${phase.name} of ${context.id} is not there any more: ${artifact.file}`, {
      findings: [
        { message: "no version has the hash on record", file: artifact.file, expected: hash, found: "others, or none" },
      ],
      hint: `see \`pawl verify ${context.id}\``,
    });
  mkdirSync(script, { recursive: true });
  cpSync(source, join(script, `${artifact.name}.json`));
}

/** Gives the tree that the run led to, where it changed the code. */
async function recordRun(
  context: TaskContext,
  state: TaskState,
  phase: Phase,
  run: number,
  script: string,
  result: RunRecord,
  repository: Repository | null,
  before: string | undefined,
): Promise<string | undefined> {
  const folder = join(context.dir, runPath(phase.name, run));
  const artifacts = context.workflow.artifacts.filter(({ name }) => phase.leaves.includes(name));
  // What was refused is left again, so that the same is mended; what the run came to is its last repair's.
  let repairs = 0;
  const step = (): string => (repairs === 0 ? script : `${script}.${repairs}`);
  for (; existsSync(join(folder, `repair-${repairs + 1}`)); repairs++) {
    mkdirSync(step(), { recursive: true });
    for (const { name, file } of artifacts) {
      const copy = join(folder, `repair-${repairs + 1}`, `refused-${basename(file)}`);
      if (existsSync(copy)) cpSync(copy, join(step(), `${name}.json`));
    }
  }
  mkdirSync(step(), { recursive: true });
  const ended = repairs === 0 ? result : (readResult(join(folder, `repair-${repairs}`)) ?? result);
  const { exitCode, summary } = ended;
  // Nobody interrupts a rehearsal.
  const outcome = ended.outcome === "interrupted" ? "crashed" : ended.outcome;
  if (outcome !== "finished")
    writeFileSync(join(step(), ENDED_FILE), `${JSON.stringify({ outcome, exitCode, summary }, null, 2)}\n`);
  let tree: string | undefined;
  for (const artifact of artifacts) {
    const source = versionOf(context, state, artifact, phase, run);
    if (source === null) continue;
    if (artifact.madeBy.kind === "agent") cpSync(source, join(step(), `${artifact.name}.json`));
    else tree = (JSON.parse(readPlainFile(source).toString("utf8")) as { tree?: string }).tree;
  }
  if (repository === null || tree === undefined || before === undefined) return tree;
  const deleted = await exportDifference(repository, before, tree, join(step(), "files"));
  if (deleted.length > 0) writeFileSync(join(step(), "delete.txt"), `${deleted.join("\n")}\n`);
  return tree;
}

/** What a run left: put away beside it, or still in place when it was the last. */
function versionOf(
  context: TaskContext,
  state: TaskState,
  artifact: Artifact,
  phase: Phase,
  run: number,
): string | null {
  const archived = join(context.dir, runPath(phase.name, run), "archive", basename(artifact.file));
  if (existsSync(archived)) return archived;
  const current = join(context.dir, artifact.file);
  return run === actorOf(state, phase.name).runs && existsSync(current) ? current : null;
}

interface RunRecord extends Ended {
  attempt: number;
}

const WENT_WELL: Ended = { outcome: "finished", exitCode: 0, summary: "done by hand" };

function readResult(folder: string): RunRecord | null {
  const file = join(folder, "result.json");
  return existsSync(file) ? (JSON.parse(readPlainFile(file).toString("utf8")) as RunRecord) : null;
}
