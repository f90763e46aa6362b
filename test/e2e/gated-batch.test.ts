/** Tasks whose agents run by themselves, side by side and unattended. */
import { describe, expect, it } from "vitest";
import { makeCli } from "../support/cli.js";
import { must, sockets } from "../support/gated.js";

describe("a batch of gated tasks", () => {
  it("goes as far as the human's phase, with the rehearsal agent, and again when it is started anew", () => {
    const cli = makeCli({ config: { workflow: "gated-task", agents: { default: { use: "rehearsal" } } } });
    for (const id of ["a", "b"]) {
      must(cli.pawl("new", `Say hello, ${id}`, "--id", id));
      const task = cli.task(id);
      task.write(`rehearsal/working/1/files/${id}.txt`, `hello ${id}\n`);
      task.write("rehearsal/working/1/handoff.md", "## Handoff\n\nDONE: hello\n");
      task.write("rehearsal/agent-review/1/review.md", "## Review\n\nVerdict: FAIL\n\n- say it louder\n");
      task.write(`rehearsal/working/2/files/${id}.txt`, `HELLO ${id}\n`);
      task.write("rehearsal/working/2/handoff.md", "## Handoff\n\nDONE: louder\n");
      task.write("rehearsal/agent-review/2/review.md", "## Review\n\nVerdict: PASS\n");
    }
    const batch = (): string => {
      const { code, stdout } = cli.pawl("batch", "tasks", "--until", "reviewing", "--json");
      expect(code, stdout).toBe(0);
      return stdout;
    };
    expect(JSON.parse(batch())).toMatchObject({
      tasks: [
        { id: "a", outcome: "arrived", phase: "reviewing" },
        { id: "b", outcome: "arrived", phase: "reviewing" },
      ],
    });
    batch();
    for (const id of ["a", "b"]) {
      must(cli.pawl("answer", "approve", id));
      expect(must(cli.pawl("verify", id)).stdout).toContain("ok:");
      expect(cli.git("show", `main:${id}.txt`)).toBe(`HELLO ${id}`);
    }
    expect(sockets(cli)).toEqual([]);
  });
});
