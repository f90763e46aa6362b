/** A durable transition, state and history on the disk, beside one bare write + fsync + rename. */
import { closeSync, fsyncSync, mkdtempSync, openSync, renameSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadWorkflow } from "../src/system/workflows.js";
import { openTask } from "../src/task/store.js";
import { inTurn, type Result } from "./measure.js";

const ROUNDS = 300;

export async function transitions(): Promise<Result[]> {
  const directory = mkdtempSync(join(tmpdir(), "pawl-bench-commit-"));
  const workflow = await loadWorkflow("global-state-machine", directory);
  const task = await openTask(directory, workflow, () => new Date());
  await task.begin("bench");
  const content = Buffer.alloc(2048, "x");
  const times = await inTurn(ROUNDS, {
    bare: () => {
      const fd = openSync(join(directory, "bare.tmp"), "w");
      writeSync(fd, content);
      fsyncSync(fd);
      closeSync(fd);
      renameSync(join(directory, "bare.tmp"), join(directory, "bare"));
    },
    commit: () => task.commit(task.state, { type: "transition", by: "bench", from: "planning", to: "planning" }),
  });
  task.close();
  const ratio = times.commit / times.bare;
  return [
    {
      name: "a durable transition beside one write + fsync + rename",
      measured: `${ratio.toFixed(2)} times (${times.commit.toFixed(2)} ms / ${times.bare.toFixed(2)} ms)`,
      target: "at most 4 times",
      met: ratio <= 4,
    },
  ];
}
