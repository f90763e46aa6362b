/** Reading along: the log is written by the class that an agent's host writes it with. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RotatingLog } from "../../src/agents/session/rotating-log.js";
import type { TaskContext } from "../../src/orchestrator/context.js";
import { followLog } from "../../src/orchestrator/follow-log.js";
import { readLog, type RunLog } from "../../src/orchestrator/logs.js";
import { currentProcess } from "../../src/process/identity.js";
import { withActor } from "../../src/task/state.js";
import { makeTask, WORKFLOW } from "../support/workspace.js";

const MOST = 10_000;

interface Story {
  context: TaskContext;
  log: RunLog;
  written: RotatingLog;
  end(): Promise<void>;
  /** The run has ended, and left its result. */
  finish(): void;
}

/** A run that this process is at work on. */
async function makeStory(): Promise<Story> {
  const task = makeTask();
  await task.with(async (open) => {
    const run = { number: 1, owner: currentProcess(), since: "2026-05-06T07:08:09.000Z", token: "x" };
    const state = withActor(open.state, "fix", { status: "running", runs: 1, run });
    await open.commit(state, { type: "run.started", by: "pawl" });
  });
  const folder = join(task.dir, "fix", "runs", "1");
  mkdirSync(folder, { recursive: true });
  const written = new RotatingLog(join(folder, "output.log"), MOST);
  return {
    context: { dir: task.dir, workflow: WORKFLOW } as TaskContext,
    log: { phase: "fix", run: 1, file: "fix/runs/1/output.log" },
    written,
    end: () => new Promise((resolve) => written.end(() => resolve())),
    finish: () => writeFileSync(join(folder, "result.json"), "{}"),
  };
}

const line = (n: number): string => `line ${String(n).padStart(8, "0")}\n`;

describe("a log that is followed", () => {
  it("is read whole though it is put aside again and again, until its run has ended", async () => {
    const { context, log, written, end, finish } = await makeStory();
    const COUNT = 3500;
    let n = 0;
    const write = (): void => {
      // A third of a part at a time.
      for (const last = Math.min(COUNT, n + 250); n < last; n++) written.write(Buffer.from(line(n)));
    };
    write();
    let text = "";
    for await (const piece of followLog(context, log)) {
      text += piece;
      if (!text.endsWith(line(n - 1))) continue;
      if (n < COUNT) write();
      else {
        await end();
        finish();
      }
    }
    expect(text).toBe(Array.from({ length: COUNT }, (_, index) => line(index)).join(""));
  });

  it("begins with what was put aside before", async () => {
    const { context, log, written, end, finish } = await makeStory();
    for (let n = 0; n < 1000; n++) written.write(Buffer.from(line(n)));
    await end();
    finish();
    let text = "";
    for await (const piece of followLog(context, log)) text += piece;
    expect(text).toBe([...readLog(context, log)].join(""));
    expect(text.endsWith(line(999))).toBe(true);
    expect(text.length).toBeGreaterThan(MOST);
  });

  it("is left when whoever reads it wants to leave", async () => {
    const { context, log, written } = await makeStory();
    written.write(Buffer.from("first\n"));
    const leave = new AbortController();
    let text = "";
    for await (const piece of followLog(context, log, { signal: leave.signal })) {
      text += piece;
      leave.abort();
    }
    expect(text).toBe("first\n");
  });

  it("is over where nobody is at work on it, though it left no result", async () => {
    const { context, written, end, log } = await makeStory();
    written.write(Buffer.from("first\n"));
    await end();
    let text = "";
    for await (const piece of followLog(context, { ...log, run: 2 })) text += piece;
    expect(text).toBe("first\n");
  });
});
