import { readdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { archiveArtifact, planArchive, type Move } from "../../src/task/archive.js";
import { readEvidence } from "../../src/task/evidence.js";
import { loadTask } from "../../src/task/store.js";
import { errorOf } from "../support/errors.js";
import { commitNote, makeTask, WORKFLOW, type TestTask } from "../support/workspace.js";

const report = { ...WORKFLOW.artifacts[0]!, file: "out/report.json" };

describe("putting an artifact away", () => {
  it("moves it beside the run that made it, and never over an earlier one", async () => {
    const task = makeTask();
    const places: (string | null)[] = [];
    for (const content of ["one", "two", "three"]) {
      task.write("out/report.json", content);
      places.push(await archiveArtifact(task.dir, report, "fix", 1));
    }
    expect(places).toEqual([
      "fix/runs/1/archive/report.json",
      "fix/runs/1/archive/report.json.2",
      "fix/runs/1/archive/report.json.3",
    ]);
    expect(places.map((place) => task.read(place ?? ""))).toEqual(["one", "two", "three"]);
    expect(task.has("out/report.json")).toBe(false);
  });

  it("keeps a file of the same name that somebody else put there", async () => {
    const task = makeTask();
    task.write("fix/runs/2/archive/report.json", "mine");
    task.write("out/report.json", "new");
    expect(await archiveArtifact(task.dir, report, "fix", 2)).toBe("fix/runs/2/archive/report.json.2");
    expect(task.read("fix/runs/2/archive/report.json")).toBe("mine");
  });

  it("has nothing to do where nothing is, and leaves no folder for it", async () => {
    const task = makeTask();
    expect(await archiveArtifact(task.dir, report, "fix", 1)).toBeNull();
    expect(readdirSync(task.dir)).toEqual([]);
  });

  it("leaves a section's file where it is: the rest of it lives on", async () => {
    const task = makeTask();
    task.write("out/report.json", "## Review\n");
    expect(await archiveArtifact(task.dir, { ...report, section: "Review" }, "fix", 1)).toBeNull();
    expect(task.read("out/report.json")).toBe("## Review\n");
  });

  it("touches nothing outside: neither through `..` nor through a link", async () => {
    const task = makeTask();
    task.write("../outside.json", "theirs");
    symlinkSync(join(task.dir, "..", "outside.json"), join(task.dir, "link.json"));
    for (const file of ["../outside.json", "link.json", join(task.dir, "..", "outside.json")])
      expect(await archiveArtifact(task.dir, { ...report, file }, "fix", 1)).toBeNull();
    expect(task.read("../outside.json")).toBe("theirs");
  });
});

describe("putting away with a commit", () => {
  const to = "fix/runs/1/archive/report.json";
  const plan = (task: TestTask, planned: Move[] = []): Move | null => planArchive(task.dir, report, "fix", 1, planned);
  const condition = async (task: TestTask): Promise<string | undefined> => {
    const workflow = { ...WORKFLOW, artifacts: [report] };
    const { state } = loadTask(task.dir, workflow);
    const given = { directory: task.dir, workflow, state, validate: async () => [], checkSource: async () => null };
    return (await readEvidence(["report"], given))["report"]?.condition;
  };

  it("plans without touching anything, each file once, no two to the same place", () => {
    const task = makeTask();
    expect(plan(task)).toBeNull();
    task.write("out/report.json", "{}");
    task.write("other/report.json", "{}");
    const first = plan(task)!;
    expect(first).toEqual({ from: "out/report.json", to });
    expect(plan(task, [first])).toBe(first);
    const other = planArchive(task.dir, { ...report, file: "other/report.json" }, "fix", 1, [first]);
    expect(other).toEqual({ from: "other/report.json", to: `${to}.2` });
    expect(readdirSync(task.dir).sort()).toEqual(["other", "out"]);
  });

  it("moves the file when the state is written, and forgets it with the next commit", async () => {
    const task = makeTask();
    task.write("out/report.json", "{}");
    await task.with(async (open) => {
      await open.commit({ ...open.state, putAway: [plan(task)!] }, { type: "note", by: "Ada" });
      expect([task.has("out/report.json"), task.read(to)]).toEqual([false, "{}"]);
      // What comes to its place now is something new, and stays.
      task.write("out/report.json", '{"new":1}');
      await commitNote(open, "on");
    });
    expect(task.read("out/report.json")).toBe('{"new":1}');
    expect(task.read("state.json")).not.toContain("putAway");
    expect(task.history().findings).toEqual([]);
  });

  it("leaves the file where it is when the commit is refused", async () => {
    const task = makeTask();
    task.write("out/report.json", "{}");
    await task.with(async (open) => {
      task.editState((state) => (state["phase"] = "done"));
      const next = { ...open.state, putAway: [plan(task)!] };
      expect((await errorOf(open.commit(next, { type: "note", by: "Ada" }))).kind).toBe("invalid");
    });
    expect(task.has("out/report.json")).toBe(true);
  });

  it("is finished by the next writer after a crash; until then the file counts for nothing", async () => {
    const task = makeTask();
    task.write("out/report.json", "{}");
    await task.commit("one");
    expect(await condition(task)).toBe("ok");
    await task.with((open) => open.commit({ ...open.state, putAway: [plan(task)!] }, { type: "note", by: "Ada" }));
    // As if the machine had stopped right after the state was written.
    renameSync(join(task.dir, to), join(task.dir, "out/report.json"));
    expect(await condition(task)).toBe("missing");
    (await task.open()).close();
    expect([task.has("out/report.json"), task.read(to)]).toEqual([false, "{}"]);
    // A second writer finds nothing more to do, whatever has come since.
    task.write("out/report.json", '{"new":1}');
    (await task.open()).close();
    expect([task.read("out/report.json"), task.read(to)]).toEqual(['{"new":1}', "{}"]);
    expect(await condition(task)).toBe("ok");
  });

  it("never leads out of the task directory", async () => {
    const task = makeTask();
    task.write("../outside.json", "theirs");
    task.write("out/report.json", "{}");
    const moves = [
      { from: "../outside.json", to: "mine.json" },
      { from: "out/report.json", to: "../../stolen.json" },
    ];
    await task.with((open) => open.commit({ ...open.state, putAway: moves }, { type: "note", by: "Ada" }));
    expect([task.read("../outside.json"), task.read("out/report.json")]).toEqual(["theirs", "{}"]);
    expect(task.has("../../stolen.json")).toBe(false);
  });
});
