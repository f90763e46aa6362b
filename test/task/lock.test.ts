/** Several real processes on one task: what is asked of the lock cannot be shown by one. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { acquireLock } from "../../src/task/lock.js";
import { loadTask } from "../../src/task/store.js";
import { errorOf } from "../support/errors.js";
import { FIX_A_BUG } from "../support/workflow-text.js";
import { makeDirectory, makeTask, PACKAGE, WORKFLOW, type TestTask } from "../support/workspace.js";

/** A process of its own that has `openTask`, `acquireLock`, `dir` and `workflow`; what it prints is what it has to say. */
function startProcess(
  dir: string,
  body: string,
): { child: ChildProcess; said(word: string): Promise<void>; done: Promise<number | null> } {
  const source = (path: string): string => JSON.stringify(join(PACKAGE, "src", path));
  const script = join(makeDirectory(), "script.mts");
  writeFileSync(
    script,
    `import { openTask, loadTask } from ${source("task/store.ts")};
     import { acquireLock } from ${source("task/lock.ts")};
     import { parseWorkflow } from ${source("workflow/parse-workflow.ts")};
     const dir = ${JSON.stringify(dir)};
     const workflow = parseWorkflow(${JSON.stringify(FIX_A_BUG)}, "bug.md");
     ${body}`,
  );
  const child = spawn(process.execPath, ["--import", "tsx", script], {
    cwd: PACKAGE,
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  const listeners = new Set<() => void>();
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    for (const listener of listeners) listener();
  });
  const done = new Promise<number | null>((resolve) => child.once("close", resolve));
  return {
    child,
    done,
    said: (word) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (output.includes(word)) resolve();
        };
        listeners.add(look);
        void done.then((code) => reject(new Error(`ended with ${code} before it said ${word}: ${output}`)));
        look();
      }),
  };
}

/** Commits so many events, each under a lock of its own, and one process as eagerly as the other. */
const committing = (name: string, count: number): string => `
  for (let n = 1; n <= ${count}; n++) {
    const task = await openTask(dir, workflow, () => new Date());
    await task.begin(${JSON.stringify(name)});
    await task.commit({ ...task.state, counters: { ...task.state.counters, all: (task.state.counters.all ?? 0) + 1 } },
      { type: "note", by: ${JSON.stringify(name)}, reason: ${JSON.stringify(`${name} `)} + n });
    task.close();
    if (n === 1) console.log("begun");
  }`;

const holding = `
  const lock = await acquireLock(dir + "/history.jsonl");
  console.log("held");
  process.stdin.resume();`;

async function count(task: TestTask, names: string[], each: number): Promise<void> {
  const { events, findings } = task.history();
  expect(findings).toEqual([]);
  const notes = events.filter(({ type }) => type === "note");
  expect(notes).toHaveLength(names.length * each);
  for (const name of names) {
    const own = notes.filter(({ by }) => by === name).map(({ reason }) => reason);
    expect(own).toEqual(Array.from({ length: each }, (_, n) => `${name} ${n + 1}`));
  }
  expect(events.filter(({ type }) => type === "task.created")).toHaveLength(1);
  expect(loadTask(task.dir, WORKFLOW).state).toMatchObject({
    counters: { all: names.length * each },
    revision: events.length,
  });
}

describe("two processes on one task", () => {
  it("lose none of each other's events; who only looks is never told that something is wrong", async () => {
    const task = makeTask();
    const one = startProcess(task.dir, committing("one", 200));
    const two = startProcess(task.dir, committing("two", 200));
    const reader = startProcess(
      task.dir,
      `let seen = 0;
       while (seen < 401) {
         const { state } = loadTask(dir, workflow);
         if (state.revision < seen) throw new Error("went back from " + seen + " to " + state.revision);
         seen = state.revision;
       }`,
    );
    expect(await Promise.all([one.done, two.done, reader.done])).toEqual([0, 0, 0]);
    await count(task, ["one", "two"], 200);
  });

  it("one that is killed in the middle of it takes nothing with it", async () => {
    const task = makeTask();
    const victim = startProcess(task.dir, committing("victim", 1_000_000));
    const other = startProcess(task.dir, committing("other", 60));
    await Promise.all([victim.said("begun"), other.said("begun")]);
    victim.child.kill("SIGKILL");
    expect(await other.done).toBe(0);
    await victim.done;
    (await task.open()).close();
    const { events, findings } = task.history();
    expect(findings).toEqual([]);
    expect(events.filter(({ by }) => by === "other").filter(({ type }) => type === "note")).toHaveLength(60);
    const own = events.filter(({ by, type }) => by === "victim" && type === "note").map(({ reason }) => reason);
    expect(own).toEqual(own.map((_reason, n) => `victim ${n + 1}`));
    expect(loadTask(task.dir, WORKFLOW).state.counters["all"]).toBe(60 + own.length);
  });
});

describe("the lock", () => {
  it("is held against another process, and freed by its end, however that comes", async () => {
    const task = makeTask();
    const file = join(task.dir, "history.jsonl");
    const holder = startProcess(task.dir, holding);
    await holder.said("held");
    expect(await errorOf(acquireLock(file, 0))).toMatchObject({ kind: "refused", message: /held by another pawl/ });
    holder.child.kill("SIGKILL");
    await holder.done;
    // No patience at all: nothing has to be waited for, or cleared away.
    (await acquireLock(file, 0)).release();
  });

  it("is held against the same process too, until it is released", async () => {
    const file = join(makeTask().dir, "history.jsonl");
    const lock = await acquireLock(file);
    expect((await errorOf(acquireLock(file, 0))).hint).toContain("wait for it");
    lock.release();
    (await acquireLock(file, 0)).release();
  });

  it("comes to whoever waits for it", async () => {
    const file = join(makeTask().dir, "history.jsonl");
    const lock = await acquireLock(file);
    const waiting = acquireLock(file);
    lock.release();
    (await waiting).release();
  });

  it.each([
    ["deleted", (file: string) => rmSync(file)],
    [
      "replaced",
      (file: string) => {
        writeFileSync(`${file}.new`, "");
        renameSync(`${file}.new`, file);
      },
    ],
  ])(
    "on a file that was %s meanwhile protects nothing: the next one is on what is there now",
    async (_what, change) => {
      const file = join(makeTask().dir, "history.jsonl");
      const old = await acquireLock(file);
      change(file);
      const fresh = await acquireLock(file, 0);
      // The new lock is on the file that everybody sees from now on.
      expect(existsSync(file)).toBe(true);
      expect((await errorOf(acquireLock(file, 0))).kind).toBe("refused");
      old.release();
      expect((await errorOf(acquireLock(file, 0))).kind).toBe("refused");
      fresh.release();
    },
  );

  it("whoever waited while the file was deleted gets none on the deleted one", async () => {
    const task = makeTask();
    await task.commit("one");
    const file = join(task.dir, "history.jsonl");
    const old = await acquireLock(file);
    const waiting = task.open();
    rmSync(file);
    old.release();
    // The history is gone: that is noticed, and not written over.
    expect(await errorOf(waiting)).toMatchObject({ kind: "invalid", message: /does not end with the event/ });
  });

  it("is no reason to fail for a task that is closed twice, or could not be opened", async () => {
    const task = makeTask();
    const open = await task.open();
    open.close();
    open.close();
    task.write("state.json", "{");
    await errorOf(task.open());
    (await acquireLock(join(task.dir, "history.jsonl"), 0)).release();
  });

  it("says what is wrong where there is no directory to lock in", async () => {
    const error = await errorOf(acquireLock(join(makeDirectory(), "nowhere", "history.jsonl"), 0));
    expect(error).toMatchObject({ kind: "failed", message: /cannot open .*nowhere.history\.jsonl for writing/ });
  });
});
