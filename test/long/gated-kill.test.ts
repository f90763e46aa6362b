/** Kills of whoever holds, watches or is an agent: the right state afterwards, nobody else's process ended, nothing left. */
import { spawn } from "node:child_process";
import { describe, expect, it, onTestFinished } from "vitest";
import { loadWorkflow } from "../../src/system/workflows.js";
import { openTask } from "../../src/task/store.js";
import { DOES_IT, isAlive, makeGated, must, saidBy, sockets, type Gated, type Mark } from "../support/gated.js";
import type { Running } from "../support/cli.js";

const HANDED_OVER = `${DOES_IT} say("ready"); forEver();`;
const NOTHING_YET = `say("ready"); forEver();`;
const REVIEWER = `section("Review", "Verdict: PASS"); say("reviewed");`;

/** At work, and as far as it gets by itself. */
async function atWork(worker: string): Promise<{ gated: Gated; mark: Mark & { agent: { pid: number } } }> {
  const gated = makeGated({ worker, reviewer: REVIEWER });
  must(gated.pawl("next"));
  await saidBy(gated, "ready");
  return { gated, mark: gated.mark() as never };
}

async function killed(gated: Gated, ...pids: number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await gated.until(() => !pids.some(isAlive), "the end of what was killed");
}

describe("kill -9", () => {
  it.each([
    ["with a handoff", HANDED_OVER, "reviewing"],
    ["without one", NOTHING_YET, "working"],
  ])("of the agent, %s: its host notices, and what follows is done at once", async (_how, worker, status) => {
    const { gated, mark } = await atWork(worker);
    await killed(gated, mark.agent.pid);
    const event = status === "working" ? "agent.crashed" : "auto.advanced";
    await gated.until(() => gated.types().includes(event), event);
    await gated.until(() => gated.status() === status, status);
    await gated.until(() => !isAlive(mark.host.pid), "the host's end");
  });

  it.each([
    ["with a handoff", HANDED_OVER, "reviewing"],
    ["without one", NOTHING_YET, "working"],
  ])("of the host, %s: the next look notices", async (_how, worker, status) => {
    const { gated, mark } = await atWork(worker);
    await killed(gated, mark.host.pid);
    expect(gated.status()).toBe("working");
    must(gated.pawl("status"));
    expect(isAlive(mark.agent.pid)).toBe(false);
    await gated.until(() => gated.status() === status, status);
    expect(gated.counter("crash_count")).toBe(status === "working" ? 1 : 0);
    await gated.until(() => gated.mark() === undefined || !isAlive(gated.mark()?.host.pid ?? 0), "the last host's end");
    must(gated.pawl("status"));
    expect(sockets(gated)).toEqual([]);
  });

  it("of an agent that shrugs off its terminal's end together with its host: it is ended all the same", async () => {
    const { gated, mark } = await atWork(`process.on("SIGHUP", () => undefined); ${NOTHING_YET}`);
    await killed(gated, mark.host.pid);
    expect(isAlive(mark.agent.pid)).toBe(true);
    must(gated.pawl("watch", "--once"));
    await gated.until(() => !isAlive(mark.agent.pid), "the agent's end");
    expect(gated.counter("crash_count")).toBe(1);
  });

  it("of the monitor: the agent goes on, and another one takes over", async () => {
    const { gated, mark } = await atWork(`say("ready"); waitFor("go"); ${DOES_IT}`);
    const monitor = gated.start("watch", "--interval", "50ms");
    await killed(gated, monitor.pid);
    expect(isAlive(mark.agent.pid)).toBe(true);
    await killed(gated, mark.host.pid);
    const second = gated.start("watch", "--interval", "50ms");
    await gated.until(() => gated.counter("crash_count") === 1, "the monitor's look");
    second.interrupt();
    expect((await second.finished).code).toBe(130);
  });

  it("of agent, host and monitor: nothing is stranded", async () => {
    const { gated, mark } = await atWork(HANDED_OVER);
    const monitor = gated.start("watch", "--interval", "10m");
    await killed(gated, monitor.pid, mark.host.pid, mark.agent.pid);
    must(gated.pawl("watch", "--once"));
    await gated.until(() => gated.status() === "reviewing", "the review");
    expect(gated.types().filter((type) => type === "agent.spawned")).toHaveLength(2);
  });
});

describe("a reboot", () => {
  it("leaves a pid that is somebody else's by now: the agent is gone, and that process is left alone", async () => {
    const { gated, mark } = await atWork(NOTHING_YET);
    const stranger = spawn("sleep", ["1000"], { stdio: "ignore" });
    onTestFinished(() => void stranger.kill("SIGKILL"));
    await killed(gated, mark.host.pid, mark.agent.pid);
    // As the state would be with those numbers given out anew.
    const workflow = await loadWorkflow("gated-task", gated.dir);
    const task = await openTask(gated.t1.dir, workflow, () => new Date(), gated.env);
    const pid = stranger.pid as number;
    const agents = [{ ...mark, host: { ...mark.host, pid }, agent: { ...mark.agent, pid } }];
    const fields = { ...task.state.fields, agents };
    await task.commit({ ...task.state, fields }, { type: "test.reboot", by: "test" });
    task.close();

    must(gated.pawl("watch", "--once"));
    expect(isAlive(pid)).toBe(true);
    expect(gated.counter("crash_count")).toBe(1);
    expect(gated.mark()).toBeUndefined();
    // And whoever runs the phase gets a new worker.
    must(gated.pawl("run", "working"));
    await gated.until(() => gated.types().filter((type) => type === "agent.spawned").length === 2, "a second worker");
    expect(isAlive(pid)).toBe(true);
  });
});

describe("monitor and command line at the same moment", () => {
  it("make one transition and start one agent", async () => {
    const { gated, mark } = await atWork(HANDED_OVER);
    await killed(gated, mark.host.pid, mark.agent.pid);
    const calls: string[][] = [
      ["watch", "--once"],
      ["status"],
      ["tasks"],
      ["why"],
      ["next", "--auto"],
      ["watch", "--once"],
    ];
    const running: Running[] = calls.map((words) => gated.start(...words));
    for (const { finished } of running) expect((await finished).code).toBeOneOf([0, 10]);
    await gated.until(() => gated.status() === "reviewing", "the review");
    const events = gated.history();
    expect(events.filter(({ to, from }) => from === "working" && to === "agent-review")).toHaveLength(1);
    expect(events.filter(({ type, from }) => type === "agent.spawned" && from === "agent-review")).toHaveLength(1);
    expect(must(gated.pawl("verify")).code).toBe(0);
  });
});
