/** What grows with the number of tasks, and what must not grow with the length of the history. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadWorkflow } from "../src/system/workflows.js";
import { formatEvent, sealEvent, type HistoryEvent } from "../src/task/history.js";
import { formatState, freshState, hashState } from "../src/task/state.js";
import { inTurn, plainEnvironment, runNode, type Result } from "./measure.js";

const ROUNDS = 7;
const LENGTHS = [10, 1_000, 100_000];
/** Beside the shortest history; what is more than noise on a busy machine would be a read of the whole file. */
const FLAT = 1.5;

export async function growth(program: string): Promise<Result[]> {
  return [await manyTasks(program, 10_000), ...(await longHistories(program))];
}

async function manyTasks(program: string, count: number): Promise<Result> {
  const cwd = mkdtempSync(join(tmpdir(), "pawl-bench-tasks-"));
  const workflow = await loadWorkflow("global-state-machine", cwd);
  for (let n = 0; n < count; n++) {
    const directory = join(cwd, "tasks", `task-${n}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(
      join(directory, "state.json"),
      formatState({ ...freshState(workflow), fields: { title: `Task ${n}` } }, workflow),
    );
  }
  const env = plainEnvironment();
  const { tasks } = await inTurn(3, { tasks: () => runNode([program, "tasks", "--json"], { cwd, env }) });
  return {
    name: `\`tasks\` over ${count} task directories`,
    measured: `${(tasks / 1000).toFixed(2)} s`,
    target: "under 3 s",
    met: tasks < 3000,
  };
}

async function longHistories(program: string): Promise<Result[]> {
  const cwd = mkdtempSync(join(tmpdir(), "pawl-bench-history-"));
  const env = plainEnvironment();
  for (const length of LENGTHS) await writeHistory(cwd, `h${length}`, length);
  const results: Result[] = [];
  for (const command of [["status"], ["next", "--dry-run"]]) {
    const runs = LENGTHS.map(
      (length) => [`h${length}`, () => runNode([program, ...command, `h${length}`, "--json"], { cwd, env })] as const,
    );
    const times = await inTurn(ROUNDS, Object.fromEntries(runs));
    const shortest = times[`h${LENGTHS[0] ?? 0}`] ?? Number.NaN;
    const longest = times[`h${LENGTHS.at(-1) ?? 0}`] ?? Number.NaN;
    results.push({
      name: `\`${command.join(" ")}\` with ${LENGTHS.at(-1) ?? 0} events beside ${LENGTHS[0] ?? 0}`,
      measured: `${(longest / shortest).toFixed(2)} times`,
      target: `at most ${FLAT} times`,
      met: longest / shortest <= FLAT,
    });
  }
  return results;
}

/** The same files that so many commits would leave, written in one go. */
async function writeHistory(cwd: string, id: string, length: number): Promise<void> {
  const directory = join(cwd, "tasks", id);
  mkdirSync(directory, { recursive: true });
  const workflow = await loadWorkflow("global-state-machine", cwd);
  const state = { ...freshState(workflow), fields: { title: id }, revision: length };
  const lines: string[] = [];
  let last: HistoryEvent | null = null;
  for (let seq = 1; seq <= length; seq++) {
    const event: HistoryEvent = sealEvent({
      seq,
      at: new Date(0).toISOString(),
      type: "note",
      by: "bench",
      to: "planning",
      state: hashState(state),
      prev: last?.hash ?? "",
    });
    lines.push(formatEvent(event));
    last = event;
  }
  writeFileSync(join(directory, "history.jsonl"), lines.join(""));
  writeFileSync(join(directory, "state.json"), formatState({ ...state, lastEvent: last }, workflow));
}
