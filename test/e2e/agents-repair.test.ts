/** An artifact that is refused goes back to its agent with the findings, a bounded number of times. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeCli, makeTask, OK, PLAN, type Cli, type TaskFiles } from "../support/cli.js";

/** A planner that notes what it was told each time, and leaves what the list says for that time. */
function makePlanner(leaves: unknown[], options: { repairs?: number } = {}): { cli: Cli; task: TaskFiles } {
  const cli = makeCli({ git: false });
  const task = makeTask(cli);
  const command = cli.agent(
    "planner",
    `const times = ${JSON.stringify(leaves)};
    const log = ${JSON.stringify(join(cli.root, "times"))};
    fs.appendFileSync(log, JSON.stringify([env.PAWL_ATTEMPT, env.PAWL_REPAIR ?? null, fs.existsSync(artifacts.plan)]) + "\\n");
    const time = fs.readFileSync(log, "utf8").trim().split("\\n").length - 1;
    const left = times[Math.min(time, times.length - 1)];
    if (typeof left === "string") fs.writeFileSync(artifacts.plan, left);
    else if (left !== null) leave("plan", left);`,
  );
  cli.config({ agents: { default: { command, ...options } } });
  return { cli, task };
}

/** Attempt, repair, and whether a plan lay there when it began. */
function times(cli: Cli): unknown[] {
  return cli
    .read("../times")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

const { title: _title, ...UNTITLED } = PLAN;
const BAD = { ...UNTITLED, files: [{ path: "hello.txt", intent: "rewrite" }] };

const PRINT_INSTEAD = "If you cannot write that file, print exactly that one JSON document instead, and no other.";

describe("repair", () => {
  it("gives the agent exactly the findings, keeps the refused copy, and is no failed attempt", () => {
    const { cli, task } = makePlanner([BAD, PLAN]);
    const step = cli.pawl("next", "--json");
    expect(step.code, step.stdout).toBe(0);
    expect(step.json()).toMatchObject({ from: "planning", to: "plan_review" });
    expect(times(cli)).toEqual([
      ["1", null, false],
      ["1", "1", false],
    ]);

    const prompt = task.read("planning/runs/1/repair-1/prompt.md");
    // The whole task is said again, then what was refused, and why: pointer, expected, found.
    expect(prompt.startsWith(task.read("planning/runs/1/prompt.md").trimEnd())).toBe(true);
    const findings = prompt.split("\n").filter((line) => line.startsWith("- ") && line.includes("expected"));
    expect(findings).toHaveLength(2);
    expect(findings.join("\n")).toMatch(/planning\/plan\.json: \/title expected .*found nothing/);
    expect(findings.join("\n")).toMatch(/\/files\/0\/intent expected .*create.*update.*delete.*found "rewrite"/);
    expect(prompt).toContain("This is repair 1 of 2");
    const refused = join(task.dir, "planning/runs/1/repair-1/refused-plan.json");
    expect(prompt).toContain(`the copy is ${refused}`);
    expect(task.readJson("planning/runs/1/repair-1/refused-plan.json")).toEqual(BAD);
    expect(prompt.trimEnd().split("\n").at(-1)).toBe(
      `Write ${join(task.dir, "planning/plan.json")} anew, then stop. ${PRINT_INSTEAD}`,
    );
    expect(task.read("planning/runs/1/prompt.md").split(PRINT_INSTEAD)).toHaveLength(3);

    expect(task.readJson("planning/runs/1/result.json")).toMatchObject({ attempt: 1, repair: 0, outcome: "finished" });
    expect(task.readJson("planning/runs/1/repair-1/result.json")).toMatchObject({ attempt: 1, repair: 1, exitCode: 0 });
    expect(task.has("planning/runs/1/repair-1/output.log")).toBe(true);
    const events = cli.pawl("history", "--json").json().events;
    expect(events.filter(({ type }) => type === "run.started")).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "transition", data: { finished: { run: 1 } } });
    expect(task.readJson("state.json")).toMatchObject({ actors: { planning: { runs: 1, failures: 0 } } });
  });

  it("takes what is no JSON at all for a refusal, too", () => {
    const { cli, task } = makePlanner(["{ a plan", PLAN]);
    expect(cli.pawl("next", "--json").json().to).toBe("plan_review");
    expect(task.read("planning/runs/1/repair-1/refused-plan.json")).toBe("{ a plan");
    expect(task.read("planning/runs/1/repair-1/prompt.md")).toMatch(/plan\.json.*not.*JSON/i);
  });

  it.each([
    { what: "a comma too much", printed: 'So:\n```json\n{ "title": "x", }\n```\n', kept: '{ "title": "x", }' },
    { what: "its end missing", printed: '{ "title": "x"', kept: '{ "title": "x"' },
  ])("takes a printed document with $what for a refusal, too", ({ printed, kept }) => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli);
    const command = cli.agent(
      "printing",
      `process.stdout.write(env.PAWL_REPAIR === undefined ? ${JSON.stringify(printed)} : ${JSON.stringify(JSON.stringify(PLAN))});`,
    );
    cli.config({ agents: { default: { command } } });
    expect(cli.pawl("next", "--json").json().to).toBe("plan_review");
    expect(task.read("planning/runs/1/repair-1/refused-plan.json")).toBe(kept);
    expect(task.read("planning/runs/1/repair-1/prompt.md")).toMatch(/plan\.json.*not JSON/);
  });

  it("is tried twice when nothing else is said, then the attempt has failed", () => {
    const { cli, task } = makePlanner([BAD, BAD, { ...PLAN, title: 7 }]);
    const step = cli.pawl("next", "--json");
    expect(step.code).toBe(3);
    const { error } = step.json();
    expect(error.message).toContain("planning failed (attempt 1)");
    // It is the last one's finding that counts.
    expect(error.findings).toMatchObject([{ pointer: "/title", found: "7" }]);
    expect(times(cli)).toEqual([
      ["1", null, false],
      ["1", "1", false],
      ["1", "2", false],
    ]);
    expect(task.read("planning/runs/1/repair-2/prompt.md")).toContain("This is repair 2 of 2");
    expect(task.has("planning/runs/1/repair-3")).toBe(false);
    // What the last one left is put away, so that nobody takes it for a plan.
    expect(task.has("planning/plan.json")).toBe(false);
    expect(task.readJson("planning/runs/1/archive/plan.json")).toMatchObject({ title: 7 });
    expect(cli.pawl("history", "--json").json().events.at(-1)).toMatchObject({
      data: { kind: "invalid-artifact", findings: [{ pointer: "/title" }] },
    });
  });

  it.each([
    { repairs: 0, runs: 1 },
    { repairs: 1, runs: 2 },
  ])("with repairs: $repairs the agent runs $runs times", ({ repairs, runs }) => {
    const { cli, task } = makePlanner([BAD], { repairs });
    expect(cli.pawl("next").code).toBe(3);
    expect(times(cli)).toHaveLength(runs);
    expect(task.has("planning/runs/1/repair-1")).toBe(repairs === 1);
  });

  it("is not asked of an agent that left nothing, nor again of one that leaves nothing as its repair", () => {
    const { cli } = makePlanner([BAD, null]);
    const step = cli.pawl("next", "--json");
    expect(step.code).toBe(4);
    expect(step.json().error.message).toContain("the agent ended without leaving it");
    expect(times(cli)).toHaveLength(2);
  });

  it("is not asked of one that crashed, and one that crashes in its repair has failed", () => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli);
    const command = cli.agent("crashing", `leave("plan", {}); process.exit(env.PAWL_REPAIR === undefined ? 0 : 5);`);
    cli.config({ agents: { default: { command } } });
    const step = cli.pawl("next", "--json");
    expect(step.code).toBe(4);
    expect(step.json().error.message).toContain("the agent exited with 5");
    expect(task.has("planning/runs/1/repair-2")).toBe(false);
  });

  it("the next attempt reads what was wrong with the last one, and a success forgets it", () => {
    const { cli, task } = makePlanner([BAD, PLAN], { repairs: 0 });
    expect(cli.pawl("next").code).toBe(3);
    expect(cli.pawl("next", "--json").json().to).toBe("plan_review");
    expect(task.read("planning/runs/2/prompt.md")).toMatch(/\/files\/0\/intent expected .*found "rewrite"/);
    expect(task.readJson("state.json")).toMatchObject({ actors: { planning: { runs: 2, failures: 0 } } });
  });

  it("a verdict that contradicts itself is refused and mended as well", () => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli, "plan_review");
    const command = cli.agent(
      "reviewer",
      `leave("plan_review", { ...${JSON.stringify(OK)}, decision: env.PAWL_REPAIR === "1" ? "accepted" : "blocked" });`,
    );
    cli.config({ agents: { default: { command } } });
    expect(cli.pawl("next", "--json").json().to).toBe("codegen");
    expect(task.read("plan_review/runs/1/repair-1/prompt.md")).toMatch(
      /\/decision expected "accepted", found "blocked"/,
    );
  });
});
