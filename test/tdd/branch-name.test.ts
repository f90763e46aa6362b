import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { branchName } from "../../src/tdd/branch-name.js";

describe("the branch of a pull request", () => {
  it.each([
    ["feat: Implement New Feature", "feat/implement-new-feature"],
    ["fix(api)!: don't crash", "fix/don-t-crash"],
    ["Add a thing", "add-a-thing"],
    ["Überraschung für alle", "uberraschung-fur-alle"],
    ["feat: $(rm -rf /) `x`; --force", "feat/rm-rf-x-force"],
  ])("%j → %s", (title, branch) => expect(branchName(title)).toBe(branch));

  it("is one that git takes, whatever the title", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (title) => {
        const { status } = spawnSync("git", ["check-ref-format", "--branch", branchName(title)]);
        expect(status).toBe(0);
      }),
      { numRuns: 60, examples: [[""], ["-"], ["feat: "], ["..lock"], ["a.lock: b.lock"], ["\u{1f600}"], ["@{"]] },
    );
  });
});
