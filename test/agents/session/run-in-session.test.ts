/** An agent in a terminal whose end somebody waits for. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runInSession } from "../../../src/agents/session/run-in-session.js";
import type { SessionOrder } from "../../../src/agents/session/order.js";
import type { AgentResult } from "../../../src/agents/types.js";
import { endAfterTest, makeOrder, until, untilGone } from "../../support/session.js";

const UNKNOWN = { cost: "unknown", inputTokens: "unknown", outputTokens: "unknown" };

function start(
  script: string,
  signal?: AbortSignal,
): { order: SessionOrder; result: Promise<AgentResult>; said(): string } {
  const order = makeOrder(["sh", "-c", script]);
  let said = "";
  endAfterTest(null, order.run.token);
  const result = runInSession(order, {
    progress: (text) => (said += text),
    ...(signal === undefined ? {} : { signal }),
  });
  return { order, result, said: () => said };
}

/** The process that an agent says is above it. */
async function hostOf(order: SessionOrder): Promise<number> {
  const file = join(order.run.cwd, "host");
  await until(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"));
  return Number(readFileSync(file, "utf8"));
}

describe("an agent in a terminal that is waited for", () => {
  it("comes back with how it ended, and is read along without its colours", async () => {
    const { result, said } = start("sleep 0.3; printf '\\033[31mred\\033[0m\\n'; exit 3");
    expect(await result).toEqual({
      outcome: "crashed",
      exitCode: 3,
      durationMs: expect.any(Number) as number,
      summary: "the agent exited with 3",
      stdout: "",
      usage: UNKNOWN,
    });
    expect(said()).toContain("red\n");
    expect(said()).not.toContain("\u001b");
  });

  it("is ended when whoever waits is interrupted", async () => {
    const interrupt = new AbortController();
    const { order, result } = start("echo $PPID > host; sleep 1000", interrupt.signal);
    await hostOf(order);
    interrupt.abort();
    expect(await result).toMatchObject({ outcome: "interrupted", summary: "the agent was interrupted" });
    expect(existsSync(order.socket)).toBe(false);
  });

  it("is ended at once when whoever waits was interrupted before it began", async () => {
    const { result } = start("sleep 1000", AbortSignal.abort());
    expect(await result).toMatchObject({ outcome: "interrupted" });
  });

  it("whose program is not there was never started", async () => {
    const order = makeOrder(["pawl-no-such-agent"]);
    expect(await runInSession(order, { progress: () => undefined })).toMatchObject({
      outcome: "not-found",
      summary: "the agent's program pawl-no-such-agent was not found",
    });
  });

  it("has crashed when its host is killed, and is ended though it does not listen", async () => {
    const { order, result, said } = start(
      "trap '' HUP TERM; echo '{\"outcome\":\"finished\"}' > runs/1/result.json; echo $$ > agent; echo $PPID > host; while :; do echo here; sleep 0.05; done",
    );
    const host = await hostOf(order);
    await until(() => said().includes("here"));
    process.kill(host, "SIGKILL");
    expect(await result).toMatchObject({ outcome: "crashed", summary: "the host of the agent's terminal ended" });
    await untilGone({ pid: Number(readFileSync(join(order.run.cwd, "agent"), "utf8")), started: "unknown" });
  });
});
