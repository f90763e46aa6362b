import { describe, expect, it } from "vitest";
import { makeCli, makeTask, PLAN, refuse, rehearse, type Cli } from "../support/cli.js";

/** All that git knows of the user's checkout, and the files themselves. */
function checkoutOf(cli: Cli): Record<string, string> {
  const files = ["readme.md", "staged.txt", "untracked.txt", "ignored.log", "hello.txt", "both.txt"];
  return {
    head: cli.git("symbolic-ref", "HEAD"),
    commit: cli.git("rev-parse", "HEAD"),
    index: cli.git("ls-files", "--stage"),
    unstaged: cli.git("diff"),
    staged: cli.git("diff", "--cached"),
    stash: cli.git("stash", "list"),
    ...Object.fromEntries(files.map((file) => [file, cli.has(file) ? cli.read(file) : "(none)"])),
  };
}

/** Work of every kind that a user may have lying about. */
function makeDirty(cli: Cli): void {
  cli.write("staged.txt", "staged\n");
  cli.write("both.txt", "staged\n");
  cli.git("add", "staged.txt", "both.txt");
  cli.write("both.txt", "staged, then changed\n");
  cli.write("readme.md", "one\nmy own two\nthree\n");
  cli.write("untracked.txt", "untracked\n");
  cli.write("ignored.log", "ignored\n");
}

describe("the user's checkout", () => {
  it("is never switched, reset or cleaned: on another branch, with work of every kind, merge and revert included", () => {
    const cli = makeCli({ config: { baseBranch: "main", test: ["grep -q hello hello.txt"] } });
    cli.commit("Ignore", { ".gitignore": "*.log\n" });
    cli.git("switch", "--quiet", "-c", "feature");
    cli.commit("Mine", { "mine.txt": "mine\n" });
    makeDirty(cli);
    const before = checkoutOf(cli);
    const task = makeTask(cli, "accept");
    expect(checkoutOf(cli)).toEqual(before);
    expect(cli.pawl("answer", "accepted", "--note", "fine", "--json").json().to).toBe("done");
    expect(checkoutOf(cli)).toEqual(before);
    expect(cli.git("show", "main:hello.txt")).toBe("hello 1");
    expect(cli.git("ls-tree", "--name-only", "main")).not.toContain("mine.txt");
    cli.pawl("redo", "revert", "--reason", "no");
    expect(cli.pawl("answer", "revert", "--note", "no", "--json").json().to).toBe("done");
    expect(checkoutOf(cli)).toEqual(before);
    expect(cli.git("ls-tree", "--name-only", "main")).not.toContain("hello.txt");
    expect(task.has("revert/record.json")).toBe(true);
  });

  it("on the base branch, unrelated work survives the merge byte for byte", () => {
    const cli = makeCli();
    cli.commit("Ignore", { ".gitignore": "*.log\n" });
    makeDirty(cli);
    const before = checkoutOf(cli);
    makeTask(cli, "accept");
    expect(checkoutOf(cli)).toEqual(before);
    expect(cli.pawl("answer", "accepted", "--note", "fine").code).toBe(0);
    const { commit: _commit, index: _index, "hello.txt": hello, ...after } = checkoutOf(cli);
    expect(before).toMatchObject(after);
    expect(hello).toBe("hello 1\n");
  });

  const inTheWay: [string, (cli: Cli) => void][] = [
    ["an untracked file", (cli) => cli.write("hello.txt", "my own\n")],
    [
      "a staged file",
      (cli) => {
        cli.write("hello.txt", "my own\n");
        cli.git("add", "hello.txt");
      },
    ],
    [
      "an ignored file",
      (cli) => {
        cli.write(".git/info/exclude", "hello.txt\n");
        cli.write("hello.txt", "my own\n");
      },
    ],
  ];
  it("on the base branch, work in a file that the merge touches stops the merge, with the list", () => {
    const cli = makeCli();
    makeTask(cli, "accept");
    for (const [what, put] of inTheWay) {
      put(cli);
      const before = checkoutOf(cli);
      const { code, text, error } = refuse(cli, "answer", "accepted", "--note", "fine");
      expect(code, what).toBe(1);
      expect(text).toContain(`uncommitted work in ${cli.dir}: hello.txt; nothing was changed`);
      expect(error.findings).toMatchObject([{ file: "hello.txt" }]);
      expect(error.hint).toContain("commit, stash or move these files");
      expect(checkoutOf(cli)).toEqual(before);
      expect(cli.pawl("status", "--json").json().phase).toBe("accept");
      cli.git("rm", "--quiet", "--force", "--cached", "--ignore-unmatch", "hello.txt");
      cli.write("hello.txt", "my own\n");
      cli.git("clean", "--quiet", "--force", "-x", "hello.txt");
    }
    expect(cli.pawl("answer", "accepted", "--note", "fine").code).toBe(0);
  });

  it("a change to a file that the merge changes too, staged or not", () => {
    const cli = makeCli({ config: {} });
    const task = makeTask(cli);
    for (const attempt of [1, 2]) {
      task.write(`rehearsal/planning/${attempt}/plan.json`, {
        ...PLAN,
        files: [{ path: "readme.md", intent: "update" }],
      });
      task.write(`rehearsal/codegen/${attempt}/files/readme.md`, "one\ntwo\nthree\nhello\n");
    }
    task.remove("rehearsal/codegen/1/files/hello.txt");
    cli.config({ test: ["grep -q hello readme.md"] });
    rehearse(cli, "t1", 5);
    cli.write("readme.md", "mine\ntwo\nthree\n");
    for (const stage of [false, true]) {
      if (stage) cli.git("add", "readme.md");
      const before = checkoutOf(cli);
      const { code, text } = refuse(cli, "answer", "accepted", "--note", "fine");
      expect(code).toBe(1);
      expect(text).toContain("readme.md");
      expect(checkoutOf(cli)).toEqual(before);
    }
    cli.git("commit", "--quiet", "-m", "Mine", "readme.md");
    // Both changed the file, in different places: git merges it.
    expect(cli.pawl("answer", "accepted", "--note", "fine", "--json").json().to).toBe("done");
    expect(cli.read("readme.md")).toBe("mine\ntwo\nthree\nhello\n");
  });

  it("a conflict with the base branch merges nothing and leaves no half-done merge", () => {
    const cli = makeCli();
    makeTask(cli, "accept");
    cli.write("hello.txt", "salut\n");
    cli.git("add", "hello.txt");
    cli.git("commit", "--quiet", "-m", "Salut");
    const before = checkoutOf(cli);
    const { code, text } = refuse(cli, "answer", "accepted", "--note", "fine");
    expect(code).toBe(1);
    expect(text).toContain("conflicts with main in hello.txt; nothing was merged");
    expect(text).toContain("pawl redo codegen");
    expect(checkoutOf(cli)).toEqual(before);
    expect(cli.has(".git/MERGE_HEAD")).toBe(false);
  });

  it("a repository without a commit, and a directory that is none", () => {
    const empty = makeCli({ git: false });
    empty.git("init", "--quiet", "--initial-branch=main");
    makeTask(empty);
    empty.task().write("planning/plan.json", PLAN);
    const step = empty.pawl("next", { env: { PAWL_AGENT: "rehearsal" } });
    expect(step.code === 0 || /commit/.test(step.stderr), step.stderr).toBe(true);
    const none = makeCli({ git: false });
    makeTask(none, "codegen");
    const result = none.pawl("next", { env: { PAWL_AGENT: "rehearsal" } });
    expect(result.code).not.toBe(0);
    expect(result.stderr).toContain("git");
    expect(result.stderr).toContain("--repo");
  });
});
