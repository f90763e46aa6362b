/** The tools over MCP, with the official client against the built program. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, it, onTestFinished } from "vitest";
import { toolDefinitions } from "../../src/orchestrator/tools/definitions.js";
import { PACKAGE, PROGRAM } from "../support/cli.js";
import { makeTdd, STEPS, type TddRun } from "../support/tdd-run.js";

interface Agent {
  client: Client;
  call(name: string, input?: Record<string, unknown>): Promise<{ text: string; isError: boolean }>;
  submit(input?: Record<string, unknown>): Promise<{ status: string; output: string; instruction: string }>;
}

async function connect(run: TddRun): Promise<Agent> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, "mcp"],
    cwd: run.dir,
    env: run.env,
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const call: Agent["call"] = async (name, input = {}) => {
    const result = await client.callTool({ name, arguments: input });
    const [content] = result.content as { type: string; text: string }[];
    return { text: content?.text ?? "", isError: result.isError === true };
  };
  return {
    client,
    call,
    submit: async (input = {}) =>
      JSON.parse((await call("submit_work", { summary: "did it", ...input })).text) as Awaited<
        ReturnType<Agent["submit"]>
      >,
  };
}

describe("pawl mcp", () => {
  it("offers the four tools of the documents, in every state the same, and the persona", async () => {
    const run = makeTdd({ state: { status: "HALTED", last_error: "x" } });
    const { client } = await connect(run);
    const { tools } = await client.listTools();
    expect(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))).toEqual(
      toolDefinitions(PACKAGE),
    );
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(["swe_agent"]);
    const { messages } = await client.getPrompt({ name: "swe_agent" });
    expect(JSON.stringify(messages)).toContain("get_task");
  });

  it("answers with errors that an agent can act on", async () => {
    const run = makeTdd({ state: { status: "DEBUGGING", debug_attempt_counter: 1 } });
    const { call } = await connect(run);
    const wrong = await call("submit_work", { summary: 1 });
    expect(wrong.isError).toBe(true);
    expect(wrong.text).toContain("/summary expected a string, found 1");
    const locked = await call("request_scope_reduction");
    expect(locked.isError).toBe(true);
    expect(locked.text).toMatch(/locked[\s\S]*Next: call get_task/);
    expect(await call("no_such_tool")).toMatchObject({ isError: true });
    expect((await call("get_task")).isError).toBe(false);
  });

  it("leads through a whole pull request, and on to the next one of the plan", async () => {
    const run = makeTdd({ remote: true });
    run.reviewer(
      '{"findings": [{"description": "Name it", "file": "sum.test.sh", "line": 1, "severity": "minor", "recommendation": "rename"}]}',
      '{"findings": []}',
    );
    run.commit("Plan", { "docs/Plan_Doc/Active_Plan.md": "- feat: Add sum\n- feat: Add product\n" });
    run.git("push", "--quiet", "origin", "main");
    const { call, submit } = await connect(run);
    const say = async (): Promise<string> => (await call("get_task")).text;
    const status = (): unknown => run.json("ORCHESTRATION_STATE.json")?.["status"];

    expect(await say()).toContain("Active_Plan.md");
    const tasks = ["Sum", "Total"].map((taskName) => ({
      taskName,
      status: "TODO",
      tdd_steps: STEPS("RED", "GREEN", "REFACTOR"),
    }));
    const plan = {
      masterPlanPath: "docs/Plan_Doc/Active_Plan.md",
      prTitle: "feat: Add sum",
      summary: "s",
      verificationPlan: "v",
      tasks,
    };
    run.write("ACTIVE_PR.json", JSON.stringify(plan));
    expect(await submit()).toMatchObject({ status: "SUCCESS" });

    for (const [index, name] of ["sum", "total"].entries()) {
      expect(await say()).toContain("Step: RED");
      run.write(`${name}.test.sh`, `test -f ${name} || { echo "no ${name}"; exit 1; }\n`);
      const command = `sh ${name}.test.sh`;
      expect(await submit({ test_command: command, expectation: "FAIL" })).toMatchObject({
        status: "NEEDS_ANALYSIS",
        output: `no ${name}\n`,
      });
      expect(await submit({ analysis_decision: "SUCCESS" })).toMatchObject({ status: "SUCCESS" });
      expect(await say()).toContain("Step: GREEN");
      if (index === 0) {
        expect(await submit({ test_command: command, expectation: "PASS" })).toMatchObject({ status: "FAILURE" });
        expect(await say()).toContain("Hypothesize & Fix");
      }
      run.write(name, "1\n");
      expect(await submit({ test_command: command, expectation: "PASS" })).toMatchObject({ status: "SUCCESS" });
      expect(await say()).toContain("checkpoint");
      run.commit(`Green ${name}`);
      expect(await say()).toContain("Step: REFACTOR");
      run.write(name, "2\n");
      expect(await submit({ test_command: command, expectation: "PASS" })).toMatchObject({ status: "SUCCESS" });
      expect(await say()).toContain("checkpoint");
      run.commit(`Refactor ${name}`);
    }
    expect(await say()).toContain("Name it");
    run.write("sum", "3\n");
    expect(await submit({ test_command: "sh sum.test.sh", expectation: "PASS" })).toMatchObject({ status: "SUCCESS" });
    run.commit("Fix");
    const squash = await say();
    expect(squash).toContain("git commit -m 'feat: Add sum'");
    run.git("reset", "--quiet", "--soft", /reset --soft (\w+)/.exec(squash)?.[1] ?? "");
    const hash = run.commit("feat: Add sum");
    expect(await submit({ commit_hash: hash })).toMatchObject({ status: "SUCCESS" });
    expect(await say()).toContain(hash);
    run.write("docs/Plan_Doc/Active_Plan.md", `- [DONE] feat: Add sum ${hash}\n- feat: Add product\n`);
    expect(await submit()).toMatchObject({ status: "SUCCESS" });
    await say();
    expect(status()).toBe("MERGING_BRANCH");
    expect(await say()).toContain("plan the next pull request");

    expect(run.git("branch", "--format=%(refname:short)")).toBe("main");
    expect(run.git("log", "-1", "--format=%P").split(" ")).toHaveLength(2);
    expect(run.git("status", "--porcelain")).toBe("");
    expect(run.git("log", "--all", "--name-only", "--format=")).not.toMatch(/ORCHESTRATION_STATE|ACTIVE_PR|\.pawl/);
    expect(existsSync(join(run.dir, "ACTIVE_PR.json"))).toBe(false);

    const next = {
      ...plan,
      prTitle: "feat: Add product",
      tasks: [{ taskName: "Product", status: "TODO", tdd_steps: STEPS("RED") }],
    };
    run.write("ACTIVE_PR.json", JSON.stringify(next));
    await submit();
    expect(await say()).toContain("Product");
    expect(run.git("branch", "--show-current")).toBe("feat/add-product");
    expect(run.pawl("verify").stdout).toContain("ok");
  });

  it("serves a task of another workflow: its briefing, and the check of what was left", async () => {
    const run = makeTdd();
    expect(run.pawl("new", "Say hello", "--id", "t1").code).toBe(0);
    const client = new Client({ name: "test", version: "1.0.0" });
    const args = [PROGRAM, "mcp", "--task", "t1"];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: run.dir, env: run.env }));
    onTestFinished(() => client.close());
    const call = async (name: string, input: Record<string, unknown> = {}): Promise<string> => {
      const { content } = await client.callTool({ name, arguments: input });
      return (content as { text: string }[])[0]?.text ?? "";
    };
    const briefing = await call("get_task");
    expect(briefing).toContain("planning/plan.json");
    expect(briefing).toContain('"acceptance"');
    expect(await call("submit_work", { summary: "x" })).toContain("planning/plan.json is missing");
    const plan = {
      title: "t",
      summary: "s",
      tasks: [{ id: "1", title: "x" }],
      files: [{ path: "a", intent: "create" }],
      acceptance: ["x"],
    };
    run.write("tasks/t1/planning/plan.json", JSON.stringify(plan));
    expect(JSON.parse(await call("submit_work", { summary: "x" }))).toMatchObject({
      status: "SUCCESS",
      to: "plan_review",
    });
  });
});
