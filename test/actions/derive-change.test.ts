import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { deriveChange } from "../../src/actions/derive-change.js";
import type { ChangedFile } from "../../src/actions/diff.js";
import { makeRepository, writeAt } from "../support/repository.js";
import { errorOf } from "../support/errors.js";
import { makeStory, okArtifact, type Story } from "./story.js";

interface Change {
  base: string;
  head: string;
  tree: string;
  files: ChangedFile[];
  out_of_scope: string[];
  patch: string;
}

const schema = JSON.parse(readFileSync("system/schemas/changes.schema.json", "utf8")) as object;
const valid = new Ajv2020({ strict: false }).compile(schema);
const longText = Array.from({ length: 40 }, (_, n) => `line ${n}\n`).join("");
const binary = Uint8Array.from({ length: 600 }, (_, n) => n % 251);

async function changeOf(story: Story): Promise<Change> {
  const { data } = await story.derive();
  expect(valid(data), JSON.stringify(valid.errors)).toBe(true);
  return data as Change;
}

function planning(story: Story, ...paths: string[]): void {
  story.artifacts["plan"] = okArtifact("plan", { files: paths.map((path) => ({ path, intent: "update" })) });
}

describe("derive-change", () => {
  it("commits everything onto the task's branch and describes it", async () => {
    const repo = makeRepository({
      files: { "keep me": "1\n2\n", gone: "x\n", "old name": longText, type: "file\n", ".gitignore": "junk\n" },
    });
    const story = makeStory({ repo, settings: { title: "Fix\nthe  thing" } });
    await story.prepare();
    const at = (path: string): string => join(story.settings.worktree, path);
    story.work("keep me", "1\n2b\n3\n");
    rmSync(at("gone"));
    renameSync(at("old name"), at("new\nname ü"));
    rmSync(at("type"));
    symlinkSync("keep me", at("type"));
    story.work("a/b.bin", binary);
    story.work("junk", "not part of it");
    const change = await changeOf(story);

    expect(change.files).toEqual([
      { path: "a/b.bin", status: "added", additions: 0, deletions: 0, binary: true },
      { path: "gone", status: "deleted", additions: 0, deletions: 1 },
      { path: "keep me", status: "modified", additions: 2, deletions: 1 },
      { path: "new\nname ü", from: "old name", status: "renamed", additions: 0, deletions: 0 },
      { path: "type", status: "type-changed", additions: 1, deletions: 1 },
    ]);
    expect(change.base).toBe(repo.git("rev-parse", "main"));
    expect(change.head).toBe(repo.git("rev-parse", "pawl/t1"));
    expect(change.tree).toBe(repo.git("rev-parse", "pawl/t1^{tree}"));
    expect(repo.git("log", "-1", "--format=%B", "pawl/t1").trim()).toBe("Fix the thing\n\nPawl-Task: t1");
    expect(story.gitInWorktree("status", "--porcelain")).toBe("");
    expect(repo.git("status", "--porcelain")).toBe("");
  });

  it("leaves a patch that brings the same tree about, also with bytes that are no UTF-8", async () => {
    const latin = Buffer.from("caf\xe9\nna\xefve\n", "latin1");
    const repo = makeRepository({
      files: { text: "one\n", "latin one": Buffer.from("caf\xe8\n", "latin1"), bin: binary },
    });
    const story = makeStory({ repo });
    await story.prepare();
    story.work("text", "zwei ü\n");
    story.work("latin one", latin);
    story.work("bin", binary.slice().reverse());
    writeFileSync(Buffer.concat([Buffer.from(`${story.settings.worktree}/name `), Buffer.from([0xff])]), latin);
    const { data, files } = await story.derive();
    const patch = files?.["code/diff.patch"] ?? "";
    expect(patch).toContain("+zwei ü");
    writeAt(join(repo.root, "diff.patch"), patch);
    repo.git("apply", "--index", join(repo.root, "diff.patch"));
    expect(repo.git("write-tree")).toBe((data as Change).tree);
  });

  it("names a patch that stays what it is when the change is derived anew", async () => {
    const story = makeStory();
    const first = await story.changed({ file: "first\n" });
    story.work("file", "second\n");
    const second = await story.derive();
    const named = [first, second].map(({ data }) => (data as Change).patch);
    expect(named).toEqual(["runs/1/diff.patch", "runs/2/diff.patch"]);
    expect(first.files?.[named[0] ?? ""]).toContain("+first");
    expect(second.files?.[named[1] ?? ""]).toContain("+second");
    expect(second.files).not.toHaveProperty([named[0] ?? ""]);
    expect(second.files?.["code/diff.patch"]).toBe(second.files?.[named[1] ?? ""]);
  });

  it("is not swayed by hooks or by how the user likes to see a diff", async () => {
    const story = makeStory();
    const { repo } = story;
    for (const hook of ["pre-commit", "commit-msg", "post-commit", "reference-transaction"]) {
      repo.hook(hook, "echo changed > hooked; exit 1");
    }
    for (const setting of ["diff.noprefix", "diff.mnemonicPrefix", "commit.gpgSign"])
      repo.git("config", setting, "true");
    repo.git("config", "color.ui", "always");
    repo.git("config", "diff.external", "false");
    const { data, files } = await story.changed({ "readme.md": "one\ntwo\n" });
    expect(repo.has("hooked")).toBe(false);
    expect((data as Change).files).toEqual([{ path: "readme.md", status: "modified", additions: 0, deletions: 1 }]);
    expect(files?.["code/diff.patch"]).toMatch(/^diff --git a\/readme\.md b\/readme\.md\n/);
  });

  it("takes in what the agent committed itself", async () => {
    const story = makeStory();
    await story.prepare();
    story.work("one", "1\n");
    story.gitInWorktree("add", "one");
    story.gitInWorktree("commit", "--quiet", "-m", "By the agent");
    story.work("two", "2\n");
    const change = await changeOf(story);
    expect(change.files.map(({ path }) => path)).toEqual(["one", "two"]);
    expect(story.repo.git("rev-list", "--count", "main..pawl/t1")).toBe("2");
  });

  it("counts only what the branch holds beyond the base branch, also when that went on", async () => {
    const story = makeStory();
    await story.prepare();
    const start = story.repo.git("rev-parse", "main");
    story.repo.commit("Meanwhile", { theirs: "x" });
    story.work("ours", "y\n");
    const change = await changeOf(story);
    expect(change.base).toBe(start);
    expect(change.files.map(({ path }) => path)).toEqual(["ours"]);
  });

  it("fails without any change", async () => {
    const story = makeStory();
    await story.prepare();
    const error = await errorOf(story.derive());
    expect(error.kind).toBe("failed");
    expect(error.message).toContain("no change");
  });

  it("adds no second commit when it is repeated", async () => {
    const story = makeStory();
    const first = (await story.changed({ file: "x" })).data;
    expect((await story.derive()).data).toEqual({ ...(first as Change), patch: "runs/2/diff.patch" });
  });

  describe("scope", () => {
    it("names every changed path that the plan does not", async () => {
      const story = makeStory({ repo: makeRepository({ files: { "src/old": longText, "lib/a": "a\n" } }) });
      await story.prepare();
      planning(story, "./lib/", "exact", "src//new", "direct");
      renameSync(join(story.settings.worktree, "src/old"), join(story.settings.worktree, "src/new"));
      for (const path of ["lib/a", "lib/deep/b", "exact", "exact2", "direct/ory"]) story.work(path, `${path}\n`);
      expect((await changeOf(story)).out_of_scope.sort()).toEqual(["direct/ory", "exact2", "src/old"]);
    });

    it.each([
      ["update", ["gone", "moved"]],
      ["create", ["gone", "moved"]],
      ["delete", []],
    ])("of a file that was to %s, whose deletion the change brings, names %j", async (intent, expected) => {
      const story = makeStory({ repo: makeRepository({ files: { gone: "x\n", moved: longText, "dir/a": "a\n" } }) });
      await story.prepare();
      const files = ["gone", "moved", "new"].map((path) => ({ path, intent }));
      story.artifacts["plan"] = okArtifact("plan", { files: [...files, { path: "dir/", intent: "update" }] });
      const at = (path: string): string => join(story.settings.worktree, path);
      rmSync(at("gone"));
      renameSync(at("moved"), at("new"));
      rmSync(at("dir/a"));
      expect((await changeOf(story)).out_of_scope).toEqual(expected);
    });

    it("is everything without a plan, and nothing when a human waived it", async () => {
      const story = makeStory();
      await story.prepare();
      story.work("file", "x\n");
      expect((await changeOf(story)).out_of_scope).toEqual(["file"]);
      story.artifacts["plan"] = { name: "plan", file: "plan.json", condition: "waived", findings: [] };
      expect((await changeOf(story)).out_of_scope).toEqual([]);
    });
  });

  describe("ready", () => {
    const ready = (story: Story, accepted?: unknown) => deriveChange.ready?.(story.maker({ accepted }));

    it("is true once the worktree differs from where it started", async () => {
      const story = makeStory();
      await story.prepare();
      expect(await ready(story)).toBe(false);
      story.work("by hand", "x");
      expect(await ready(story)).toBe(true);
    });

    it("is true once the worktree differs from the change that was accepted", async () => {
      const story = makeStory();
      const { data } = await story.changed({ file: "x" });
      expect(await ready(story, data)).toBe(false);
      story.work("file", "y");
      expect(await ready(story, data)).toBe(true);
    });

    it("is false where there is no worktree", async () => {
      expect(await ready(makeStory())).toBe(false);
    });
  });

  describe("check", () => {
    const check = (story: Story) => deriveChange.check?.(story.maker(), story.artifacts["change"]?.data);

    it("finds nothing while the worktree is as it was, ignored files aside", async () => {
      const story = makeStory();
      await story.changed({ file: "x", ".gitignore": "junk\n" });
      story.work("junk", "x");
      expect(await check(story)).toBeNull();
    });

    it("names the files that differ, what was expected, and what was found", async () => {
      const story = makeStory();
      const { data } = await story.changed({ file: "x" });
      for (let n = 10; n < 22; n++) story.work(`more ${n}`, "x");
      const finding = await check(story);
      expect(finding?.message).toContain("more 10, more 11");
      expect(finding?.message).toContain("more 19 and 2 more");
      expect(finding).toMatchObject({ file: "code/changes.json", pointer: "/tree", expected: (data as Change).tree });
      expect(finding?.found).toMatch(/^[0-9a-f]{40}$/);
    });

    it("finds a branch that was moved, though the files are the same", async () => {
      const story = makeStory();
      await story.changed({ file: "x" });
      story.gitInWorktree("commit", "--quiet", "--allow-empty", "-m", "Smuggled in");
      expect(await check(story)).toMatchObject({ pointer: "/head" });
    });

    it("finds a worktree in the middle of something", async () => {
      const story = makeStory();
      await story.changed({ file: "x" });
      story.gitInWorktree("switch", "--quiet", "--detach");
      expect(await check(story)).toMatchObject({ found: "a detached HEAD" });
    });

    it("finds nothing once the change is merged and the worktree is gone", async () => {
      const story = makeStory();
      await story.changed({ file: "x" });
      await story.merge();
      expect(await check(story)).toBeNull();
    });

    it("finds a change that is gone altogether", async () => {
      const story = makeStory();
      await story.changed({ file: "x" });
      story.repo.git("worktree", "remove", "--force", story.settings.worktree);
      expect(await check(story)).toBeNull();
      story.repo.git("branch", "-D", "pawl/t1");
      expect(await check(story)).toMatchObject({ found: "nothing" });
    });
  });
});
