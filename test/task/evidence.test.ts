import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Finding } from "../../src/errors.js";
import { inOrderOfJudging, inputHashes, readEvidence, sectionsBefore } from "../../src/task/evidence.js";
import { freshState, type EvidenceRecord } from "../../src/task/state.js";
import { sha256 } from "../../src/workflow/hash.js";
import type { ArtifactStatus } from "../../src/workflow/types.js";
import { changed, FIX_A_BUG, parse } from "../support/workflow-text.js";
import { makeDirectory, makeTask, WORKFLOW, type TestTask } from "../support/workspace.js";

const REPORT = '{"failing":true}';
const CHANGE = '{"files":1}';
const TESTS = '{"overall_pass":true}';
const DECIDED = changed(FIX_A_BUG, [
  "| tests    | tests.json    | tests.json    | `run-tests`   | change   |\n",
  "| tests    | tests.json    | tests.json    | `run-tests`   | change   |\n| verdict | verdict.json | | human | tests |\n",
]);

/** `report` by an agent; `change`, which judges it, by pawl; `tests`, which judges that, by pawl; `verdict` by a human. */
interface Story {
  task: TestTask;
  records: Record<string, EvidenceRecord>;
  /** What the world says about what pawl derived from it. */
  drift: Record<string, Finding>;
  asked: string[];
  look(...names: string[]): Promise<Record<string, ArtifactStatus>>;
  status(name: string): Promise<ArtifactStatus>;
}

function makeStory(records: Record<string, EvidenceRecord> = {}): Story {
  const task = makeTask();
  const workflow = parse(DECIDED);
  const story: Story = {
    task,
    records,
    drift: {},
    asked: [],
    look: (...names) =>
      readEvidence(names, {
        directory: task.dir,
        workflow,
        state: { ...freshState(workflow), evidence: story.records },
        validate: async (schema, value, file) => {
          story.asked.push(schema);
          return (value as { wrong?: boolean }).wrong === true ? [{ message: "wrong", file, pointer: "/wrong" }] : [];
        },
        checkSource: async ({ name }) => story.drift[name] ?? null,
      }),
    status: async (name) => (await story.look(name))[name] as ArtifactStatus,
  };
  return story;
}

/** Everything sound: made in order, each a verdict on what is there. */
function soundStory(): Story {
  const story = makeStory({
    report: { inputs: {} },
    change: { inputs: { report: sha256(REPORT) }, written: sha256(CHANGE) },
    tests: { inputs: { change: sha256(CHANGE) }, written: sha256(TESTS) },
    verdict: { inputs: { tests: sha256(TESTS) }, written: sha256("{}") },
  });
  story.task.write("report.json", REPORT);
  story.task.write("change.json", CHANGE);
  story.task.write("tests.json", TESTS);
  story.task.write("verdict.json", "{}");
  return story;
}

const conditions = async (story: Story): Promise<string[]> => {
  const statuses = await story.look("verdict");
  return ["report", "change", "tests", "verdict"].map((name) => statuses[name]?.condition ?? "not looked at");
};

describe("what an artifact is worth", () => {
  it("ok, with its data and hash, when it and all that it judges are sound", async () => {
    const story = soundStory();
    expect(await conditions(story)).toEqual(["ok", "ok", "ok", "ok"]);
    expect(await story.status("tests")).toEqual({
      name: "tests",
      file: "tests.json",
      condition: "ok",
      data: { overall_pass: true },
      findings: [],
      hash: sha256(TESTS),
    });
  });

  it("ok when somebody left it by hand and nothing is known of it", async () => {
    const story = makeStory();
    story.task.write("report.json", REPORT);
    expect(await story.status("report")).toMatchObject({ condition: "ok", hash: sha256(REPORT) });
  });

  it("missing, and says what is expected there", async () => {
    const status = await makeStory().status("report");
    expect(status).toMatchObject({
      condition: "missing",
      findings: [{ message: "report.json is missing", file: "report.json", expected: "a file that fits report.json" }],
    });
    expect(status).not.toHaveProperty("hash");
    expect(status).not.toHaveProperty("data");
  });

  it.each([
    ["no JSON", "{", /is not JSON/],
    ["an empty file", "", /an empty file/],
    ["a repeated key", '{"failing":false,"failing":true}', /twice/],
    ["what the schema refuses", '{"wrong":true}', /wrong/],
    ["a byte-order mark", `\uFEFF${REPORT}`, /byte-order mark/],
  ])("invalid where it holds %s; and has no data that a condition could read", async (_what, content, message) => {
    const story = makeStory();
    story.task.write("report.json", content);
    const status = await story.status("report");
    expect(status.condition).toBe("invalid");
    expect(status.findings[0]?.message).toMatch(message);
    expect(status).not.toHaveProperty("data");
  });

  it("invalid where a directory is in its place", async () => {
    const story = makeStory();
    mkdirSync(join(story.task.dir, "report.json"));
    expect(await story.status("report")).toMatchObject({ condition: "invalid", findings: [{ expected: "a file" }] });
  });

  it("stale when what it judges is another version now, and so on down the line", async () => {
    const story = soundStory();
    story.task.write("report.json", '{"failing":false}');
    expect(await conditions(story)).toEqual(["ok", "stale", "stale", "stale"]);
    expect((await story.status("change")).findings).toMatchObject([
      {
        message: "change.json is stale: it judged another version of report.json",
        file: "change.json",
        expected: `a verdict on report.json as it is now (${sha256('{"failing":false}').slice(0, 12)})`,
        found: `one on an earlier version (${sha256(REPORT).slice(0, 12)})`,
      },
    ]);
    // It is fresh again when the old version is back: content decides, not time.
    story.task.write("report.json", REPORT);
    expect(await conditions(story)).toEqual(["ok", "ok", "ok", "ok"]);
  });

  it("stale even when only a blank was changed in what it judges", async () => {
    const story = soundStory();
    story.task.write("report.json", `${REPORT}\n`);
    expect((await story.status("change")).condition).toBe("stale");
  });

  it.each([
    ["missing", (story: Story) => story.task.remove("report.json")],
    ["invalid", (story: Story) => story.task.write("report.json", "{")],
  ])("stale when what it judges is %s", async (condition, change) => {
    const story = soundStory();
    change(story);
    expect(await conditions(story)).toEqual([condition, "stale", "stale", "stale"]);
    expect((await story.status("change")).findings[0]).toMatchObject({
      message: `change.json judges report.json, which is ${condition}`,
      expected: "a valid, fresh report.json",
    });
  });

  it("stale when the world is no longer what pawl derived it from", async () => {
    const story = soundStory();
    story.drift["change"] = { message: "the worktree was changed", file: "change.json" };
    expect(await conditions(story)).toEqual(["ok", "stale", "stale", "stale"]);
    expect((await story.status("change")).findings).toEqual([story.drift["change"]]);
  });

  it.each(["change", "tests", "verdict"])("forged: %s that pawl did not write", async (name) => {
    const story = soundStory();
    story.records[name] = { inputs: story.records[name]?.inputs ?? {} };
    const status = await story.status(name);
    expect(status.condition).toBe("forged");
    expect(status.findings[0]).toMatchObject({
      message: `${name}.json was not written by pawl`,
      file: `${name}.json`,
      expected: "what pawl writes",
    });
    expect(status.findings[0]?.hint).toContain(name === "verdict" ? "pawl answer" : "pawl makes it itself");
    expect(status).not.toHaveProperty("data");
  });

  it.each(["change", "tests", "verdict"])("forged: %s that was changed after pawl wrote it", async (name) => {
    const story = soundStory();
    story.task.write(`${name}.json`, `${story.task.read(`${name}.json`)} `);
    expect(await story.status(name)).toMatchObject({
      condition: "forged",
      findings: [{ message: `${name}.json was changed after pawl wrote it` }],
    });
  });

  it("an agent's artifact is nobody's forgery", async () => {
    const story = soundStory();
    story.records["report"] = { inputs: {}, written: "something else" };
    expect((await story.status("report")).condition).toBe("ok");
  });

  it("stale when a verdict was changed after it had opened a gate", async () => {
    const workflow = changed(DECIDED, ["`run-tests`   | change", "agent   | change"]);
    const task = makeTask();
    const parsed = parse(workflow);
    task.write("report.json", REPORT);
    task.write("change.json", CHANGE);
    task.write("tests.json", TESTS);
    const records: Record<string, EvidenceRecord> = {
      change: { inputs: {}, written: sha256(CHANGE) },
      tests: { inputs: { change: sha256(CHANGE) }, accepted: sha256('{"overall_pass":false}') },
    };
    const statuses = await readEvidence(["tests"], {
      directory: task.dir,
      workflow: parsed,
      state: { ...freshState(parsed), evidence: records },
      validate: async () => [],
      checkSource: async () => null,
    });
    expect(statuses["tests"]).toMatchObject({
      condition: "stale",
      findings: [{ message: "tests.json was changed after it had been accepted" }],
    });
  });

  it("waived, whatever is there: it opens nothing itself, and what judges it may be sound", async () => {
    const story = soundStory();
    const change = story.records["change"] as EvidenceRecord;
    story.task.remove("report.json");
    story.records["report"] = { inputs: {}, waived: true };
    story.records["change"] = { ...change, inputs: { report: "" } };
    expect(await conditions(story)).toEqual(["waived", "ok", "ok", "ok"]);
    const status = await story.status("report");
    expect(status.findings).toMatchObject([{ message: "report.json was passed over by a human's override" }]);
    expect(status).not.toHaveProperty("data");
    // What comes after the override is another version of it, and the verdicts on nothing are stale.
    story.task.write("report.json", REPORT);
    expect(await conditions(story)).toEqual(["waived", "stale", "stale", "stale"]);
  });

  it("asks for the schema of each, and for the world only of what is sound so far", async () => {
    const story = soundStory();
    story.drift["tests"] = { message: "never asked" };
    story.task.write("report.json", "{}");
    expect((await story.status("tests")).findings[0]?.message).toContain("judges change.json, which is stale");
    expect(story.asked).toEqual(["report.json", "change.json", "tests.json"]);
  });
});

describe("a section whose phase begins again", () => {
  const workflow = {
    ...WORKFLOW,
    artifacts: WORKFLOW.artifacts.slice(0, 1).map(({ schema: _schema, ...artifact }) => ({
      ...artifact,
      file: "TASK.md",
      section: "Review",
    })),
  };
  const [artifact] = workflow.artifacts;

  /** The phase begins with `before` in the file, which then holds `after`. */
  async function status(before: string, after: string): Promise<ArtifactStatus | undefined> {
    const task = makeTask();
    if (before !== "") task.write("TASK.md", before);
    const record = { inputs: {}, ...(await sectionsBefore(task.dir, artifact!)) };
    task.write("TASK.md", after);
    const statuses = await readEvidence(["report"], {
      directory: task.dir,
      workflow,
      state: { ...freshState(workflow), evidence: { report: record } },
      validate: async () => [],
      checkSource: async () => null,
    });
    return statuses["report"];
  }

  const PASS = "# T\n\n## Review\n\nVerdict: PASS\n";

  it("is stale as long as it is what stood there before", async () => {
    expect(await status(PASS, PASS)).toEqual({
      name: "report",
      file: "TASK.md",
      condition: "stale",
      hash: sha256("Verdict: PASS"),
      findings: [
        {
          message: "the last `## Review` in TASK.md was there before reproduce began",
          file: "TASK.md",
          expected: "a section of its own that was added in reproduce",
          found: `the earlier one (${sha256("Verdict: PASS").slice(0, 12)})`,
          hint: "add a `## Review` of its own to the end of TASK.md",
        },
      ],
    });
  });

  it.each([
    ["the rest of the file changed", PASS, `${PASS}\n## Handoff\n\nMore.\n`],
    ["an earlier one was taken out", `## Review\n\nFAIL\n\n${PASS}`, PASS],
    ["an empty one after it was taken out", `${PASS}\n## Review\n`, PASS],
    ["a later one was taken out", `${PASS}\n## Review\n\nFAIL\n`, PASS],
  ])("is stale though %s", async (_what, before, after) => {
    expect((await status(before, after))?.condition).toBe("stale");
  });

  it.each([
    ["there was none", "# T\n", PASS],
    ["there was no file", "", PASS],
    ["it was rewritten", PASS, PASS.replace("PASS", "PASS, again")],
    ["a further one says the same", PASS, `${PASS}\n## Review\n\nVerdict: PASS\n`],
  ])("counts where %s", async (_what, before, after) => {
    expect((await status(before, after))?.condition).toBe("ok");
  });

  it("has nothing to remember of a whole file, which is put away", async () => {
    const task = makeTask();
    task.write("report.json", REPORT);
    expect(await sectionsBefore(task.dir, WORKFLOW.artifacts[0]!)).toEqual({});
  });
});

describe("paths that lead out of the task directory", () => {
  const withFile = (file: string): Story => {
    const story = makeStory();
    const look = (name: string): Promise<Record<string, ArtifactStatus>> => {
      const [artifact] = WORKFLOW.artifacts;
      const workflow = { ...WORKFLOW, artifacts: [{ ...artifact!, file }] };
      return readEvidence([name], {
        directory: story.task.dir,
        workflow,
        state: freshState(workflow),
        validate: async () => [],
        checkSource: async () => null,
      });
    };
    return { ...story, look, status: async (name) => (await look(name))[name] as ArtifactStatus };
  };

  it.each([
    ["../outside.json", /`\.\.`/],
    ["a/../../outside.json", /`\.\.`/],
    ["a/../report.json", /`\.\.`/],
    ["/etc/hostname", /an absolute path/],
    ["", /an empty path/],
  ])("%j", async (file, message) => {
    const story = withFile(file);
    story.task.write("../outside.json", REPORT);
    story.task.write("report.json", REPORT);
    const { condition, findings } = await story.status("report");
    expect(condition).toBe("invalid");
    expect(findings[0]?.message).toMatch(message);
  });

  it.each([
    ["a link to a file outside", "report.json", "report.json", "outside.json"],
    ["a link to a file inside", "report.json", "report.json", "tasks/t1/other.json"],
    ["a link to nothing", "report.json", "report.json", "nowhere.json"],
    ["a parent that is a link", "sub/report.json", "sub", "away"],
  ])("%s", async (_what, file, link, target) => {
    const story = withFile(file);
    const root = join(story.task.dir, "..", "..");
    story.task.write("../../outside.json", REPORT);
    story.task.write("../../away/report.json", REPORT);
    story.task.write("other.json", REPORT);
    symlinkSync(join(root, target), join(story.task.dir, link));
    expect(await story.status("report")).toMatchObject({
      condition: "invalid",
      findings: [{ found: `${link} is a symbolic link`, expected: "a plain file inside the task directory" }],
    });
  });

  it("a file in the place of a parent directory", async () => {
    const story = withFile("sub/report.json");
    story.task.write("sub", "x");
    expect(await story.status("report")).toMatchObject({ condition: "invalid" });
  });

  it("below a task directory that is itself reached by a link, all is well", async () => {
    const story = withFile("report.json");
    story.task.write("report.json", REPORT);
    const link = join(makeDirectory(), "link");
    symlinkSync(story.task.dir, link);
    const linked = { ...WORKFLOW, artifacts: WORKFLOW.artifacts.slice(0, 1) };
    const statuses = await readEvidence(["report"], {
      directory: link,
      workflow: linked,
      state: freshState(linked),
      validate: async () => [],
      checkSource: async () => null,
    });
    expect(statuses["report"]?.condition).toBe("ok");
    rmSync(link);
  });
});

describe("what is judged", () => {
  it("comes before what judges it, each once, and in a circle it ends", () => {
    expect(inOrderOfJudging(WORKFLOW, ["tests", "report"]).map(({ name }) => name)).toEqual([
      "report",
      "change",
      "tests",
    ]);
    const circle = {
      ...WORKFLOW,
      artifacts: WORKFLOW.artifacts.map((artifact) =>
        artifact.name === "report" ? { ...artifact, judges: ["tests"] } : artifact,
      ),
    };
    expect(inOrderOfJudging(circle, ["report"]).map(({ name }) => name)).toEqual(["change", "tests", "report"]);
    expect(inOrderOfJudging(WORKFLOW, ["nothing"])).toEqual([]);
  });

  it("is remembered by its hash; what is not there, by none", () => {
    const change = WORKFLOW.artifacts[1]!;
    const report: ArtifactStatus = { name: "report", file: "report.json", condition: "ok", findings: [], hash: "h" };
    expect(inputHashes(change, { report })).toEqual({ report: "h" });
    expect(inputHashes(change, {})).toEqual({ report: "" });
  });
});
