/** The coder's merge, killed with SIGKILL at whatever moment: the next call finds out from git what happened. */
import { describe, expect, it } from "vitest";
import { makeCoder } from "../support/coder.js";

describe("kill -9", () => {
  it("at any moment of the merge: nothing is merged twice", async () => {
    const coder = makeCoder();
    coder.commit("Ignore", { ".gitignore": "tasks/\npawl.json\n.pawl/\n" });
    expect(coder.auto("--max-steps", "7").code).toBe(0);
    const back = coder.t1.keep();
    const main = coder.git("rev-parse", "main");
    const head = coder.git("rev-parse", "pawl/t1");
    for (let wait = 20; wait <= 420; wait += 80) {
      const running = coder.start("next");
      await new Promise((resolve) => setTimeout(resolve, wait));
      process.kill(running.pid, "SIGKILL");
      await running.finished;
      const result = coder.auto();
      expect(result.code, result.stderr).toBeOneOf([0, 1]);
      expect(coder.phase()).toBe("DONE");
      expect(coder.git("rev-list", "--count", `${main}..main`)).toBe("1");
      expect(coder.pawl("verify").code).toBe(0);
      // Once more from the same place.
      coder.git("reset", "--quiet", "--hard", main);
      coder.git("branch", "pawl/t1", head);
      coder.git("worktree", "add", "--quiet", coder.t1.worktree, "pawl/t1");
      back();
    }
  });
});
