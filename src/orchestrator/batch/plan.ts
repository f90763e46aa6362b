/** Which tasks a batch runs, and in which order they may begin: `after:` in task.md. */
import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { invalid, nearest, usage, type Finding } from "../../errors.js";
import { isTaskId } from "../../task/paths.js";
import { readTaskFile, TASK_FILE } from "../../task/task-file.js";
import { listTaskIds, taskDirectory, type Workspace } from "../../workspace/workspace.js";

export interface BatchTask {
  id: string;
  workspace: Workspace;
  /** Ids of tasks that have to arrive first. */
  after: string[];
}

/** Each directory is a workspace, its `tasks/`, or one task in there. */
export function planBatch(base: Workspace, directories: string[]): BatchTask[] {
  const tasks = new Map<string, BatchTask>();
  for (const directory of directories) {
    for (const { workspace, id } of tasksOf(base, directory)) {
      const dir = taskDirectory(workspace, id);
      if (!tasks.has(dir)) tasks.set(dir, { id, workspace, after: readTaskFile(dir)?.after ?? [] });
    }
  }
  const planned = [...tasks.values()];
  if (planned.length === 0)
    throw usage(`there is no task in ${directories.join(", ")}`, { hint: 'make one: pawl new "<title>"' });
  const findings = [...unknownNames(planned), ...doubledIds(planned), ...circles(planned)];
  if (findings.length > 0)
    throw invalid(findings[0]?.message ?? "", { findings, hint: "mend `after:` in task.md; nothing was run" });
  return planned;
}

function tasksOf(base: Workspace, directory: string): { workspace: Workspace; id: string }[] {
  const path = resolve(base.cwd, directory);
  if (!existsSync(path) || !statSync(path).isDirectory()) {
    throw usage(`there is no directory ${path}`, { hint: "give a workspace, its tasks/ directory, or a task's own" });
  }
  const at = (root: string): Workspace => ({ ...base, root });
  const all = (root: string): { workspace: Workspace; id: string }[] =>
    listTaskIds(at(root)).map((id) => ({ workspace: at(root), id }));
  if (basename(path) === "tasks") return all(dirname(path));
  if (basename(dirname(path)) === "tasks" && isTaskId(basename(path)))
    return [{ workspace: at(dirname(dirname(path))), id: basename(path) }];
  if (existsSync(join(path, "tasks"))) return all(path);
  throw usage(`${path} holds no tasks`, { hint: "give a workspace, its tasks/ directory, or a task's own" });
}

function unknownNames(tasks: BatchTask[]): Finding[] {
  const ids = tasks.map(({ id }) => id);
  return tasks.flatMap(({ id, after }) =>
    after
      .filter((name) => !ids.includes(name))
      .map((name) => {
        const near = nearest(name, ids);
        return {
          message: `${id} waits for \`${name}\`, which is no task of this batch`,
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
