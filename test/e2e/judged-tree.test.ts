import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeCli, makeTask, refuse, rehearse } from "../support/cli.js";

describe("what is merged is what was judged", () => {
  it("a test report opens the way for the files that were tested, not for a commit that a waiver let through", () => {
    const cli = makeCli();
    const task = makeTask(cli, "review");
    const main = cli.git("rev-parse", "main");
    task.edit("hello.txt", "hello by hand\n");
    cli.pawl("override", "test", "--reason", "the reviewer is on holiday");
    expect(cli.pawl("next", "--json").json()).toMatchObject({ from: "test", to: "accept" });
    const { code, text } = refuse(cli, "answer", "accepted", "--note", "fine");
    expect(code).toBe(1);
    expect(text).toContain("is not what would be merged");
    expect(cli.git("rev-parse", "main")).toBe(main);
    expect(readFileSync(join(task.worktree, "hello.txt"), "utf8")).toBe("hello by hand\n");
  });

  it("a file that only a private list hides is part of the change, and out of its scope", () => {
    const cli = makeCli();
    const task = makeTask(cli, "codegen");
    cli.write(".git/info/exclude", "/.pawl/\nhelper.sh\n");
    task.edit("helper.sh", "exit 0\n");
    rehearse(cli, "t1", 1);
    expect(cli.pawl("status", "--json").json().phase).toBe("planning");
    expect(cli.git("show", "pawl/t1:helper.sh")).toBe("exit 0");
  });

  it("whoever has the token of a test command is no human, and accepts nothing", () => {
    const cli = makeCli({ config: { test: ['printf %s "$PAWL_TOKEN" > "$PAWL_TASK_DIR/token"'] } });
    const task = makeTask(cli, "accept");
    const { text } = refuse(cli, "answer", "accepted", "--note", "LGTM", { env: { PAWL_TOKEN: task.read("token") } });
    expect(text).toContain("agent");
    expect(cli.pawl("status", "--json").json().phase).toBe("accept");
  });

  it("a task that is begun anew after its merge can still be undone", () => {
    const cli = makeCli();
    const task = makeTask(cli, "accept");
    cli.pawl("answer", "accepted", "--note", "fine");
    expect(cli.read("hello.txt")).toBe("hello 1\n");
    cli.pawl("redo", "codegen", "--reason", "again");
    rehearse(cli, "t1", 1);
    cli.pawl("override", "revert", "--reason", "drop it");
    expect(cli.pawl("answer", "revert", "--note", "undo all", "--json").json().to).toBe("done");
    expect(cli.has("hello.txt")).toBe(false);
    expect(task.readJson("revert/record.json")["commits"]).toEqual([cli.git("rev-parse", "main")]);
  });

  it("the report of an earlier round still names the patch that it is about", () => {
    const cli = makeCli();
    const task = makeTask(cli, "review");
    const named = String(task.readJson("code/changes.json")["patch"]);
    cli.pawl("redo", "codegen", "--reason", "again");
    rehearse(cli, "t1", 1);
    expect(task.read("code/diff.patch")).toContain("+hello 2");
    expect(task.read(named)).toContain("+hello 1");
    expect(task.read(String(task.readJson("code/changes.json")["patch"]))).toContain("+hello 2");
  });
});
