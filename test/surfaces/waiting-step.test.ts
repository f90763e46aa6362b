/** A step that makes its task wait for a human says so with its exit code, and not only the step after it. */
import { describe, expect, it } from "vitest";
import { makeCli, makeTask, NOT_OK, type Cli } from "../support/cli.js";

/** In a plan review that will say no, after which nobody may plan again. */
function makeLastRound(): Cli {
  const cli = makeCli({ git: false, config: { limits: { plan_rounds: 1 } } });
  makeTask(cli, "plan_review").write("rehearsal/plan_review/1/plan_review.json", NOT_OK);
  cli.write("no.json", JSON.stringify(NOT_OK));
  return cli;
}

describe("a step that ends waiting for a human", () => {
  it.each([
    ["next", ["next", "t1"]],
    ["answer", ["answer", "@no.json", "t1"]],
  ])("%s: exit code 10, and the step as ever", (_command, words) => {
    const cli = makeLastRound();
    const step = cli.pawl(...words, "--json", { env: { PAWL_AGENT: "rehearsal" } });
    expect(step.code, step.stdout).toBe(10);
    expect(step.json()).toMatchObject({ from: "plan_review", waiting: expect.any(String) as string });
    expect(cli.pawl("status", "t1", "--json").json().waiting).not.toBeNull();
  });

  it("a step that does not: 0", () => {
    const cli = makeLastRound();
    cli.config({});
    expect(cli.pawl("next", "t1", { env: { PAWL_AGENT: "rehearsal" } }).code).toBe(0);
  });
});
