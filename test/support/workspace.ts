/** Task directories for tests: temporary, with a clock that stands still, and a small workflow of their own. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { readHistory, type HistoryEvent } from "../../src/task/history.js";
import { HISTORY_FILE, openTask, type OpenTask } from "../../src/task/store.js";
import type { TaskState } from "../../src/task/state.js";
import type { Workflow } from "../../src/workflow/types.js";
import { writeAt } from "./repository.js";
import { FIX_A_BUG, parse } from "./workflow-text.js";

export const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
/** Phases: reproduce, fix, verify, stuck, done. */
export const WORKFLOW: Workflow = parse(FIX_A_BUG);
export const NOW = new Date("2026-05-06T07:08:09.000Z");

export interface TestTask {
  dir: string;
  write(path: string, content: string | Uint8Array): void;
  read(path: string): string;
  bytes(path: string): Buffer;
  has(path: string): boolean;
  remove(path: string): void;
  open(): Promise<OpenTask>;
  /** Opens, puts the task on record, does the work, closes. */
  with<T>(work: (task: OpenTask) => Promise<T>): Promise<T>;
  /** So many notes, one event each; gives the state after the last. */
  commit(...notes: string[]): Promise<TaskState>;
  history(): { events: HistoryEvent[]; findings: { message: string }[] };
  /** Edits the state file as somebody would by hand. */
  editState(edit: (state: Record<string, unknown>) => void): void;
  /** The task as it is now, in a directory of its own. */
  copy(): TestTask;
}

/** A directory that is removed after the test. */
export function makeDirectory(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pawl-test-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

export function makeTask(root: string = makeDirectory(), workflow: Workflow = WORKFLOW): TestTask {
  let copies = 0;
  const dir = join(root, "tasks", "t1");
  mkdirSync(dir, { recursive: true });
  const task: TestTask = {
    dir,
    write: (path, content) => writeAt(join(dir, path), content),
    read: (path) => readFileSync(join(dir, path), "utf8"),
    bytes: (path) => readFileSync(join(dir, path)),
    has: (path) => existsSync(join(dir, path)),
    remove: (path) => rmSync(join(dir, path), { recursive: true }),
    open: () => openTask(dir, workflow, () => NOW),
    with: async (work) => {
      const open = await task.open();
      try {
        await open.begin("Ada");
        return await work(open);
      } finally {
        open.close();
      }
    },
    commit: (...notes) =>
      task.with(async (open) => {
        for (const note of notes) await commitNote(open, note);
        return open.state;
      }),
    history: () => readHistory(join(dir, HISTORY_FILE)),
    editState: (edit) => {
      const state = JSON.parse(task.read(workflow.state.file)) as Record<string, unknown>;
      edit(state);
      task.write(workflow.state.file, `${JSON.stringify(state, null, 2)}\n`);
    },
    copy: () => {
      const other = `${root}-copy-${++copies}`;
      onTestFinished(() => rmSync(other, { recursive: true, force: true }));
      cpSync(root, other, { recursive: true });
      return makeTask(other, workflow);
    },
  };
  return task;
}

export function commitNote(open: OpenTask, note: string): Promise<HistoryEvent> {
  const notes = (open.state.fields["notes"] ?? []) as string[];
  const next = { ...open.state, fields: { ...open.state.fields, notes: [...notes, note] } };
  return open.commit(next, { type: "note", by: "Ada", reason: note });
}
