import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { merge } from "../../src/actions/merge.js";
import { makeRepository, openTestRepository, writeAt, type TestRepository } from "../support/repository.js";
import { errorOf } from "../support/errors.js";
import { makeStory, okArtifact, type Story } from "./story.js";

/** Everything of a checkout that a merge must not touch. */
function observe(repo: TestRepository): object {
  return {
    head: repo.git("rev-parse", "HEAD"),
    branch: repo.git("symbolic-ref", "HEAD"),
    status: repo.git("status", "--porcelain=v2", "--untracked-files=all", "--ignored"),
    index: repo.git("ls-files", "--stage", "-v"),
    refs: repo.git("for-each-ref"),
  };
}

function recorded(story: Story): Record<string, string> {
  const { merged } = story.fields["git"] as { merged: Record<string, string>[] };
  expect(merged).toHaveLength(1);
  return merged[0] ?? {};
}

describe("merge", () => {
  it("makes one merge commit on the checked-out base branch, and puts worktree and branch away", async () => {
    const story = makeStory();
    const { repo, settings } = story;
    const before = repo.git("rev-parse", "main");
    await story.changed({ "new file ü": "x\n", "readme.md": "changed\n" });
    const head = repo.git("rev-parse", "pawl/t1");
    const result = await story.merge();

    const commit = repo.git("rev-parse", "main");
    expect(recorded(story)).toEqual({ commit, base: "main", before });
    expect(story.fields["git"]).toMatchObject({ base: "main", branch: "pawl/t1" });
    expect(repo.git("log", "-1", "--format=%P", "main")).toBe(`${before} ${head}`);
    expect(repo.git("log", "-1", "--format=%B", "main").trim()).toBe("Merge Add a thing\n\nPawl-Task: t1");
    expect(repo.read("new file ü")).toBe("x\n");
    expect(repo.read("readme.md")).toBe("changed\n");
    expect(repo.git("status", "--porcelain")).toBe("");
    expect(existsSync(settings.worktree)).toBe(false);
    expect(repo.git("branch", "--list", "pawl/*")).toBe("");
    expect(repo.git("for-each-ref", "refs/pawl")).toBe("");
    expect(result.notes?.[0]).toBe(`Merged pawl/t1 into main as ${commit}.`);
  });

  it("leaves unrelated uncommitted work as it is, byte for byte, staged or not", async () => {
    const repo = makeRepository({
      files: { touched: "1\n", "staged too": "1\n", unstaged: "1\n", deleted: "1\n", ".gitignore": "ignored\n" },
    });
    const story = makeStory({ repo, settings: { worktree: join(repo.root, "worktree") } });
    await story.changed({ touched: "2\n", added: "2\n" });
    repo.write("staged too", "staged\n");
    repo.git("add", "staged too");
    repo.write("staged too", "and changed again\n");
    repo.write("unstaged", "un\r\nstaged");
    rmSync(join(repo.dir, "deleted"));
    repo.write("new\nstaged", "x");
    repo.git("add", "new\nstaged");
    repo.write("untracked", Uint8Array.from([0, 255, 1]));
    repo.write("ignored", "i");
    // A stash that is put back would not bring back what was staged.
    repo.git("config", "merge.autoStash", "true");
    const status = repo.git("status", "--porcelain", "-z", "--ignored");
    const staged = repo.git("diff", "--cached", "--binary");
    const unstaged = repo.git("diff", "--binary");
    await story.merge();

    expect(repo.git("status", "--porcelain", "-z", "--ignored")).toBe(status);
    expect(repo.git("diff", "--cached", "--binary")).toBe(staged);
    expect(repo.git("diff", "--binary")).toBe(unstaged);
    expect(readFileSync(join(repo.dir, "untracked"))).toEqual(Buffer.from([0, 255, 1]));
    expect(repo.read("ignored")).toBe("i");
    expect(repo.read("touched")).toBe("2\n");
    expect(repo.read("added")).toBe("2\n");
  });

  it("runs no hook in the user's checkout and squashes nothing", async () => {
    const story = makeStory({ repo: makeRepository({ files: { a: "1\n", b: "1\n" } }) });
    const { repo } = story;
    await story.changed({ a: "2\n" });
    repo.hook("post-merge", "touch hooked");
    repo.git("config", "branch.main.mergeOptions", "--squash");
    repo.write("b", "mine");
    await story.merge();
    expect(repo.has("hooked")).toBe(false);
    expect(repo.read("b")).toBe("mine");
    expect(repo.git("rev-parse", "main")).toBe(recorded(story)["commit"]);
  });

  describe("refuses, with the list of files and nothing changed at all, to overwrite", () => {
    const overwriting: [string, (repo: TestRepository) => void, string[]][] = [
      ["a staged change", (repo) => (repo.write("changed", "mine"), repo.git("add", "changed")), ["changed"]],
      ["an unstaged change", (repo) => repo.write("changed", "mine"), ["changed"]],
      ["a change of a file that it deletes", (repo) => repo.write("removed", "mine"), ["removed"]],
      ["an untracked file", (repo) => repo.write("added", "mine"), ["added"]],
      ["an ignored file", (repo) => repo.write("secret.env", "mine"), ["secret.env"]],
      ["a file where a directory is to be", (repo) => repo.write("dir", "mine"), ["dir"]],
      ["files below where a file is to be", (repo) => repo.write("added/mine", "mine"), ["added/mine"]],
      [
        "a change that git was told not to look at",
        (repo) => {
          repo.git("update-index", "--assume-unchanged", "changed");
          repo.write("changed", "mine");
        },
        ["changed"],
      ],
      [
        "several",
        (repo) => {
          repo.write("changed", "mine");
          repo.write("added", "mine");
        },
        ["added", "changed"],
      ],
    ];
    it.each(overwriting)("%s", async (_, work, files) => {
      const repo = makeRepository({ files: { changed: "1\n", removed: "1\n", ".gitignore": "*.env\n" } });
      const story = makeStory({ repo });
      await story.prepare();
      for (const path of ["changed", "added", "dir/file"]) story.work(path, "theirs\n");
      story.work("secret.env", "theirs\n");
      story.gitInWorktree("add", "--force", "secret.env");
      rmSync(join(story.settings.worktree, "removed"));
      await story.derive();
      work(repo);
      const before = observe(repo);
      const error = await errorOf(story.merge());
      expect(error.kind).toBe("refused");
      expect(error.data).toMatchObject({ checkout: repo.dir, files });
      for (const file of files) expect(error.message).toContain(file);
      expect(error.hint).toContain("pawl answer accepted");
      expect(observe(repo)).toEqual(before);
      expect(existsSync(story.settings.worktree)).toBe(true);
    });
  });

  it("merges over files of its own that change into directories and back", async () => {
    const story = makeStory({ repo: makeRepository({ files: { "was/dir": "1\n", file: "1\n" } }) });
    await story.prepare();
    rmSync(join(story.settings.worktree, "was"), { recursive: true });
    rmSync(join(story.settings.worktree, "file"));
    story.work("was", "file now\n");
    story.work("file/now", "dir\n");
    await story.derive();
    await story.merge();
    expect(story.repo.read("was")).toBe("file now\n");
    expect(story.repo.read("file/now")).toBe("dir\n");
  });

  it("refuses while a merge of the user's is under way", async () => {
    const story = makeStory();
    const { repo } = story;
    await story.changed({ file: "x" });
    repo.git("switch", "--quiet", "-c", "theirs");
    repo.commit("Theirs", { "readme.md": "theirs" });
    repo.git("switch", "--quiet", "main");
    repo.commit("Ours", { "readme.md": "ours" });
    expect(() => repo.git("merge", "theirs")).toThrow(/CONFLICT/);
    const before = observe(repo);
    const error = await errorOf(story.merge());
    expect(error).toMatchObject({ kind: "refused", data: { operation: "merge" } });
    expect(observe(repo)).toEqual(before);
  });

  it("refuses while the base branch is being rebased, though it is checked out nowhere then", async () => {
    const story = makeStory();
    const { repo } = story;
    await story.changed({ file: "x" });
    repo.git("branch", "theirs");
    repo.commit("Ours", { "readme.md": "ours" });
    repo.git("switch", "--quiet", "theirs");
    repo.commit("Theirs", { "readme.md": "theirs" });
    repo.git("switch", "--quiet", "main");
    expect(() => repo.git("rebase", "theirs")).toThrow(/CONFLICT/);
    expect(await errorOf(story.merge())).toMatchObject({ kind: "refused", data: { operation: "rebase" } });
  });

  it("refuses a conflict, with the files and the next action, and changes nothing", async () => {
    const story = makeStory({ repo: makeRepository({ files: { "a b": "1\n", 'c"\nd': "1\n", e: "1\n" } }) });
    const { repo } = story;
    await story.changed({ "a b": "2\n", 'c"\nd': "2\n", e: "2\n" });
    repo.commit("Meanwhile", { "a b": "3\n", 'c"\nd': "3\n" });
    const before = observe(repo);
    const error = await errorOf(story.merge());
    expect(error.kind).toBe("refused");
    expect(error.data).toEqual({ conflicts: ["a b", 'c"\nd'] });
    expect(error.hint).toContain("pawl redo codegen");
    expect(observe(repo)).toEqual(before);
  });

  it("merges into a base branch that went on meanwhile", async () => {
    const story = makeStory();
    await story.changed({ ours: "x\n" });
    const before = story.repo.commit("Meanwhile", { theirs: "y\n" });
    await story.merge();
    expect(story.repo.read("ours") + story.repo.read("theirs")).toBe("x\ny\n");
    expect(recorded(story)["before"]).toBe(before);
  });

  describe("wherever the base branch is", () => {
    it("nowhere checked out: only the branch moves", async () => {
      const story = makeStory();
      const { repo } = story;
      await story.changed({ file: "x\n" });
      repo.git("switch", "--quiet", "-c", "elsewhere");
      repo.write("readme.md", "mine");
      await story.merge();
      expect(repo.git("show", "main:file")).toBe("x");
      expect(repo.git("status", "--porcelain")).toBe(" M readme.md");
      expect(repo.has("file")).toBe(false);
    });

    it("in another worktree of the user's, with work of its own", async () => {
      const story = makeStory();
      const { repo } = story;
      await story.changed({ file: "x\n" });
      repo.git("switch", "--quiet", "-c", "elsewhere");
      const other = openTestRepository(repo.root, join(repo.root, "other tree"), repo.env);
      repo.git("worktree", "add", "--quiet", other.dir, "main");
      other.write("readme.md", "mine");
      await story.merge();
      expect(other.read("file")).toBe("x\n");
      expect(other.git("status", "--porcelain")).toBe(" M readme.md");
      expect(repo.has("file")).toBe(false);
    });

    it("registered in a worktree that was deleted", async () => {
      const story = makeStory();
      const { repo } = story;
      await story.changed({ file: "x\n" });
      repo.git("switch", "--quiet", "-c", "elsewhere");
      repo.git("worktree", "add", "--quiet", join(repo.root, "other"), "main");
      rmSync(join(repo.root, "other"), { recursive: true });
      await story.merge();
      expect(repo.git("show", "main:file")).toBe("x");
    });

    it("in a bare repository", async () => {
      const origin = makeRepository();
      const dir = join(origin.root, "bare.git");
      origin.git("clone", "--quiet", "--bare", origin.dir, dir);
      const repo = openTestRepository(origin.root, dir, origin.env);
      const story = makeStory({ repo, settings: { worktree: join(origin.root, "wt") } });
      await story.changed({ file: "x\n" });
      await story.merge();
      expect(repo.git("show", "main:file")).toBe("x");
    });

    it("the one the task began with, though the user switched meanwhile", async () => {
      const story = makeStory();
      await story.changed({ file: "x\n" });
      story.repo.git("switch", "--quiet", "-c", "feature");
      await story.merge();
      expect(recorded(story)["base"]).toBe("main");
      expect(story.repo.git("rev-list", "--count", "main..feature")).toBe("0");
    });
  });

  describe("after a crash", () => {
    it("is not done twice, though nothing of the first time was recorded", async () => {
      const story = makeStory();
      await story.changed({ file: "x\n" });
      const first = await story.attempt(merge);
      const commit = story.repo.git("rev-parse", "main");
      const second = await story.attempt(merge);
      expect(story.repo.git("rev-parse", "main")).toBe(commit);
      expect(second.patch).toEqual(first.patch);
      expect(second.notes?.[0]).toContain("Already merged");
    });

    it("finds the merge below later commits, and finishes putting away", async () => {
      const story = makeStory();
      const { repo } = story;
      await story.changed({ file: "x\n" });
      const head = repo.git("rev-parse", "pawl/t1");
      const first = await story.attempt(merge);
      repo.commit("Later", { later: "x" });
      repo.git("worktree", "add", "--quiet", "-b", "pawl/t1", story.settings.worktree, head);
      const second = await story.attempt(merge);
      expect(second.patch).toEqual(first.patch);
      expect(existsSync(story.settings.worktree)).toBe(false);
      expect(repo.git("branch", "--list", "pawl/*")).toBe("");
    });

    it("keeps what came into the worktree since, under a rescue ref that is named", async () => {
      const story = makeStory();
      const { repo } = story;
      await story.changed({ file: "x\n" });
      const head = repo.git("rev-parse", "pawl/t1");
      await story.attempt(merge);
      repo.git("worktree", "add", "--quiet", "-b", "pawl/t1", story.settings.worktree, head);
      story.work("late one", "precious");
      story.work("file", "changed");
      const result = await story.attempt(merge);
      expect(result.notes?.join()).toContain("refs/pawl/rescue/t1/1");
      expect(repo.git("show", "refs/pawl/rescue/t1/1:late one")).toBe("precious");
      expect(repo.git("show", "refs/pawl/rescue/t1/1:file")).toBe("changed");
      expect(existsSync(story.settings.worktree)).toBe(false);
    });
  });

  it("keeps a worktree that holds another repository", async () => {
    const story = makeStory();
    await story.changed({ file: "x\n" });
    mkdirSync(join(story.settings.worktree, "nested"));
    story.repo.git("init", "--quiet", { cwd: join(story.settings.worktree, "nested") });
    const result = await story.merge();
    expect(result.notes?.join()).toContain("holds another repository (nested/)");
    expect(existsSync(join(story.settings.worktree, "nested", ".git"))).toBe(true);
    expect(story.repo.git("branch", "--list", "pawl/*")).toContain("pawl/t1");
  });

  it("takes a change that somebody fast-forwarded for merged", async () => {
    const story = makeStory();
    const before = story.repo.git("rev-parse", "main");
    await story.changed({ file: "x\n" });
    story.repo.git("merge", "--quiet", "--ff-only", "pawl/t1");
    await story.merge();
    expect(recorded(story)).toEqual({ commit: story.repo.git("rev-parse", "main"), base: "main", before });
  });

  describe("only what was reviewed and tested", () => {
    it("refuses a branch that was moved", async () => {
      const story = makeStory();
      await story.changed({ file: "x\n" });
      story.work("file", "sneaky");
      story.gitInWorktree("commit", "--quiet", "--all", "-m", "Sneaky");
      const main = story.repo.git("rev-parse", "main");
      const error = await errorOf(story.merge());
      expect(error.kind).toBe("refused");
      expect(error.message).toContain("is not what was reviewed and tested");
      expect(story.repo.git("rev-parse", "main")).toBe(main);
    });

    it("refuses a worktree with changes that were not", async () => {
      const story = makeStory();
      await story.changed({ file: "x\n" });
      story.work("file", "later");
      expect((await errorOf(story.merge())).message).toContain("was changed after the review");
      expect(story.inWorktree("file")).toBe("later");
    });

    it("refuses when the tests ran on something else", async () => {
      const story = makeStory();
      await story.changed({ file: "x\n" });
      story.artifacts["tests"] = okArtifact("tests", { tree: story.repo.git("rev-parse", "main^{tree}") });
      expect((await errorOf(story.merge())).message).toContain("is not what would be merged");
    });

    it.each(["missing", "stale", "invalid", "forged"] as const)("refuses a change that is %s", async (condition) => {
      const story = makeStory();
      await story.changed({ file: "x\n" });
      story.artifacts["change"] = { name: "change", file: "code/changes.json", condition, findings: [] };
      const error = await errorOf(story.merge());
      expect(error.kind).toBe("refused");
      expect(error.message).toContain(`the change to merge is ${condition}`);
    });

    it("merges a change that a human waived, and says that nothing vouches for it", async () => {
      const story = makeStory();
      await story.changed({ file: "x\n" });
      story.artifacts["change"] = { name: "change", file: "code/changes.json", condition: "waived", findings: [] };
      const result = await story.merge();
      expect(result.notes?.join()).toContain("waived by a human");
      expect(story.repo.read("file")).toBe("x\n");
    });
  });

  describe("of a change that a human waived", () => {
    async function waived(files: Record<string, string>): Promise<Story> {
      const story = makeStory({ settings: { test: ["true"] } });
      await story.changed({ file: "reviewed\n" });
      for (const [path, content] of Object.entries(files)) story.work(path, content);
      story.artifacts["change"] = { name: "change", file: "code/changes.json", condition: "waived", findings: [] };
      return story;
    }

    it("refuses a commit that is not what was tested", async () => {
      const story = await waived({ file: "tested\n" });
      await story.test();
      const main = story.repo.git("rev-parse", "main");
      for (const content of ["tested\n", "reviewed\n"]) {
        story.work("file", content);
        const error = await errorOf(story.merge());
        expect(error.kind).toBe("refused");
        expect(error.message).toContain("is not what would be merged");
      }
      expect(story.repo.git("rev-parse", "main")).toBe(main);
      story.work("file", "tested\n");
      story.gitInWorktree("commit", "--quiet", "--all", "-m", "By hand");
      await story.merge();
      expect(story.repo.read("file")).toBe("tested\n");
    });

    it("refuses while the worktree holds what no commit does, and merges once it is committed", async () => {
      const story = await waived({ "by hand": "precious\n" });
      const error = await errorOf(story.merge());
      expect(error.kind).toBe("refused");
      expect(error.message).toContain("holds what its branch does not");
      expect(error.data).toEqual({ files: ["by hand"] });
      expect(error.hint).toMatch(/commit what is to be merged .* or `pawl redo codegen/);
      story.gitInWorktree("add", "--all");
      story.gitInWorktree("commit", "--quiet", "-m", "By hand");
      await story.test();
      await story.merge();
      expect(story.repo.read("by hand")).toBe("precious\n");
    });

    it("refuses in the same way where the branch has no commit of its own", async () => {
      const story = makeStory();
      await story.prepare();
      story.work("by hand", "precious\n");
      story.artifacts["change"] = { name: "change", file: "code/changes.json", condition: "waived", findings: [] };
      expect((await errorOf(story.merge())).message).toContain("they differ in by hand");
      expect(story.inWorktree("by hand")).toBe("precious\n");
    });
  });

  it.each([false, true])("says whether the tests saw what came of it (base branch went on: %s)", async (wentOn) => {
    const story = makeStory({ settings: { test: ["true"] } });
    await story.changed({ ours: "x\n" });
    await story.test();
    if (wentOn) story.repo.commit("Meanwhile", { theirs: "y\n" });
    const { notes } = await story.merge();
    const note = "main went on since the tests ran; what was merged with it was not tested together.";
    expect(notes?.includes(note)).toBe(wentOn);
  });

  it("has nothing to merge where the branch holds nothing of its own", async () => {
    const story = makeStory();
    await story.prepare();
    story.artifacts["change"] = { name: "change", file: "code/changes.json", condition: "waived", findings: [] };
    const main = story.repo.git("rev-parse", "main");
    const result = await story.merge();
    expect(result.notes?.[0]).toContain("nothing to merge");
    expect(story.fields["git"]).toMatchObject({ merged: [] });
    expect(story.repo.git("rev-parse", "main")).toBe(main);
  });

  it("of several tasks at the same moment all arrive, one after the other, and leave the checkout clean", async () => {
    const repo = makeRepository();
    const ids = ["t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"];
    const stories: Story[] = [];
    for (const id of ids) {
      const place = { dir: join(repo.root, "tasks", id), worktree: join(repo.dir, ".pawl", "worktrees", id) };
      const story = makeStory({ repo, settings: { ...place, id, branch: `pawl/${id}` } });
      await story.changed({ [`${id}.txt`]: id });
      stories.push(story);
    }
    await Promise.all(stories.map((story) => story.merge()));
    expect(repo.git("rev-list", "--count", "--first-parent", "--merges", "main")).toBe(String(ids.length));
    expect(ids.map((id) => repo.read(`${id}.txt`))).toEqual(ids);
    expect(repo.git("status", "--porcelain")).toBe("");
  });

  it("tries again when the base branch moves between the two", async () => {
    const story = makeStory();
    const { repo } = story;
    await story.changed({ file: "x\n" });
    repo.git("switch", "--quiet", "-c", "elsewhere");
    // Git runs this in the middle of the first attempt: it stands for somebody who commits at that very moment.
    const wrapper = join(repo.root, "bin", "git");
    const real = repo.env["PATH"];
    writeAt(
      wrapper,
      `#!/bin/sh\nPATH='${real}'\ncase "$*" in *"update-ref -m pawl: merge"*)\n` +
        `  if [ ! -e '${repo.root}/moved' ]; then touch '${repo.root}/moved'; git update-ref refs/heads/main ` +
        `$(git commit-tree -p main -m Meanwhile 'main^{tree}'); fi;;\nesac\nexec git "$@"\n`,
    );
    chmodSync(wrapper, 0o755);
    story.settings.env = { ...story.settings.env, PATH: `${join(repo.root, "bin")}:${real}` };
    await story.merge();
    expect(repo.git("log", "--format=%s", "--first-parent", "main")).toBe("Merge Add a thing\nMeanwhile\nFirst");
  });
});
