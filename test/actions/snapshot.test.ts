import { mkdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { snapshotTree } from "../../src/actions/snapshot.js";
import { errorOf } from "../support/errors.js";
import { makeStory } from "./story.js";

describe("snapshotTree", () => {
  it("is the tree that a commit of everything would have, and touches neither index nor refs", async () => {
    const story = makeStory();
    await story.prepare();
    story.work("readme.md", "changed\n");
    story.work('odd "name"\nü', "x");
    story.work("staged", "first");
    story.gitInWorktree("add", "staged");
    story.work("staged", "second");
    const index = readFileSync(join(story.repo.dir, ".git/worktrees/t1/index"));
    const refs = story.repo.git("for-each-ref");
    const tree = await snapshotTree(story.settings);
    expect(readFileSync(join(story.repo.dir, ".git/worktrees/t1/index")).equals(index)).toBe(true);
    expect(story.repo.git("for-each-ref")).toBe(refs);
    expect(story.repo.git("show", `${tree}:staged`)).toBe("second");
    story.gitInWorktree("add", "--all");
    expect(story.gitInWorktree("write-tree")).toBe(tree);
  });

  it("leaves ignored files out", async () => {
    const story = makeStory();
    await story.prepare();
    story.work(".gitignore", "junk\n");
    const before = await snapshotTree(story.settings);
    story.work("junk", "x");
    expect(await snapshotTree(story.settings)).toBe(before);
  });

  it("sees a change of the same size within the same tick as the index", async () => {
    const story = makeStory();
    await story.prepare();
    // Long ago, so that a copy of the index that is as young as the test would hide the change.
    const now = 1_700_000_000;
    story.repo.git("config", "core.trustctime", "false");
    story.work("racy", "aaaa");
    utimesSync(join(story.settings.worktree, "racy"), now, now);
    story.gitInWorktree("add", "racy");
    utimesSync(join(story.repo.dir, ".git/worktrees/t1/index"), now, now);
    const before = await snapshotTree(story.settings);
    story.work("racy", "bbbb");
    utimesSync(join(story.settings.worktree, "racy"), now, now);
    expect(await snapshotTree(story.settings)).not.toBe(before);
  });

  it.each(["--assume-unchanged", "--skip-worktree"])("sees a change that %s hides from git status", async (flag) => {
    const story = makeStory();
    await story.prepare();
    const before = await snapshotTree(story.settings);
    story.gitInWorktree("update-index", flag, "readme.md");
    story.work("readme.md", "hidden");
    expect(story.gitInWorktree("status", "--porcelain")).toBe("");
    expect(await snapshotTree(story.settings)).not.toBe(before);
  });

  it("works beside a nested repository without a commit", async () => {
    const story = makeStory();
    await story.prepare();
    const before = await snapshotTree(story.settings);
    mkdirSync(join(story.settings.worktree, "nested [1]"));
    story.repo.git("init", "--quiet", { cwd: join(story.settings.worktree, "nested [1]") });
    expect(await snapshotTree(story.settings)).toBe(before);
    story.work("file", "x");
    expect(await snapshotTree(story.settings)).not.toBe(before);
  });

  it("refuses a worktree on another branch", async () => {
    const story = makeStory();
    await story.prepare();
    story.gitInWorktree("switch", "--quiet", "-c", "other");
    const error = await errorOf(snapshotTree(story.settings));
    expect(error.kind).toBe("refused");
    expect(error.findings[0]).toMatchObject({ expected: "pawl/t1", found: "other" });
  });

  it("refuses in the middle of a merge", async () => {
    const story = makeStory();
    await story.prepare();
    story.repo.commit("Theirs", { "readme.md": "theirs" });
    story.work("readme.md", "ours");
    story.gitInWorktree("commit", "--quiet", "--all", "-m", "Ours");
    expect(() => story.gitInWorktree("merge", "main")).toThrow(/CONFLICT/);
    const error = await errorOf(snapshotTree(story.settings));
    expect(error.message).toContain("a merge is under way");
    expect(error.hint).toContain("--abort");
  });

  it("never looks at the user's checkout instead, when the worktree lost its link", async () => {
    const story = makeStory();
    await story.prepare();
    rmSync(join(story.settings.worktree, ".git"));
    expect((await errorOf(snapshotTree(story.settings))).message).toContain("is not the task's worktree");
    rmSync(story.settings.worktree, { recursive: true });
    expect((await errorOf(snapshotTree(story.settings))).message).toContain("is missing");
  });
});
