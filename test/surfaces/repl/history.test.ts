import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { historyFile, readHistoryFile, remember, withLine } from "../../../src/surfaces/repl/history.js";
import type { Workspace } from "../../../src/workspace/workspace.js";
import { makeRoot } from "../../support/repository.js";

function makeWorkspace({ empty = false } = {}): Workspace {
  const { root: home } = makeRoot();
  const root = join(home, "work");
  mkdirSync(empty ? root : join(root, "tasks"), { recursive: true });
  return { root, cwd: root, env: { MY_API_TOKEN: "correct-horse-battery" } };
}

describe("withLine", () => {
  it("drops blanks and what was typed twice in a row", () => {
    expect(withLine([], " /next ")).toEqual(["/next"]);
    expect(withLine(["/next"], "/next")).toEqual(["/next"]);
    expect(withLine(["/next", "/why"], "/next")).toEqual(["/next", "/why", "/next"]);
    expect(withLine(["/next"], "  ")).toEqual(["/next"]);
  });

  it("keeps the last thousand", () => {
    const lines = Array.from({ length: 1000 }, (_, at) => `/run ${at}`);
    expect(withLine(lines, "/last")).toEqual([...lines.slice(1), "/last"]);
  });
});

describe("remember", () => {
  it("adds to what another REPL has written meanwhile, without secrets, for nobody else to read", () => {
    const workspace = makeWorkspace();
    const mine = remember(workspace, [], "/redo planning correct-horse-battery leaked");
    remember(workspace, [], "/tasks");
    expect(remember(workspace, mine, "/why")).toEqual(["/redo planning [masked] leaked", "/why"]);
    expect(readFileSync(historyFile(workspace), "utf8")).toBe("/redo planning [masked] leaked\n/tasks\n/why\n");
    expect(readHistoryFile(workspace)).toEqual(["/redo planning [masked] leaked", "/tasks", "/why"]);
    expect(statSync(historyFile(workspace)).mode & 0o077).toBe(0);
  });

  it("makes no workspace of a directory that is none", () => {
    const workspace = makeWorkspace({ empty: true });
    expect(remember(workspace, [], "/tasks")).toEqual(["/tasks"]);
    expect(existsSync(join(workspace.root, ".pawl"))).toBe(false);
  });

  it("goes on where nothing can be written", () => {
    const workspace = makeWorkspace();
    // A directory where the file should be: that fails for every user, root too.
    mkdirSync(historyFile(workspace), { recursive: true });
    expect(remember(workspace, ["/why"], "/tasks")).toEqual(["/why", "/tasks"]);
    expect(readHistoryFile(workspace)).toEqual([]);
  });
});
