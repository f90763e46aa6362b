/** A pawl was killed while its agent was at work; then a human steps in instead of running the phase again. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { appears, makeCli, makeTask, OK, type Cli, type TaskFiles } from "../support/cli.js";

/** In plan_review, with an approval left by an agent whose pawl never saw it end. */
async function killedReview(): Promise<{ cli: Cli; task: TaskFiles; runs: () => string }> {
  const cli = makeCli();
  const task = makeTask(cli, "plan_review");
  const begun = join(cli.root, "begun");
  const command = cli.agent(
    "endless",
    `fs.appendFileSync(${JSON.stringify(join(cli.root, "runs"))}, "x");
     leave("plan_review", ${JSON.stringify(OK)});
     fs.writeFileSync(${JSON.stringify(begun)}, "");
     // Only the first time: a second run would be the mistake, and is not to hang the test.
     if (env.PAWL_TASK && fs.readFileSync(${JSON.stringify(join(cli.root, "runs"))}, "utf8") === "x") setInterval(() => undefined, 1 << 30);`,
  );
  cli.config({ agents: { default: { command } } });
  const running = cli.start("next");
  await appears(begun);
  process.kill(running.pid, "SIGKILL");
  await running.finished;
  return { cli, task, runs: () => readFileSync(join(cli.root, "runs"), "utf8") };
}

describe("after a kill", () => {
  it("a human's answer counts, and no agent is run over it", async () => {
    const { cli, task, runs } = await killedReview();
    const answer = cli.pawl("answer", "accepted", "--note", "I read it myself", "--json");
    expect(answer.code, answer.stdout).toBe(0);
    expect(answer.json()).toMatchObject({ from: "plan_review", to: "codegen" });
    expect(task.readJson("review/plan-review.json")).toMatchObject({ reasons: ["I read it myself"] });
    expect(runs()).toBe("x");
    // What the lost run left is kept, beside that run.
    expect(task.readJson("plan_review/runs/1/archive/plan-review.json")).toEqual(OK);
    expect(cli.pawl("verify").code).toBe(0);
  });

  it("an override passes over the approval that nobody saw, and the way on stays open", async () => {
    const { cli } = await killedReview();
    const step = cli.pawl("override", "codegen", "--reason", "the plan is plain", "--json");
    expect(step.code, step.stdout).toBe(0);
    const { suggestion } = cli.pawl("status", "--json").json();
    expect(suggestion).toMatchObject({ currentPhase: "codegen", action: "work" });
  });

  it("an answer puts away what lies in its place", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    mkdirSync(join(task.dir, "review"), { recursive: true });
    writeFileSync(join(task.dir, "review/plan-review.json"), '{"ok": "yes"}');
    expect(cli.pawl("answer", "accepted", "--note", "fine").code).toBe(0);
    expect(task.readJson("review/plan-review.json")).toMatchObject({ ok: true, reasons: ["fine"] });
    expect(task.readJson("plan_review/runs/0/archive/plan-review.json")).toEqual({ ok: "yes" });
  });
});
