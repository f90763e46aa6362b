import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { appears, makeCli, makeTask, NOT_OK, OK, PLAN, refuse, type Cli } from "../support/cli.js";

/** An agent that says when it has begun, and goes on when it is told to. */
function waitingAgent(cli: Cli, then: string): { command: string[]; begun: string; go: () => void } {
  const begun = join(cli.root, "begun");
  const gate = join(cli.root, "go");
  const command = cli.agent(
    "waiting",
    `fs.appendFileSync(${JSON.stringify(join(cli.root, "runs"))}, "x");
     fs.writeFileSync(${JSON.stringify(begun)}, "");
     const wait = setInterval(() => { if (fs.existsSync(${JSON.stringify(gate)})) { clearInterval(wait); ${then} } }, 5);`,
  );
  return { command, begun, go: () => writeFileSync(gate, "") };
}

describe("two terminals on one task", () => {
  it("while an agent is at work: status tells, every other command leaves it alone", async () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    const agent = waitingAgent(cli, `leave("plan_review", ${JSON.stringify(OK)});`);
    cli.config({ agents: { default: { command: agent.command } } });
    const first = cli.start("next", "--json");
    await appears(agent.begun);
    const status = cli.pawl("status", "--json").json();
    expect(status).toMatchObject({
      phase: "plan_review",
      actor: { status: "running", runs: 1 },
      suggestion: { action: "busy" },
    });
    expect(cli.pawl("tasks").stdout).toContain("running");
    const others = [
      ["next"],
      ["run", "plan_review"],
      ["redo", "planning", "--reason", "x"],
      ["override", "codegen", "--reason", "x"],
      ["answer", "accepted", "--note", "x"],
      ["next", "--auto"],
    ];
    for (const args of others) {
      const { code, text } = refuse(cli, ...args);
      expect(code, args.join(" ")).toBe(1);
      expect(text).toContain("at work");
    }
    agent.go();
    const result = await first.finished;
    expect(result.json()).toMatchObject({ from: "plan_review", to: "codegen" });
    expect(readFileSync(join(cli.root, "runs"), "utf8")).toBe("x");
    expect(cli.pawl("verify").code).toBe(0);
    expect(task.readJson("review/plan-review.json")).toEqual(OK);
  });

  it("two at the same moment: one of them does the work, once", async () => {
    const cli = makeCli();
    makeTask(cli, "plan_review");
    const agent = waitingAgent(cli, `leave("plan_review", ${JSON.stringify(NOT_OK)});`);
    cli.config({ agents: { default: { command: agent.command } } });
    const calls = [1, 2, 3].map(() => cli.start("next", "--json"));
    await appears(agent.begun);
    // Two are refused while the first is at work; only then may it go on.
    const early = new Set<number>();
    const refusals = calls.map(async (call, index) => {
      const result = await call.finished;
      early.add(index);
      return result;
    });
    while (early.size < 2) await Promise.race(refusals.filter((_, index) => !early.has(index)));
    agent.go();
    const results = await Promise.all(refusals);
    expect(results.map(({ code }) => code).sort()).toEqual([0, 1, 1]);
    expect(readFileSync(join(cli.root, "runs"), "utf8")).toBe("x");
    expect(readdirSync(join(cli.task().dir, "plan_review/runs"))).toEqual(["1"]);
    expect(cli.pawl("verify", "--json").json().ok).toBe(true);
  });

  it("parallel answers: exactly one wins, and nobody's word is lost", async () => {
    const cli = makeCli();
    makeTask(cli, "accept");
    const calls = [
      ["answer", "accepted", "--note", "from one"],
      ["answer", "rejected", "--to", "planning", "--note", "from two"],
      ["answer", "rejected", "--to", "codegen", "--note", "from three"],
      ["answer", "accepted", "--note", "from four"],
    ].map((args) => cli.start(...args, "--json").finished);
    const results = await Promise.all(calls);
    const winners = results.filter(({ code }) => code === 0);
    expect(winners, results.map(({ stdout }) => stdout).join()).toHaveLength(1);
    const { to } = winners[0]?.json() ?? { to: "" };
    expect(cli.pawl("status", "--json").json().phase).toBe(to);
    const { events } = cli.pawl("history", "--json").json();
    expect(events.filter(({ from }) => from === "accept")).toHaveLength(1);
    expect(cli.pawl("verify").code).toBe(0);
    const said = cli.pawl("transcript").stdout;
    expect(said.match(/answer (accepted|rejected)/g)?.length).toBeGreaterThanOrEqual(4);
    expect(
      cli
        .git("log", "--format=%s", "main")
        .split("\n")
        .filter((subject) => subject.startsWith("Merge")),
    ).toHaveLength(to === "done" ? 1 : 0);
  });

  it("events from many sides at once all reach the history, in one chain", async () => {
    const cli = makeCli();
    makeTask(cli, "plan_review");
    const redo = (n: number): Promise<{ code: number | null }> =>
      cli.start("redo", "plan_review", "--reason", `number ${n}`, "--json").finished;
    const results = await Promise.all([1, 2, 3, 4, 5, 6].map(redo));
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0]);
    const { events } = cli.pawl("history", "--json").json();
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const reasons = events.filter(({ type }) => type === "redo").map(({ reason }) => reason);
    expect(reasons.sort()).toEqual([1, 2, 3, 4, 5, 6].map((n) => `number ${n}`));
    expect(cli.pawl("verify", "--json").json()).toMatchObject({ ok: true, findings: [] });
  });

  it("tasks side by side do not get into each other's way", async () => {
    const cli = makeCli();
    const ids = ["a", "b", "c"];
    for (const id of ids) {
      const task = makeTask(cli, "planning", id);
      task.write("rehearsal/planning/1/plan.json", { ...PLAN, files: [{ path: `${id}.txt`, intent: "create" }] });
      task.remove("rehearsal/codegen/1/files/hello.txt");
      task.write(`rehearsal/codegen/1/files/${id}.txt`, "hello\n");
    }
    cli.config({ test: ["grep -q hello *.txt"] });
    const env = { PAWL_AGENT: "rehearsal" };
    const runs = await Promise.all(ids.map((id) => cli.start("next", id, "--auto", "--json", { env }).finished));
    expect(runs.map(({ code }) => code)).toEqual([10, 10, 10]);
    const answers = await Promise.all(
      ids.map((id) => cli.start("answer", "accepted", id, "--note", "fine", "--json").finished),
    );
    expect(answers.map(({ stdout, code }) => (code === 0 ? "done" : stdout))).toEqual(["done", "done", "done"]);
    expect(ids.map((id) => cli.read(`${id}.txt`))).toEqual(["hello\n", "hello\n", "hello\n"]);
    expect(cli.git("log", "--format=%s", "--first-parent").split("\n")).toHaveLength(4);
  });
});

describe("an interrupt", () => {
  it("ends the agent, is recorded, and the task goes on from there", async () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    const agent = waitingAgent(cli, "");
    cli.config({ agents: { default: { command: agent.command } } });
    const call = cli.start("next", "--json");
    await appears(agent.begun);
    call.interrupt();
    const result = await call.finished;
    expect(result.code).toBe(130);
    expect(result.json().error).toMatchObject({ kind: "interrupted", hint: "pawl next t1" });
    const status = cli.pawl("status", "--json").json();
    expect(status).toMatchObject({ phase: "plan_review", waiting: null, suggestion: { action: "work" } });
    expect(cli.pawl("history", "--json").json().events.at(-1)).toMatchObject({ type: "run.interrupted" });
    expect(existsSync(join(task.dir, "review/plan-review.json"))).toBe(false);
    cli.config({
      agents: { default: { command: cli.agent("quick", `leave("plan_review", ${JSON.stringify(OK)});`) } },
    });
    expect(cli.pawl("next", "--json").json().to).toBe("codegen");
  });
});
