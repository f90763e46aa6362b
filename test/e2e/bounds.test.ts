import { describe, expect, it } from "vitest";
import { makeCli, makeTask, NOT_OK, OK, PLAN, refuse, type Cli } from "../support/cli.js";

describe("bounds", () => {
  const atBound = (cli: Cli, phase: string, message: RegExp): void => {
    const step = cli.pawl("next", "--json");
    expect(step.json(), step.stdout).toMatchObject({ from: phase, to: phase });
    expect(step.json().waiting).toMatch(message);
    const status = cli.pawl("status", "--json").json();
    expect(status).toMatchObject({
      phase,
      waiting: expect.stringMatching(message) as string,
      actor: { status: "blocked" },
    });
    for (const args of [["next"], ["run", phase]]) {
      const { code, text } = refuse(cli, ...args);
      expect(code, args.join(" ")).toBe(10);
      expect(text).toMatch(message);
      expect(text).toContain('pawl resume --note "…" t1');
    }
    const auto = cli.pawl("next", "--auto", "--json");
    expect(auto.code).toBe(10);
    expect(auto.json()).toMatchObject({ stopped: "human", phase });
    expect(cli.pawl("tasks").stdout).toMatch(message);
  };

  it("a plan that is reviewed once too often waits, and a human lets it go on", () => {
    const cli = makeCli({ config: { limits: { plan_rounds: 2 } } });
    const task = makeTask(cli);
    const round = (plan: object, review: object): void => {
      task.write("planning/plan.json", plan);
      expect(cli.pawl("next", "--json").json().to).toBe("plan_review");
      task.write("review/plan-review.json", review);
    };
    round(PLAN, NOT_OK);
    expect(cli.pawl("next", "--json").json().to).toBe("planning");
    round({ ...PLAN, title: "Two" }, NOT_OK);
    atBound(cli, "plan_review", /reviewed as often as the limits allow/);
    expect(refuse(cli, "resume").code).toBe(2);
    expect(refuse(cli, "resume", "--note", " ").code).toBe(2);
    const resumed = cli.pawl("resume", "--note", "greet in French", "--json").json();
    expect(resumed).toMatchObject({ from: "plan_review", to: "planning", waiting: null });
    // The rounds start anew.
    round(PLAN, NOT_OK);
    expect(cli.pawl("next", "--json").json().to).toBe("planning");
  });

  it("tests that fail as often as the limits allow", () => {
    const cli = makeCli({ config: { test: ["echo broken; false"], limits: { test_rounds: 1 } } });
    makeTask(cli, "test");
    atBound(cli, "test", /tests failed as often as the limits allow/);
    expect(cli.pawl("resume", "--note", "try harder", "--json").json().to).toBe("codegen");
  });

  it("a change that is reviewed once too often", () => {
    const cli = makeCli({ config: { limits: { review_rounds: 1 } } });
    const task = makeTask(cli, "review");
    task.write("review/code-review.json", NOT_OK);
    atBound(cli, "review", /reviewed as often as the limits allow/);
    expect(cli.pawl("resume", "--note", "go", "--json").json().to).toBe("codegen");
  });

  it("an agent that fails as often as the limits allow", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    cli.config({
      limits: { attempts: 2 },
      agents: { default: { command: ["sh", "-c", "echo no network >&2; exit 7"] } },
    });
    expect(cli.pawl("next").code).toBe(4);
    const second = cli.pawl("next", "--json");
    expect(second.code).toBe(10);
    expect(second.json().error.message).toContain("plan_review failed (attempt 2): the agent exited with 7");
    expect(refuse(cli, "next").code).toBe(10);
    expect(task.read("plan_review/runs/2/output.log")).toContain("no network");
    expect(cli.pawl("resume", "--note", "the network is back", "--json").json()).toMatchObject({
      to: "plan_review",
      waiting: null,
    });
    cli.config({});
    task.write("review/plan-review.json", OK);
    expect(cli.pawl("next", "--json").json().to).toBe("codegen");
  });

  it("next --auto tries a failed attempt again, and stops at the bound with exit code 10", () => {
    const cli = makeCli();
    makeTask(cli, "plan_review");
    // It crashes, then leaves nothing, then crashes: the same failure twice in a row would be enough.
    const command = cli.agent("failing", `process.exit(env.PAWL_ATTEMPT === "2" ? 0 : 1);`);
    cli.config({ agents: { default: { command } } });
    const auto = cli.pawl("next", "--auto", "--json");
    expect(auto.code).toBe(10);
    expect(cli.pawl("status", "--json").json()).toMatchObject({
      phase: "plan_review",
      actor: { status: "blocked", runs: 3 },
    });
  });

  it("the same failure twice is not tried a third time", () => {
    const cli = makeCli();
    makeTask(cli, "plan_review");
    cli.config({ agents: { default: { command: ["false"] } } });
    expect(cli.pawl("next", "--auto").code).toBe(10);
    expect(cli.pawl("status", "--json").json()).toMatchObject({ actor: { status: "blocked", runs: 2 } });
  });

  it("a blocking question waits for its answer, which the planner then reads", () => {
    const cli = makeCli();
    const task = makeTask(cli);
    const question = { text: "Which language?", blocking: true };
    task.write("planning/plan.json", { ...PLAN, questions: [question] });
    const asked = cli.pawl("next", "--json").json();
    expect(asked).toMatchObject({ from: "planning", to: "planning" });
    expect(refuse(cli, "next").code).toBe(10);
    expect(cli.pawl("status").stdout + cli.pawl("why").stdout).toContain("Which language?");
    expect(cli.pawl("resume", "--note", "French", "--json").json().to).toBe("planning");
    cli.pawl("next", { env: { PAWL_AGENT: "rehearsal" } });
    expect(task.read("planning/runs/1/prompt.md")).toContain("French");
  });

  it("--max-steps is a bound of its own", () => {
    const cli = makeCli();
    makeTask(cli);
    const auto = cli.pawl("next", "--auto", "--max-steps", "2", "--json", { env: { PAWL_AGENT: "rehearsal" } });
    expect(auto.code).toBe(0);
    expect(auto.json()).toMatchObject({ stopped: "max-steps", phase: "codegen" });
    expect(auto.json().steps).toHaveLength(2);
  });

  it("resume has nothing to do where nobody waits", () => {
    const cli = makeCli();
    makeTask(cli, "plan_review");
    expect(refuse(cli, "resume", "--note", "go").code).toBe(1);
  });
});
