import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { snapshotTree } from "../../src/actions/snapshot.js";
import { errorOf } from "../support/errors.js";
import { makeRepository, writeAt } from "../support/repository.js";
import { makeStory, type Story } from "./story.js";

/** Name, mode and content of every file in the tree that pawl judges; without replaced objects, as a clone would see it. */
async function judged(story: Story): Promise<Record<string, string>> {
  const tree = await snapshotTree(story.settings);
  const listed = story.repo.git("--no-replace-objects", "ls-tree", "-r", tree).split("\n");
  return Object.fromEntries(
    listed.map((entry) => {
      const [mode = "", type = "", id = "", name = ""] = entry.split(/[ \t]/);
      const content = type === "blob" ? story.repo.git("--no-replace-objects", "cat-file", "blob", id) : id;
      return [name, `${mode} ${content}`];
    }),
  );
}

async function preparedStory(files: Record<string, string> = { "app.txt": "old\n" }): Promise<Story> {
  const story = makeStory({ repo: makeRepository({ files }) });
  await story.prepare();
  return story;
}

/** Has the index say that a file holds something else, with all its time stamps in order. */
function forgeIndex(story: Story, path: string, blob: string): void {
  const file = join(story.repo.dir, ".git/worktrees/t1/index");
  const index = readFileSync(file);
  const at = index.indexOf(path) - 22;
  Buffer.from(blob, "hex").copy(index, at);
  // Without the extensions behind the only entry: one of them names the tree.
  const end = 12 + Math.ceil((62 + path.length + 1) / 8) * 8;
  const body = index.subarray(0, end);
  writeFileSync(file, Buffer.concat([body, createHash("sha1").update(body).digest()]));
}

const LONG_AGO = 1_600_000_000;

describe("the tree that is judged is what the tests see, whatever an agent does to its git directory:", () => {
  const deceptions: [string, (story: Story) => void][] = [
    [
      "an index that names another content",
      (story) => {
        utimesSync(join(story.settings.worktree, "app.txt"), LONG_AGO, LONG_AGO);
        story.gitInWorktree("add", "app.txt");
        writeAt(join(story.repo.root, "other"), "EVIL");
        forgeIndex(story, "app.txt", story.repo.git("hash-object", "-w", join(story.repo.root, "other")));
        expect(story.gitInWorktree("show", ":app.txt")).toBe("EVIL");
      },
    ],
    [
      "time stamps that are not looked at",
      (story) => {
        const file = join(story.settings.worktree, "app.txt");
        story.repo.git("config", "core.trustctime", "false");
        story.repo.git("config", "core.checkStat", "minimal");
        story.work("app.txt", "bad");
        utimesSync(file, LONG_AGO, LONG_AGO);
        story.gitInWorktree("add", "app.txt");
        story.work("app.txt", "new");
        utimesSync(file, LONG_AGO, LONG_AGO);
      },
    ],
    [
      "a sparse checkout that leaves the file out",
      (story) => {
        story.work("app.txt", "EVIL");
        story.gitInWorktree("commit", "--quiet", "--all", "-m", "x");
        story.repo.git("config", "extensions.worktreeConfig", "true");
        story.gitInWorktree("config", "--worktree", "core.sparseCheckout", "true");
        story.gitInWorktree("config", "--worktree", "sparse.expectFilesOutsideOfPatterns", "true");
        writeAt(join(story.repo.dir, ".git/worktrees/t1/info/sparse-checkout"), "/*\n!app.txt\n");
        story.gitInWorktree("update-index", "--skip-worktree", "app.txt");
        story.work("app.txt", "new");
      },
    ],
    [
      "another work tree in its configuration",
      (story) => {
        const shadow = join(story.repo.root, "shadow");
        writeAt(join(shadow, "app.txt"), "EVIL");
        story.repo.git("config", "extensions.worktreeConfig", "true");
        story.gitInWorktree("config", "--worktree", "core.worktree", shadow);
      },
    ],
  ];
  it.each(deceptions)("%s", async (_, deceive) => {
    const story = await preparedStory();
    story.work("app.txt", "new");
    deceive(story);
    expect(story.inWorktree("app.txt")).toBe("new");
    expect(await judged(story)).toEqual({ "app.txt": "100644 new" });
  });

  it("objects that are replaced by others, for the reviewer and for the user's checkout", async () => {
    const story = await preparedStory();
    const ids = ["new backdoor\n", "new\n"].map((content) => {
      writeAt(join(story.repo.root, "other"), content);
      return story.repo.git("hash-object", "-w", join(story.repo.root, "other"));
    });
    story.repo.git("replace", ...ids);
    story.work("app.txt", "new backdoor\n");
    expect((await story.derive()).files?.["code/diff.patch"]).toContain("+new backdoor\n");
    await story.merge();
    expect(story.repo.read("app.txt")).toBe("new backdoor\n");
  });

  it("modes and symbolic links that the configuration tells git to overlook", async () => {
    const story = await preparedStory({ script: "#!/bin/sh\n", data: "x" });
    symlinkSync("data", join(story.settings.worktree, "link"));
    story.gitInWorktree("add", "--all");
    story.gitInWorktree("commit", "--quiet", "-m", "A link");
    story.repo.git("config", "core.fileMode", "false");
    story.repo.git("config", "core.symlinks", "false");
    chmodSync(join(story.settings.worktree, "script"), 0o755);
    rmSync(join(story.settings.worktree, "link"));
    story.work("link", "data");
    expect(await judged(story)).toEqual({ data: "100644 x", link: "100644 data", script: "100755 #!/bin/sh" });
  });

  it("files in the place of a submodule", async () => {
    const story = await preparedStory();
    const commit = story.repo.git("rev-parse", "main");
    story.gitInWorktree("update-index", "--add", "--cacheinfo", `160000,${commit},sub`);
    expect(await judged(story)).not.toHaveProperty("sub");
    mkdirSync(join(story.settings.worktree, "sub"));
    expect(await judged(story)).toMatchObject({ sub: `160000 ${commit}` });
    story.work("sub/helper", "hidden");
    expect(await judged(story)).toEqual({ "app.txt": "100644 old", "sub/helper": "100644 hidden" });
  });
});

describe("what is left out of the tree", () => {
  const lists: [string, (story: Story) => void][] = [
    ["info/exclude", (story) => writeAt(join(story.repo.dir, ".git/info/exclude"), "/.pawl/\nhelper*\n")],
    [
      "a list in the repository's own configuration",
      (story) => {
        writeAt(join(story.repo.root, "list"), "helper*\n");
        story.repo.git("config", "core.excludesFile", join(story.repo.root, "list"));
      },
    ],
    [
      "a case that the configuration tells git to overlook",
      (story) => story.repo.git("config", "core.ignoreCase", "true"),
    ],
  ];
  it.each(lists)("is nothing that only %s names", async (_, hide) => {
    const story = await preparedStory({ ".gitignore": "HELPER*\n" });
    hide(story);
    story.work("helper [1]/run.sh", "exit 0");
    story.work("helper.sh", "exit 0");
    expect(Object.keys(await judged(story)).sort()).toEqual([".gitignore", "helper", "helper.sh"].sort());
  });

  it("is what the project's .gitignore files name, unless it is tracked", async () => {
    const story = await preparedStory({ ".gitignore": "node_modules/\n*.env\n", "sub/.gitignore": "!kept.env\n" });
    story.work("node_modules/x/index.js", "x");
    story.work("sub/kept.env", "x");
    story.work("forced.env", "x");
    story.work("dropped.env", "x");
    story.gitInWorktree("add", "--force", "forced.env");
    expect(Object.keys(await judged(story)).sort()).toEqual([
      ".gitignore",
      "forced.env",
      "sub/.gitignore",
      "sub/kept.env",
    ]);
    story.gitInWorktree("commit", "--quiet", "-m", "Forced");
    story.gitInWorktree("rm", "--quiet", "--cached", "forced.env");
    expect(await judged(story)).not.toHaveProperty("forced.env");
  });

  it.each(["core.excludesFile", "the default place"])(
    "is what the user ignores everywhere, named by %s",
    async (by) => {
      const story = await preparedStory();
      const place = join(story.repo.root, "home/.config/git/ignore");
      const file = by === "the default place" ? place : join(story.repo.root, "home/mine");
      writeAt(file, ".DS_Store\n");
      if (file !== place) story.repo.git("config", "--global", "core.excludesFile", "~/mine");
      story.work(".DS_Store", "x");
      expect(Object.keys(await judged(story))).toEqual(["app.txt"]);
    },
  );
});

describe("what has always been so", () => {
  it("an executable stays one, a link stays a link, a line ending is what the repository says", async () => {
    const story = await preparedStory({ "app.txt": "old\n", ".gitattributes": "*.txt text eol=crlf\n" });
    story.work("app.txt", "one\r\ntwo\r\n");
    story.work("run", "x");
    chmodSync(join(story.settings.worktree, "run"), 0o755);
    symlinkSync("nowhere", join(story.settings.worktree, "link"));
    expect(await judged(story)).toMatchObject({
      "app.txt": "100644 one\ntwo",
      run: "100755 x",
      link: "120000 nowhere",
    });
  });

  it("a filter of the user's, and an entry that is only intended", async () => {
    const story = await preparedStory({ ".gitattributes": "*.big filter=store\n" });
    story.repo.git("config", "filter.store.clean", 'tee "$(git rev-parse --git-common-dir)/stored" | tr a-z A-Z');
    story.work("file.big", "content");
    story.work("intended", "x");
    story.gitInWorktree("add", "--intent-to-add", "intended");
    expect(await judged(story)).toMatchObject({ "file.big": "100644 CONTENT", intended: "100644 x" });
    // Where git-lfs, too, keeps what the pointer stands for.
    expect(story.repo.read(".git/stored")).toBe("content");
  });

  it("an index in the middle of a conflict, or none at all", async () => {
    const story = await preparedStory();
    story.work("app.txt", "new");
    story.gitInWorktree("stash", "--quiet");
    story.work("app.txt", "other");
    story.gitInWorktree("commit", "--quiet", "--all", "-m", "Other");
    expect(() => story.gitInWorktree("stash", "apply")).toThrow(/CONFLICT/);
    story.work("app.txt", "new");
    expect(await judged(story)).toEqual({ "app.txt": "100644 new" });
    rmSync(join(story.repo.dir, ".git/worktrees/t1/index"));
    expect(await judged(story)).toEqual({ "app.txt": "100644 new" });
  });

  it("nothing of pawl's stays in the git directory", async () => {
    const story = await preparedStory();
    const before = lstatSync(join(story.repo.dir, ".git/worktrees/t1")).nlink;
    await snapshotTree(story.settings);
    expect(lstatSync(join(story.repo.dir, ".git/worktrees/t1")).nlink).toBe(before);
  });

  it("a task's worktree is complete, also where the user's own checkout is sparse", async () => {
    const story = makeStory({ repo: makeRepository({ files: { "in/a": "a", "out/b": "b" } }) });
    story.repo.git("sparse-checkout", "set", "in");
    expect(story.repo.has("out/b")).toBe(false);
    await story.prepare();
    expect(await judged(story)).toEqual({ "in/a": "100644 a", "out/b": "100644 b" });
  });
});

describe("derive-change refuses files that no tree can hold", () => {
  it.each([false, true])("in a repository of their own (with a commit: %s)", async (committed) => {
    const story = await preparedStory();
    story.work("app.txt", "new");
    story.work("helper/run.sh", "exit 0");
    const cwd = join(story.settings.worktree, "helper");
    story.repo.git("init", "--quiet", { cwd });
    if (committed) {
      story.repo.git("add", "--all", { cwd });
      story.repo.git("commit", "--quiet", "-m", "x", { cwd });
    }
    const error = await errorOf(story.derive());
    expect(error.kind).toBe("refused");
    expect(error.message).toContain("helper/ (a repository of its own)");
    expect(error.hint).toContain(`remove \`.git\` in ${cwd}, or the folder`);
    rmSync(join(cwd, ".git"), { recursive: true });
    await story.derive();
    expect(await judged(story)).toHaveProperty("helper/run.sh");
  });

  it("in a submodule, until they are committed there", async () => {
    const module = makeRepository({ files: { "s.txt": "s\n" } });
    const repo = makeRepository({ files: { "app.txt": "old\n" } });
    const allowed = ["-c", "protocol.file.allow=always"];
    repo.git(...allowed, "submodule", "--quiet", "add", module.dir, "sub");
    repo.git("commit", "--quiet", "-m", "A submodule");
    const story = makeStory({ repo });
    await story.prepare();
    story.work("app.txt", "new");
    await story.derive();
    story.gitInWorktree(...allowed, "submodule", "--quiet", "update", "--init");
    await story.derive();
    story.work("sub/s.txt", "changed\n");
    const error = await errorOf(story.derive());
    expect(error.findings[0]).toMatchObject({ file: "sub/", message: expect.stringContaining("s.txt") as unknown });
    expect(error.hint).toContain("commit or undo them in");
    story.gitInWorktree("-C", "sub", "commit", "--quiet", "--all", "-m", "x");
    await story.derive();
    expect(await judged(story)).toMatchObject({
      sub: `160000 ${story.gitInWorktree("-C", "sub", "rev-parse", "HEAD")}`,
    });
  });
});
