import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { prepareWorktree } from "../../src/actions/prepare-worktree.js";
import { makeRepository, makeRoot, openTestRepository, writeAt } from "../support/repository.js";
import { errorOf } from "../support/errors.js";
import { makeStory } from "./story.js";

describe("prepare-worktree", () => {
  it("makes branch and worktree from the base branch and records them", async () => {
    const story = makeStory();
    const { settings, repo } = story;
    const result = await story.prepare();
    expect(result.patch?.fields).toMatchObject({
      git: { base: "main", start: repo.git("rev-parse", "main"), branch: "pawl/t1", worktree: settings.worktree },
    });
    expect(story.gitInWorktree("symbolic-ref", "HEAD")).toBe("refs/heads/pawl/t1");
    expect(story.inWorktree("readme.md")).toBe("one\ntwo\nthree\n");
    expect(repo.git("symbolic-ref", "HEAD")).toBe("refs/heads/main");
  });

  it("keeps its directory out of the user's status, once, and leaves .gitignore alone", async () => {
    const story = makeStory();
    await story.prepare();
    await story.prepare();
    expect(story.repo.git("status", "--porcelain")).toBe("");
    const exclude = story.repo.read(".git/info/exclude").split("\n");
    expect(exclude.filter((entry) => entry === "/.pawl/")).toHaveLength(1);
    expect(story.repo.has(".gitignore")).toBe(false);
  });

  it.each(["pawl", "pawl/t1/more"])("says so when a branch %s is in the way of the task's", async (name) => {
    const story = makeStory();
    story.repo.git("branch", name);
    const error = await errorOf(story.prepare());
    expect(error.kind).toBe("refused");
    expect(error.message).toContain(`branch pawl/t1 beside the branch ${name}`);
    expect(error.hint).toContain(`branch -m ${name} <other name>`);
    story.repo.git("branch", "-m", name, "another");
    await story.prepare();
  });

  it("touches no exclude file for a worktree outside of the repository", async () => {
    const repo = makeRepository();
    const before = repo.read(".git/info/exclude");
    const story = makeStory({ repo, settings: { worktree: join(repo.root, "out side ü", "t1") } });
    await story.prepare();
    expect(repo.read(".git/info/exclude")).toBe(before);
    expect(story.inWorktree("readme.md")).toContain("one");
  });

  it("reuses a healthy worktree with all that is in it", async () => {
    const story = makeStory();
    await story.prepare();
    story.work("new file", "half done");
    const result = await story.prepare();
    expect(result.notes?.join()).toContain("is there already");
    expect(story.inWorktree("new file")).toBe("half done");
  });

  it("records where an existing branch starts, not where the base branch is by now", async () => {
    const story = makeStory();
    const start = story.repo.git("rev-parse", "main");
    await story.prepare();
    story.repo.commit("Meanwhile", { other: "x" });
    const result = await story.prepare();
    expect(result.patch?.fields?.["git"]).toMatchObject({ start });
  });

  it("runs no hook of the project", async () => {
    const story = makeStory();
    story.repo.hook("post-checkout", `touch ${story.repo.root}/hooked; exit 1`);
    await story.prepare();
    expect(story.inWorktree("readme.md")).toContain("one");
    expect(readdirSync(story.repo.root)).not.toContain("hooked");
  });

  describe("mends what a run that died left behind", () => {
    it("a branch without a worktree", async () => {
      const story = makeStory();
      story.repo.git("switch", "--quiet", "-c", "pawl/t1");
      const head = story.repo.commit("Work", { work: "done" });
      story.repo.git("switch", "--quiet", "main");
      await story.prepare();
      expect(story.gitInWorktree("rev-parse", "HEAD")).toBe(head);
    });

    it("a registration without its directory; what was staged is kept", async () => {
      const story = makeStory();
      await story.prepare();
      story.work("staged", "precious");
      story.gitInWorktree("add", "staged");
      rmSync(story.settings.worktree, { recursive: true });
      const result = await story.prepare();
      expect(story.gitInWorktree("status", "--porcelain")).toBe("");
      expect(result.notes?.join()).toContain("refs/pawl/rescue/t1/1");
      expect(story.repo.git("show", "refs/pawl/rescue/t1/1:staged")).toBe("precious");
    });

    it("a registration without its directory, on a detached commit of its own", async () => {
      const story = makeStory();
      await story.prepare();
      story.gitInWorktree("switch", "--quiet", "--detach");
      story.gitInWorktree("commit", "--quiet", "--allow-empty", "-m", "Lost");
      const lost = story.gitInWorktree("rev-parse", "HEAD");
      rmSync(story.settings.worktree, { recursive: true });
      await story.prepare();
      expect(story.repo.git("rev-parse", "refs/pawl/rescue/t1/1")).toBe(lost);
      expect(story.gitInWorktree("symbolic-ref", "HEAD")).toBe("refs/heads/pawl/t1");
    });

    it("a directory with foreign files, which are moved aside, each time to a new place", async () => {
      const story = makeStory();
      const { worktree } = story.settings;
      for (const n of [1, 2]) {
        writeAt(join(worktree, "foreign"), `file ${n}`);
        const result = await story.attempt(prepareWorktree);
        expect(result.notes?.join()).toContain(`${worktree}.kept-${n}`);
        expect(openTestRepository("", `${worktree}.kept-${n}`, {}).read("foreign")).toBe(`file ${n}`);
        expect(story.inWorktree("readme.md")).toContain("one");
        story.repo.git("worktree", "remove", "--force", worktree);
      }
    });

    it("an empty directory", async () => {
      const story = makeStory();
      mkdirSync(story.settings.worktree, { recursive: true });
      await story.prepare();
      expect(story.inWorktree("readme.md")).toContain("one");
      expect(readdirSync(join(story.settings.worktree, ".."))).toEqual(["t1"]);
    });

    it("a worktree that lost its .git file, with the work in it", async () => {
      const story = makeStory();
      await story.prepare();
      story.work("readme.md", "changed");
      rmSync(join(story.settings.worktree, ".git"));
      await story.prepare();
      expect(story.gitInWorktree("status", "--porcelain")).toBe(" M readme.md");
      expect(story.inWorktree("readme.md")).toBe("changed");
    });

    it("a registration whose directory was replaced by foreign files, or by nothing", async () => {
      const story = makeStory();
      await story.prepare();
      rmSync(story.settings.worktree, { recursive: true });
      story.work("foreign", "x");
      await story.prepare();
      expect(story.gitInWorktree("status", "--porcelain")).toBe("");
      expect(openTestRepository("", `${story.settings.worktree}.kept-1`, {}).read("foreign")).toBe("x");
      rmSync(story.settings.worktree, { recursive: true });
      mkdirSync(story.settings.worktree);
      await story.prepare();
      expect(story.gitInWorktree("status", "--porcelain")).toBe("");
    });

    it("a worktree in which somebody began another repository, which is moved aside whole", async () => {
      const story = makeStory();
      await story.prepare();
      rmSync(join(story.settings.worktree, ".git"));
      story.gitInWorktree("init", "--quiet");
      story.work("theirs", "x");
      await story.prepare();
      expect(story.gitInWorktree("symbolic-ref", "HEAD")).toBe("refs/heads/pawl/t1");
      expect(story.gitInWorktree("status", "--porcelain")).toBe("");
      const kept = openTestRepository("", `${story.settings.worktree}.kept-1`, story.repo.env);
      expect(kept.git("status", "--porcelain")).toBe("?? readme.md\n?? theirs");
    });

    it("a `git worktree add` that died half-way: its files are not taken for the whole", async () => {
      const story = makeStory();
      await story.prepare();
      writeFileSync(join(story.repo.dir, ".git/worktrees/t1/locked"), "initializing");
      rmSync(join(story.settings.worktree, "readme.md"));
      story.work("begun", "x");
      await story.prepare();
      expect(story.gitInWorktree("status", "--porcelain")).toBe("");
      expect(openTestRepository("", `${story.settings.worktree}.kept-1`, {}).read("begun")).toBe("x");
      expect(story.repo.git("worktree", "list")).not.toContain("locked");
    });
  });

  it("refuses a worktree that somebody switched to another branch", async () => {
    const story = makeStory();
    await story.prepare();
    story.gitInWorktree("switch", "--quiet", "-c", "elsewhere");
    const error = await errorOf(story.prepare());
    expect(error.kind).toBe("refused");
    expect(error.message).toContain("is on elsewhere, expected pawl/t1");
  });

  it("refuses when the task's branch is checked out elsewhere", async () => {
    const story = makeStory({ settings: { baseBranch: "main" } });
    story.repo.git("switch", "--quiet", "-c", "pawl/t1");
    const error = await errorOf(story.prepare());
    expect(error.message).toContain(`checked out in ${story.repo.dir}`);
  });

  it("works in a bare repository", async () => {
    const origin = makeRepository();
    const dir = join(origin.root, "bare.git");
    origin.git("clone", "--quiet", "--bare", origin.dir, dir);
    const story = makeStory({
      repo: openTestRepository(origin.root, dir, origin.env),
      settings: { worktree: join(origin.root, "wt") },
    });
    await story.prepare();
    expect(story.inWorktree("readme.md")).toContain("one");
  });

  describe("with files to begin with", () => {
    function seeded() {
      const { root, env } = makeRoot();
      writeAt(join(root, "seed", "src", "a b.js"), "code");
      writeAt(join(root, "seed", ".gitignore"), "junk\n");
      const repo = openTestRepository(root, join(root, "new", "repo"), env);
      return makeStory({ repo, settings: { seed: join(root, "seed") } });
    }

    it("makes the repository with one commit, and only once", async () => {
      const story = seeded();
      await story.prepare();
      expect(story.repo.git("rev-list", "--count", "main")).toBe("1");
      expect(story.repo.git("status", "--porcelain")).toBe("");
      expect(story.inWorktree("src/a b.js")).toBe("code");
      const head = story.repo.git("rev-parse", "main");
      await story.prepare();
      expect(story.repo.git("rev-parse", "main")).toBe(head);
      expect(readdirSync(join(story.repo.root, "new"))).toEqual(["repo"]);
    });

    it("names its commits after pawl where nobody is configured", async () => {
      const story = seeded();
      const named = Object.entries(story.settings.env).filter(([name]) => !/^GIT_(AUTHOR|COMMITTER)/.test(name));
      story.settings.env = Object.fromEntries(named);
      await story.prepare();
      expect(story.repo.git("log", "-1", "--format=%an <%ae>")).toBe("pawl <pawl@localhost>");
    });

    it("leaves an existing repository as it is", async () => {
      const repo = makeRepository();
      writeAt(join(repo.root, "seed", "other"), "x");
      const story = makeStory({ repo, settings: { seed: join(repo.root, "seed") } });
      await story.prepare();
      expect(repo.has("other")).toBe(false);
    });
  });

  it("refuses a repository that does not exist when there is nothing to begin with", async () => {
    const { root, env } = makeRoot();
    const story = makeStory({ repo: openTestRepository(root, join(root, "nowhere"), env) });
    expect((await errorOf(story.prepare())).message).toContain("does not exist");
  });
});

describe("of several tasks at the same moment", () => {
  it("worktrees come and go, and none stumbles over another's", async () => {
    const repo = makeRepository();
    const stories = Array.from({ length: 6 }, (_, index) => {
      const id = `t${index + 1}`;
      const place = { dir: join(repo.root, "tasks", id), worktree: join(repo.dir, ".pawl", "worktrees", id) };
      return makeStory({ repo, settings: { ...place, id, branch: `pawl/${id}` } });
    });
    for (let round = 0; round < 3; round++) {
      await Promise.all(stories.map((story) => story.prepare()));
      expect(repo.git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(stories.length + 1);
      await Promise.all(stories.map((story) => story.revert()));
    }
    expect(repo.git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1);
  });
});
