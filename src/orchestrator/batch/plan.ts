/** Which tasks a batch runs, and in which order they may begin: `after:` in task.md. */
import { invalid, messageOf, nearest, usage, type Finding } from "../../errors.js";
import { readTaskFile, TASK_FILE } from "../../task/task-file.js";
import { taskDirectory } from "../../workspace/workspace.js";
import type { Engine } from "../context.js";
import { findTasks, isTask, type FoundTask } from "./find-tasks.js";
import { hasArrived, standingOf, type Standing } from "./standing.js";

/** Why a task does not even begin. */
export interface Hindrance {
  outcome: "failed" | "blocked";
  reason: string;
  /** Where it has to be mended. */
  file?: string;
}

export interface BatchTask extends FoundTask {
  /** Ids of tasks that have to arrive first. */
  after: string[];
  /** Where it stands; empty where that cannot be told. */
  phase: string;
  hindrance: Hindrance | null;
}

export async function planBatch(engine: Engine, directories: string[], until?: string): Promise<BatchTask[]> {
  const tasks = new Map<string, BatchTask>();
  for (const directory of directories) {
    for (const found of findTasks(engine.workspace, directory))
      tasks.set(taskDirectory(found.workspace, found.id), readTask(found));
  }
  const planned = [...tasks.values()];
  if (planned.length === 0)
    throw usage(`there is no task in ${directories.join(", ")}`, { hint: 'make one: pawl new "<title>"' });
  const findings = [...unknownNames(planned), ...doubledIds(planned), ...circles(planned)];
  if (findings.length > 0)
    throw invalid(findings[0]?.message ?? "", { findings, hint: "mend `after:` in task.md; nothing was run" });
  const standings: Standing[] = [];
  for (const task of planned) {
    const standing = await standingOf(engine, task);
    task.phase = standing?.phase ?? "";
    task.hindrance ??= await blockedFromOutside(engine, task, planned, until);
    if (standing !== null) standings.push(standing);
  }
  if (until !== undefined) requireKnownPhase(until, standings);
  return planned;
}

/** One that cannot be read is its own failure, and no reason to run none of the others. */
function readTask(found: FoundTask): BatchTask {
  const task = { ...found, phase: "", hindrance: null };
  try {
    return { ...task, after: readTaskFile(taskDirectory(found.workspace, found.id))?.after ?? [] };
  } catch (error) {
    const file = `${found.id}/${TASK_FILE}`;
    const reason = `${file}: ${messageOf(error).replace(`${TASK_FILE}: `, "")}`;
    return { ...task, after: [], hindrance: { outcome: "failed", reason, file } };
  }
}

/** A task of the same workspace that is not run in this batch has arrived already, or will not arrive in it. */
async function blockedFromOutside(
  engine: Engine,
  { workspace, after }: BatchTask,
  planned: BatchTask[],
  until: string | undefined,
): Promise<Hindrance | null> {
  for (const id of after.filter((name) => planned.every((task) => task.id !== name))) {
    const standing = await standingOf(engine, { workspace, id });
    if (standing !== null && hasArrived(standing, until)) continue;
    const where = standing === null ? "where it stands cannot be read" : `it is in ${standing.phase}`;
    return { outcome: "blocked", reason: `${id}, which is no part of this batch, has not arrived: ${where}` };
  }
  return null;
}

function requireKnownPhase(until: string, standings: Standing[]): void {
  const known = [...new Set(standings.flatMap(({ workflow }) => workflow.phases.map(({ name }) => name)))];
  // Where no task can be read at all, each says why by itself.
  if (known.length === 0 || known.includes(until)) return;
  const near = nearest(until, known);
  throw usage(`no task of this batch has a phase \`${until}\`; expected one of: ${known.join(", ")}`, {
    hint: near === undefined ? "give --until one of them; nothing was run" : `did you mean ${near}?`,
  });
}

function unknownNames(tasks: BatchTask[]): Finding[] {
  const ids = tasks.map(({ id }) => id);
  return tasks.flatMap(({ id, workspace, after }) =>
    after
      .filter((name) => !ids.includes(name) && !isTask({ workspace, id: name }))
      .map((name) => {
        const near = nearest(name, ids);
        return {
          message: `${id} waits for \`${name}\`, which is no task of this batch or its workspace`,
          file: `${id}/${TASK_FILE}`,
          pointer: "/after",
          expected: ids.slice(0, 20).join(", "),
          found: name,
          ...(near === undefined ? {} : { hint: `did you mean ${near}?` }),
        };
      }),
  );
}

/** Two workspaces may have a task of the same name; a dependency could not say which. */
function doubledIds(tasks: BatchTask[]): Finding[] {
  const named = new Set(tasks.flatMap(({ after }) => after));
  return [...named]
    .filter((name) => tasks.filter(({ id }) => id === name).length > 1)
    .map((name) => ({
      message: `\`${name}\` is the id of several tasks of this batch`,
      pointer: "/after",
      expected: "one",
      found: "several",
    }));
}

function circles(tasks: BatchTask[]): Finding[] {
  const state = new Map<string, "open" | "done">();
  const findings: Finding[] = [];
  const visit = (id: string, path: string[]): void => {
    if (state.get(id) === "done") return;
    if (state.get(id) === "open") {
      const circle = [...path.slice(path.indexOf(id)), id].join(" → ");
      findings.push({
        message: `the tasks wait for each other: ${circle}`,
        file: `${id}/${TASK_FILE}`,
        pointer: "/after",
        expected: "an order",
        found: circle,
      });
      return;
    }
    state.set(id, "open");
    for (const name of tasks.find((task) => task.id === id)?.after ?? []) visit(name, [...path, id]);
    state.set(id, "done");
  };
  for (const { id } of tasks) visit(id, []);
  return findings;
}
