import { describe, expect, it } from "vitest";
import { makeCli, makeTask, refuse } from "../support/cli.js";

describe("revert", () => {
  it("undoes a merged task on the base branch, and keeps what came after it", () => {
    const cli = makeCli();
    const task = makeTask(cli, "accept");
    cli.pawl("answer", "accepted", "--note", "fine");
    cli.git("add", "readme.md");
    cli.write("readme.md", "one\ntwo\nthree\nfour\n");
    cli.git("commit", "--quiet", "--all", "-m", "Later");
    const before = cli.git("rev-parse", "HEAD");
    expect(cli.pawl("redo", "revert", "--reason", "it broke production", "--json").json()).toMatchObject({
      from: "done",
      to: "revert",
    });
    const waiting = refuse(cli, "next");
    expect(waiting.code).toBe(10);
    expect(waiting.text).toContain('pawl answer revert --note "…" t1');
    const reverted = cli.pawl("answer", "revert", "--note", "it broke production", "--json");
    expect(reverted.json()).toMatchObject({ from: "revert", to: "done" });
    expect(cli.has("hello.txt")).toBe(false);
    expect(cli.read("readme.md")).toBe("one\ntwo\nthree\nfour\n");
    expect(cli.git("rev-parse", "HEAD^")).toBe(before);
    expect(task.readJson("revert/record.json")).toMatchObject({
      reason: "it broke production",
      who: "tess",
      commits: [cli.git("rev-parse", "HEAD")],
    });
    expect(cli.git("log", "-1", "--format=%B")).toContain("it broke production");
    expect(cli.pawl("verify").code).toBe(0);
  });

  it("puts the branch of an unmerged task away, and says how to get it back", () => {
    const cli = makeCli();
    const task = makeTask(cli, "accept");
    const change = cli.git("rev-parse", "pawl/t1");
    const main = cli.git("rev-parse", "main");
    cli.pawl("answer", "rejected", "--to", "revert", "--note", "not wanted");
    expect(cli.pawl("answer", "revert", "--note", "not wanted", "--json").json().to).toBe("done");
    expect(cli.git("rev-parse", "main")).toBe(main);
    expect(cli.git("branch", "--list", "pawl/*")).toBe("");
    const { commits, impact } = task.readJson("revert/record.json") as { commits: string[]; impact: string };
    expect(commits).toEqual([]);
    const [, command = ""] = /`git ([^`]*)`/.exec(impact) ?? [];
    cli.git(...command.split(" "));
    expect(cli.git("rev-parse", "pawl/t1")).toBe(change);
  });

  it("is refused, with nothing changed, when later work builds on the change", () => {
    const cli = makeCli();
    makeTask(cli, "accept");
    cli.pawl("answer", "accepted", "--note", "fine");
    cli.write("hello.txt", "hello, and more\n");
    cli.git("add", "hello.txt");
    cli.git("commit", "--quiet", "-m", "Later");
    const before = cli.git("rev-parse", "HEAD");
    cli.pawl("redo", "revert", "--reason", "no");
    const { code, text } = refuse(cli, "answer", "revert", "--note", "no");
    expect(code).toBe(1);
    expect(text).toContain("hello.txt");
    expect(cli.git("rev-parse", "HEAD")).toBe(before);
    expect(cli.pawl("status", "--json").json().phase).toBe("revert");
  });

  it("spares uncommitted work in the files it would touch", () => {
    const cli = makeCli();
    makeTask(cli, "accept");
    cli.pawl("answer", "accepted", "--note", "fine");
    cli.write("hello.txt", "my own\n");
    cli.pawl("redo", "revert", "--reason", "no");
    const { code, text } = refuse(cli, "answer", "revert", "--note", "no");
    expect(code).toBe(1);
    expect(text).toContain("hello.txt");
    expect(cli.read("hello.txt")).toBe("my own\n");
  });
});
