import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { deriveChange } from "../../src/actions/derive-change.js";
import { runTests } from "../../src/actions/run-tests.js";
import { snapshotTree } from "../../src/actions/snapshot.js";
import { parseTestCounts } from "../../src/actions/test-counts.js";
import { errorOf } from "../support/errors.js";
import { makeStory, type Story } from "./story.js";

interface Report {
  overall_pass: boolean;
  summary: { passed: number; failed: number; skipped: number };
  suites: { exit_code: number | null; outcome: string; log: string; output_tail: string; tests?: object }[];
  tree?: string;
  notes?: string[];
}

const schema = JSON.parse(readFileSync("system/schemas/eval-report.schema.json", "utf8")) as object;
const valid = new Ajv2020({ strict: false }).compile(schema);

async function reportOf(story: Story): Promise<Report> {
  const { data } = await story.test();
  expect(valid(data), JSON.stringify(valid.errors)).toBe(true);
  return data as Report;
}

describe("run-tests", () => {
  it("passes only when every command exits with 0, and keeps the whole output", async () => {
    const story = makeStory({ settings: { test: ["cat readme.md && pwd", "echo out; echo err >&2; exit 3"] } });
    await story.changed({ file: "x" });
    const report = await reportOf(story);
    expect(report.overall_pass).toBe(false);
    expect(report.summary).toEqual({ passed: 1, failed: 1, skipped: 0 });
    expect(report.suites.map(({ exit_code, outcome }) => [exit_code, outcome])).toEqual([
      [0, "passed"],
      [3, "failed"],
    ]);
    const logs = report.suites.map(({ log }) => readFileSync(join(story.settings.dir, log), "utf8"));
    expect(logs[0]).toBe(`one\ntwo\nthree\n${story.settings.worktree}\n`);
    expect(logs[1]?.split("\n").sort()).toEqual(["", "err", "out"]);
    expect(report.tree).toBe(await snapshotTree(story.settings));
  });

  it("passes when all did", async () => {
    const story = makeStory({ settings: { test: ["true", "exit 0"] } });
    await story.changed({ file: "x" });
    expect((await reportOf(story)).overall_pass).toBe(true);
  });

  it("keeps the end of a long output", async () => {
    const story = makeStory({ settings: { test: ["seq 1 30000"] } });
    await story.changed({ file: "x" });
    const [suite] = (await reportOf(story)).suites;
    expect(suite?.output_tail).toHaveLength(4000);
    expect(suite?.output_tail.endsWith("\n29999\n30000\n")).toBe(true);
    expect(readFileSync(join(story.settings.dir, suite?.log ?? ""), "utf8").split("\n")).toHaveLength(30001);
  });

  it("ends a command at the time limit, which is a failure", async () => {
    const story = makeStory({ settings: { test: ["exec tail -f /dev/null", "true"], testTimeoutMs: 50 } });
    await story.changed({ file: "x" });
    const report = await reportOf(story);
    expect(report.suites[0]).toMatchObject({ exit_code: null, outcome: "timeout" });
    expect(report.overall_pass).toBe(false);
  });

  it("never believes the counts that a command prints", async () => {
    const story = makeStory({ settings: { test: ["echo '# pass 3'; echo '# fail 0'; echo '# skipped 1'; exit 1"] } });
    await story.changed({ file: "x" });
    const report = await reportOf(story);
    expect(report.overall_pass).toBe(false);
    expect(report.summary).toEqual({ passed: 0, failed: 1, skipped: 0 });
    expect(report.suites[0]?.tests).toEqual({ passed: 3, failed: 0, skipped: 1 });
  });

  it("moves new files out and takes changes back, so that the change stays what was reviewed", async () => {
    const test = [
      "mkdir -p 'deep er/dir' && echo junk > 'deep er/dir/ü\nfile' && echo changed > readme.md && rm file && " +
        "echo ignored > junk && git init -q nested && git -C nested commit -q --allow-empty -m x",
    ];
    const story = makeStory({ settings: { test } });
    await story.changed({ file: "x\n", ".gitignore": "junk\n" });
    const report = await reportOf(story);
    expect(report.overall_pass).toBe(true);
    expect(await deriveChange.check?.(story.maker(), story.artifacts["change"]?.data)).toBeNull();
    expect(story.inWorktree("readme.md")).toBe("one\ntwo\nthree\n");
    expect(story.inWorktree("file")).toBe("x\n");
    expect(story.inWorktree("junk")).toBe("ignored\n");
    expect(existsSync(join(story.settings.worktree, "deep er"))).toBe(false);
    expect(story.gitInWorktree("status", "--porcelain")).toBe("");

    const run = join(story.settings.dir, (report.suites[0]?.log ?? "").replace(/\/1\.log$/, ""));
    expect(readFileSync(join(run, "left", "deep er/dir/ü\nfile"), "utf8")).toBe("junk\n");
    expect(existsSync(join(run, "left", "nested", ".git"))).toBe(true);
    const patch = readFileSync(join(run, "changed-by-tests.patch"), "utf8");
    expect(patch).toContain("+changed");
    expect(patch).toContain("deleted file");
    expect(report.notes?.join("\n")).toContain("changed files of the project: file, readme.md");
    expect(report.notes?.join("\n")).toContain("left new files");
  });

  it("notes a run that moved the task's branch", async () => {
    const story = makeStory({ settings: { test: ["git commit -q --allow-empty -m sneaky"] } });
    await story.changed({ file: "x" });
    expect((await reportOf(story)).notes?.join()).toContain("moved the branch pawl/t1");
  });

  it("lets no variable point the project's git elsewhere", async () => {
    const story = makeStory({ settings: { test: ['test -z "$GIT_DIR$GIT_INDEX_FILE"'] } });
    await story.changed({ file: "x" });
    story.settings.env = { ...story.settings.env, GIT_DIR: "/nowhere", GIT_INDEX_FILE: "/nowhere/index" };
    expect((await reportOf(story)).overall_pass).toBe(true);
  });

  it("runs in the task's directory, where there is no repository", async () => {
    const story = makeStory({ settings: { repo: null, test: ["pwd"] } });
    const report = await reportOf(story);
    expect(report.suites[0]?.output_tail).toBe(`${story.settings.dir}\n`);
    expect(report).not.toHaveProperty("tree");
  });

  it("is refused without a command, and says how to set one", async () => {
    const error = await errorOf(makeStory().test());
    expect(error.kind).toBe("refused");
    expect(error.hint).toContain('"test": ["npm test"]');
  });

  it.each([[[""]], [["   "]], [["true", "\t\n "]], [["# npm test"]]])(
    "is refused with %j, which tests nothing",
    async (test) => {
      const story = makeStory({ settings: { test } });
      await story.changed({ file: "x" });
      const error = await errorOf(story.test());
      expect(error.kind).toBe("refused");
      expect(error.message).toContain(`test command ${test.length} is blank`);
    },
  );

  it("tells its commands where they are, with a token that fits no run", async () => {
    const test =
      'echo "$PAWL_TASK $PAWL_TASK_DIR $PAWL_PHASE" && test ${#PAWL_TOKEN} -ge 32 && test "$PAWL_TOKEN" != mine';
    const story = makeStory({ settings: { test: [test] } });
    story.settings.env = { ...story.settings.env, PAWL_TOKEN: "mine" };
    await story.changed({ file: "x" });
    const report = await reportOf(story);
    expect(report.overall_pass).toBe(true);
    expect(report.suites[0]?.output_tail).toBe(`t1 ${story.settings.dir} test\n`);
  });

  it("reports no secret of the environment, though the commands may use it", async () => {
    const story = makeStory({
      settings: { test: ['echo "said: $DEPLOY_SECRET"; test "$DEPLOY_SECRET" = hush-hush-hush'] },
    });
    story.settings.env = { ...story.settings.env, DEPLOY_SECRET: "hush-hush-hush" };
    await story.changed({ file: "x" });
    const report = await reportOf(story);
    expect(report.overall_pass).toBe(true);
    expect(JSON.stringify(report.suites[0]?.output_tail)).toContain("said: [masked]");
  });

  it("does not wait for a pipe that a command put in a log's place, its own or the next one's", async () => {
    const story = makeStory();
    await story.changed({ file: "x" });
    const maker = story.maker();
    const logs = ["1.log", "2.log"].map((name) => join(maker.runDir, name));
    story.settings.test = [
      `until rm ${logs[0]} 2>/dev/null; do :; done; mkfifo ${logs.join(" ")}; echo one`,
      "echo two",
    ];
    const { data } = await runTests.make(maker);
    expect((data as Report).suites.map(({ output_tail }) => output_tail)).toEqual(["one\n", "two\n"]);
    expect((data as Report).overall_pass).toBe(true);
    expect(readFileSync(logs[1] ?? "", "utf8")).toBe("two\n");
  });

  it("ends each line of its progress", async () => {
    const story = makeStory({ settings: { test: ["true", "false"] } });
    await story.changed({ file: "x" });
    let told = "";
    await story.test({ progress: (text) => (told += text) });
    expect(told).toBe("true: passed\nfalse: failed\n");
  });

  it("takes back files whose names are no UTF-8", async () => {
    const story = makeStory({ settings: { test: ["echo junk > $'new/\\xff'; echo changed > $'known\\xfe'"] } });
    await story.prepare();
    const known = Buffer.concat([Buffer.from(`${story.settings.worktree}/known`), Buffer.from([0xfe])]);
    writeFileSync(known, "x\n");
    story.work("new/file", "x");
    await story.derive();
    const maker = story.maker();
    const { data } = await runTests.make(maker);
    expect((data as Report).overall_pass).toBe(true);
    expect(readFileSync(known, "utf8")).toBe("x\n");
    const left = Buffer.concat([Buffer.from(`${maker.runDir}/left/new/`), Buffer.from([0xff])]);
    expect(readFileSync(left, "utf8")).toBe("junk\n");
    expect(readFileSync(join(maker.runDir, "changed-by-tests.patch"), "utf8")).toContain("+changed");
    expect(await deriveChange.check?.(story.maker(), story.artifacts["change"]?.data)).toBeNull();
  });

  it("is interrupted by its signal, and still leaves the worktree as it was", async () => {
    const story = makeStory({ settings: { test: ["echo junk > left-behind; echo ready; exec tail -f /dev/null"] } });
    await story.changed({ file: "x" });
    const controller = new AbortController();
    const maker = story.maker({ signal: controller.signal });
    const running = errorOf(runTests.make(maker));
    const started = join(story.settings.worktree, "left-behind");
    while (!existsSync(started)) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect((await running).kind).toBe("interrupted");
    expect(story.gitInWorktree("status", "--porcelain")).toBe("");
    expect(existsSync(join(maker.runDir, "left", "left-behind"))).toBe(true);
  });

  it("counts for nothing about another tree than the one that was reviewed", async () => {
    const story = makeStory({ settings: { test: ["true"] } });
    await story.changed({ file: "x" });
    const { data } = await story.test();
    expect(await runTests.check?.(story.maker(), data)).toBeNull();
    story.work("file", "y");
    await story.derive();
    expect(await runTests.check?.(story.maker(), data)).toMatchObject({ pointer: "/tree" });
  });
});

describe("parseTestCounts", () => {
  it.each([
    ["node:test", "# tests 5\n# pass 3\n# fail 1\n# skipped 1\n", { passed: 3, failed: 1, skipped: 1 }],
    ["node:test, spec", "ℹ tests 2\nℹ pass 2\nℹ fail 0\nℹ skipped 0\n", { passed: 2, failed: 0, skipped: 0 }],
    [
      "vitest",
      " Test Files  1 failed (1)\n      Tests  1 failed | 2 passed | 1 skipped (4)\n",
      { passed: 2, failed: 1, skipped: 1 },
    ],
    [
      "vitest in colour",
      "\u001b[2m Tests \u001b[22m \u001b[1m\u001b[32m40 passed\u001b[39m (40)\n",
      { passed: 40, failed: 0, skipped: 0 },
    ],
    ["jest", "Tests:       1 failed, 2 passed, 3 total\nTime: 1 s\n", { passed: 2, failed: 1, skipped: 0 }],
    ["pytest", "=== 1 failed, 2 passed, 3 skipped in 0.12s ===\n", { passed: 2, failed: 1, skipped: 3 }],
    ["pytest -q", "2 passed, 1 warning in 0.01s\n", { passed: 2, failed: 0, skipped: 0 }],
    ["nothing known", "all 3 passed, honest\n", null],
    ["nothing", "", null],
  ])("%s", (_, output, counts) => {
    expect(parseTestCounts(output)).toEqual(counts);
  });
});
