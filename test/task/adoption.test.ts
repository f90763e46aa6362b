/** What the evidence of a task is worth after a human has taken over records that disagreed. */
import { describe, expect, it } from "vitest";
import { readEvidence } from "../../src/task/evidence.js";
import { adoptTask, loadTask } from "../../src/task/store.js";
import { sha256 } from "../../src/workflow/hash.js";
import { changed, FIX_A_BUG, parse } from "../support/workflow-text.js";
import { makeTask, NOW, type TestTask } from "../support/workspace.js";

/** `report`; `change`, a verdict on it; `tests`, a verdict on that: all three by agents. */
const WORKFLOW = parse(changed(FIX_A_BUG, ["`count-files` | report", "agent | report"], ["`run-tests`   ", "agent"]));
const FILES = { report: '{"n":1}', change: '{"n":2}', tests: '{"n":3}' };
const HASHES = { report: sha256(FILES.report), change: sha256(FILES.change), tests: sha256(FILES.tests) };

/** In `verify`: the report and the change were accepted, the tests are asked for. */
async function inVerify(): Promise<TestTask> {
  const task = makeTask(undefined, WORKFLOW);
  for (const [name, text] of Object.entries(FILES)) task.write(`${name}.json`, text);
  await task.with(async (open) => {
    const steps = [
      { from: "reproduce", to: "fix", evidence: { report: HASHES.report } },
      { from: "fix", to: "verify", evidence: { report: HASHES.report, change: HASHES.change } },
    ];
    for (const step of steps)
      await open.commit({ ...open.state, phase: step.to }, { type: "transition", by: "Ada", ...step });
  });
  return task;
}

const adopt = (task: TestTask): ReturnType<typeof adoptTask> =>
  adoptTask(task.dir, WORKFLOW, { by: "Ada", reason: "an editor's slip", now: () => NOW });

async function conditions(task: TestTask): Promise<Record<string, string>> {
  const { state } = loadTask(task.dir, WORKFLOW);
  const given = {
    directory: task.dir,
    workflow: WORKFLOW,
    state,
    validate: async () => [],
    checkSource: async () => null,
  };
  const statuses = await readEvidence(["tests"], given);
  return Object.fromEntries(Object.values(statuses).map(({ name, condition }) => [name, condition]));
}

const SOUND = { report: "ok", change: "ok", tests: "ok" };
const NOTHING_JUDGED = { report: "ok", change: "stale", tests: "stale" };

const edit = (task: TestTask): void => task.editState((state) => (state["revision"] = 99));

describe("after an adoption", () => {
  it("what was sound is sound", async () => {
    const task = await inVerify();
    edit(task);
    const { state } = await adopt(task);
    expect(state.evidence).toEqual({
      report: { inputs: {}, accepted: HASHES.report },
      change: { inputs: { report: HASHES.report }, accepted: HASHES.change },
      tests: { inputs: { change: HASHES.change } },
    });
    expect(await conditions(task)).toEqual(SOUND);
  });

  it.each([
    ["the state file was edited", edit],
    ["the state file was torn", (task: TestTask) => task.write("state.json", "{")],
    ["the state file was deleted", (task: TestTask) => task.remove("state.json")],
    [
      "the records in the state file were edited to fit",
      (task: TestTask) => task.editState((state) => (state["evidence"] = { change: { inputs: {} } })),
    ],
  ])("what was stale is stale: %s", async (_what, spoil) => {
    const task = await inVerify();
    task.write("report.json", '{"n":"another"}');
    spoil(task);
    await adopt(task);
    expect(await conditions(task)).toEqual(NOTHING_JUDGED);
    // As often as somebody tries.
    spoil(task);
    await adopt(task);
    expect(await conditions(task)).toEqual(NOTHING_JUDGED);
  });

  it("a verdict that has opened no gate yet is about what there was when it was asked for", async () => {
    const task = await inVerify();
    edit(task);
    await adopt(task);
    task.write("change.json", '{"n":"another"}');
    expect(await conditions(task)).toEqual(NOTHING_JUDGED);
  });

  it("what a phase leaves is asked for anew when the phase was entered again", async () => {
    const task = await inVerify();
    await task.with((open) =>
      open.commit({ ...open.state, phase: "fix" }, { type: "redo", by: "Ada", from: "verify", to: "fix" }),
    );
    edit(task);
    const { state } = await adopt(task);
    expect(state.evidence["change"]).toEqual({ inputs: { report: HASHES.report } });
  });

  it("a section that opened a gate before its phase was entered again opens none", async () => {
    const [report, ...others] = WORKFLOW.artifacts;
    const { schema: _schema, ...plain } = report!;
    const sectioned = { ...WORKFLOW, artifacts: [{ ...plain, file: "TASK.md", section: "Report" }, ...others] };
    const task = makeTask(undefined, sectioned);
    const accepted = sha256("It fails.");
    await task.with(async (open) => {
      const evidence = { report: accepted };
      await open.commit(open.state, { type: "transition", by: "Ada", from: "reproduce", to: "fix", evidence });
      await open.commit(open.state, { type: "redo", by: "Ada", from: "fix", to: "reproduce" });
    });
    edit(task);
    const { state } = await adoptTask(task.dir, sectioned, { by: "Ada", reason: "why", now: () => NOW });
    expect(state.evidence["report"]).toEqual({ inputs: {}, before: [accepted] });
  });

  it("no number of a run is given out a second time", async () => {
    const task = await inVerify();
    await task.with(async (open) => {
      for (const [to, run] of [
        ["fix", 1],
        ["fix", 2],
        ["verify", 1],
      ] as const)
        await open.commit(open.state, { type: "run.started", by: "pawl", from: to, to, data: { run } });
    });
    task.write("state.json", "{");
    const { state } = await adopt(task);
    expect(state.actors).toMatchObject({ fix: { runs: 2, visits: 0 }, verify: { runs: 1, visits: 1 } });
  });

  it("the state file is the witness where it is the history that was damaged", async () => {
    const task = await inVerify();
    const records = {
      report: { inputs: {}, accepted: HASHES.report },
      change: {
        inputs: { report: "an earlier one" },
        written: HASHES.change,
        archived: "fix/runs/1/archive/change.json",
      },
      tests: { inputs: { change: HASHES.change }, waived: true },
    };
    await task.with((open) => open.commit({ ...open.state, evidence: records }, { type: "note", by: "Ada" }));
    task.write("history.jsonl", `${task.read("history.jsonl")}rubbish\n`);
    const { state } = await adopt(task);
    expect(state.evidence).toEqual({
      report: records.report,
      change: { inputs: { report: "an earlier one" }, archived: "fix/runs/1/archive/change.json" },
      tests: { inputs: { change: HASHES.change } },
    });
  });

  it.each([
    ["edited", (text: string) => text.replaceAll(HASHES.report, sha256("forged"))],
    ["cut", (text: string) => `${text.split("\n").slice(0, 1).join("\n")}\nrubbish\n`],
    ["deleted", () => ""],
  ])("no verdict counts where the state was edited and the history %s", async (_what, spoil) => {
    const task = await inVerify();
    edit(task);
    task.write("history.jsonl", spoil(task.read("history.jsonl")));
    await adopt(task);
    expect(await conditions(task)).toEqual(NOTHING_JUDGED);
    // The history is in order from here on, but what was lost before is still lost.
    edit(task);
    await adopt(task);
    expect(await conditions(task)).toEqual(NOTHING_JUDGED);
  });
});
