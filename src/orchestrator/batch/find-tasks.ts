/** The tasks in the directories that a batch is given. Each is a workspace, its `tasks/`, or one task in there. */
import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { usage } from "../../errors.js";
import { isTaskId } from "../../task/paths.js";
import { HISTORY_FILE } from "../../task/store.js";
import { TASK_FILE } from "../../task/task-file.js";
import { listTaskIds, taskDirectory, type Workspace } from "../../workspace/workspace.js";

export interface FoundTask {
  workspace: Workspace;
  id: string;
}

const DIRECTORY_HINT = "give a workspace, its tasks/ directory, or a task's own";
const TRACES = [TASK_FILE, "state.json", HISTORY_FILE];

export function findTasks(base: Workspace, directory: string): FoundTask[] {
  const path = resolve(base.cwd, directory);
  if (!existsSync(path) || !statSync(path).isDirectory())
    throw usage(`there is no directory ${path}`, { hint: DIRECTORY_HINT });
  const at = (root: string): Workspace => ({ ...base, root });
  const all = (root: string): FoundTask[] =>
    listTaskIds(at(root))
      .map((id) => ({ workspace: at(root), id }))
      .filter(isTask);
  if (basename(path) === "tasks") return all(dirname(path));
  if (basename(dirname(path)) === "tasks" && isTaskId(basename(path))) {
    const task = { workspace: at(dirname(dirname(path))), id: basename(path) };
    if (isTask(task)) return [task];
    throw usage(`${path} is no task: expected one of ${TRACES.join(", ")} in it, found none`, {
      hint: `write ${join(path, TASK_FILE)}, or name another directory`,
    });
  }
  if (existsSync(join(path, "tasks"))) return all(path);
  throw usage(`${path} holds no tasks`, { hint: DIRECTORY_HINT });
}

/** Other things lie below `tasks/`, too: notes, fixtures, what an editor left. */
export function isTask({ workspace, id }: FoundTask): boolean {
  return isTaskId(id) && TRACES.some((name) => existsSync(join(taskDirectory(workspace, id), name)));
}
