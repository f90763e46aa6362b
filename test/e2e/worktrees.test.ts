/** `pawl worktrees`: what each holds, and that nothing is lost when they are removed. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { make, makeCoder } from "../support/coder.js";

const LAZY = { coder: `fs.writeFileSync("hello.txt", "bye\\n"); fs.writeFileSync("draft.txt", "a draft\\n");` };

describe("pawl worktrees", () => {
  it("tells whose they are, and removes those of tasks that are over, with what only they hold in a bundle", () => {
    const coder = makeCoder({ ...LAZY, code_reviewer: `verdict("code_review", "abandon", "no");` }, { test: ["true"] });
    coder.commit("Ignore", { ".gitignore": "tasks/\npawl.json\n.pawl/\n" });
    make(coder, "t2");
    expect(coder.auto("t1").code).toBe(0);
    expect(coder.phase()).toBe("ERROR");
    expect(coder.pawl("next", "t2", "--auto", "--max-steps", "3").code).toBe(0);
    coder.t1.edit("later.txt", "not committed\n");
    const listed = coder.pawl("worktrees", "--json").json() as unknown as { worktrees: object[] };
    expect(listed.worktrees).toMatchObject([
      { task: "t1", phase: "ERROR", isOver: true, uncommitted: 1, unmerged: 1 },
      { task: "t2", phase: "PLAN_REVIEW", isOver: false, uncommitted: 0, unmerged: 0 },
    ]);
    const cleaned = coder.pawl("worktrees", "--gc");
    expect(cleaned.code, cleaned.stderr).toBe(0);
    expect(cleaned.stdout).toContain("t2 is in PLAN_REVIEW: it stays");
    expect(existsSync(coder.t1.worktree)).toBe(false);
    expect(existsSync(coder.task("t2").worktree)).toBe(true);
    expect(coder.git("branch", "--list", "pawl/t1")).toBe("");

    const kept = join(coder.dir, ".pawl", "kept", "t1");
    const [bundle = ""] = readdirSync(kept).filter((name) => name.endsWith(".bundle"));
    const clone = join(coder.root, "clone");
    coder.git("clone", "--quiet", coder.dir, clone);
    coder.git({ cwd: clone }, "fetch", "--quiet", join(kept, bundle), "+refs/*:refs/kept/*");
    const refs = coder.git({ cwd: clone }, "for-each-ref", "--format=%(refname)", "refs/kept").split("\n");
    const all = refs.map((ref) => coder.git({ cwd: clone }, "ls-tree", "--name-only", "-r", ref)).join("\n");
    for (const file of ["hello.txt", "draft.txt", "later.txt"]) expect(all).toContain(file);
  });

  it("leaves what it cannot keep where it is, and says so", () => {
    const coder = makeCoder({ ...LAZY, code_reviewer: `verdict("code_review", "abandon", "no");` }, { test: ["true"] });
    coder.commit("Ignore", { ".gitignore": "tasks/\npawl.json\n.pawl/\n" });
    expect(coder.auto("t1").code).toBe(0);
    coder.git({ cwd: coder.t1.worktree }, "init", "--quiet", "inner");
    coder.git({ cwd: join(coder.t1.worktree, "inner") }, "commit", "--quiet", "--allow-empty", "-m", "x");
    const cleaned = coder.pawl("worktrees", "--gc");
    expect(cleaned.code).toBe(1);
    expect(cleaned.stdout).toContain("holds another repository");
    expect(existsSync(coder.t1.worktree)).toBe(true);
  });
});
