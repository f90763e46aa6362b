import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isTaskId, requireTaskId, resolveInside } from "../../src/task/paths.js";
import { thrownBy } from "../support/errors.js";
import { makeDirectory } from "../support/workspace.js";

describe("a task's id", () => {
  it.each(["t1", "A", "0", "add-slugify", "a.b_c-d", "x".repeat(100)])("%s", (id) => expect(isTaskId(id)).toBe(true));

  it.each([
    "",
    ".",
    "..",
    "a..b",
    ".hidden",
    "-x",
    "_x",
    "a/b",
    "a\\b",
    "/a",
    "a b",
    "ä",
    "a\n",
    "a\0",
    "x".repeat(101),
    "a.lock",
    "x.",
    "a.b.",
    "~",
    "a:b",
  ])("%j is none", (id) => {
    expect(isTaskId(id)).toBe(false);
    expect(thrownBy(() => requireTaskId(id)).kind).toBe("usage");
  });
});

describe("a task's id and git", () => {
  it.each([
    ["x.", "it ends with `.`"],
    ["a..b", "it has `..` in it"],
    ["a.lock", "it ends with `.lock`"],
    ["a b", "it has other characters"],
    ["-x", "it does not begin with a letter"],
    ["", "it is empty"],
  ])("%j is refused with the reason", (id, why) => {
    expect(thrownBy(() => requireTaskId(id)).message).toContain(`\`${id}\` cannot be a task's id: ${why}`);
  });

  it("no id is taken that git refuses in a branch name", () => {
    const isBranch = (id: string): boolean =>
      spawnSync("git", ["check-ref-format", `refs/heads/pawl/${id}`]).status === 0;
    const parts = ["a", ".", "-", "_", "lock", ".lock", "@", "..", "HEAD"];
    const ids = parts.flatMap((one) => [one, ...parts.flatMap((two) => [`${one}${two}`, `a${one}${two}`])]);
    expect([...new Set(ids)].filter((id) => isTaskId(id) && !isBranch(id))).toEqual([]);
  });
});

describe("a path inside a directory", () => {
  it("is where it says, whether something is there or not", () => {
    const directory = makeDirectory();
    mkdirSync(join(directory, "a", "b"), { recursive: true });
    for (const path of ["a/b/c.json", "a/b", "x", "x/y/z", "./a/b"])
      expect(resolveInside(directory, path)).toEqual({ path: join(directory, path) });
  });

  it.each(["..", "../x", "a/../x", "a/..", "/x", "", "a\\..\\x"])("%j is refused", (path) => {
    expect(resolveInside(makeDirectory(), path)).toMatchObject({
      error: { file: path, expected: "a plain file inside the task directory", hint: "put the file itself there" },
    });
  });

  it("is refused through any link on the way", () => {
    const directory = makeDirectory();
    mkdirSync(join(directory, "real", "sub"), { recursive: true });
    symlinkSync(join(directory, "real"), join(directory, "link"));
    symlinkSync("/nowhere", join(directory, "real", "sub", "end"));
    expect(resolveInside(directory, "link/sub/x")).toMatchObject({ error: { found: "link is a symbolic link" } });
    expect(resolveInside(directory, "real/sub/end")).toMatchObject({
      error: { found: "real/sub/end is a symbolic link" },
    });
    expect(resolveInside(directory, "real/sub/x")).toHaveProperty("path");
  });
});
