/** The four sequence diagrams of the gated task, with scripted agents in real pseudo-terminals. */
import { describe, expect, it } from "vitest";
import { DOES_IT, isAlive, makeGated, must, sockets } from "../support/gated.js";

describe("the happy path", () => {
  it("goes from the worker's word to the reviewer's, to a human, into the base branch, and leaves nothing behind", async () => {
    const gated = makeGated({
      worker: `${DOES_IT} say("worker", JSON.stringify(update("agent-review")));`,
      reviewer: `section("Review", "Verdict: PASS\\n\\nWell done."); say("reviewer", JSON.stringify(update("reviewing")));`,
    });
    expect(must(gated.pawl("next", "--json")).json()).toMatchObject({ from: "pending", to: "working" });
    expect(gated.pawl("next", "--auto").code).toBe(10);
    expect(gated.status()).toBe("reviewing");
    for (const role of ["worker", "reviewer"]) expect(JSON.parse(gated.said(role))).toMatchObject({ code: 0 });

    await gated.until(() => gated.mark() === undefined || !isAlive(gated.mark()?.host.pid ?? 0), "the reviewer's end");
    expect(must(gated.pawl("answer", "approve", "--note", "thank you")).stdout).toContain("done");
    expect(gated.git("show", "main:hello.txt")).toBe("hello 1");
    expect(
      gated.history().flatMap(({ type, from, to }) => (from === to ? [type] : [`${from ?? ""} → ${to ?? ""}`])),
    ).toEqual([
      " → pending",
      "pending → working",
      "worktree.prepared",
      "agent.starting",
      "agent.spawned",
      "working → agent-review",
      "agent.ended",
      "agent.starting",
      "agent.spawned",
      "agent-review → reviewing",
      "agent.ended",
      "reviewing → done",
    ]);
    expect(must(gated.pawl("verify")).stdout).toContain("ok:");
    expect(sockets(gated)).toEqual([]);
    expect(gated.t1.read("TASK.md")).toMatch(/^---\nstatus: done /);
  });
});

describe("exit without signal", () => {
  it.each([0, 3])("a handoff of a worker that exits with %i is reviewed all the same", async (code) => {
    const gated = makeGated({
      worker: `${DOES_IT} process.exit(${code});`,
      reviewer: `section("Review", "PASS: as it was wanted."); process.exit(${code});`,
    });
    must(gated.pawl("next"));
    await gated.until(() => gated.status() === "reviewing", "the review");
    const advanced = gated.history().filter(({ type }) => type === "auto.advanced");
    expect(advanced).toMatchObject([
      { by: "pawl", from: "working", to: "agent-review", reason: "process exited, with ## Handoff" },
      { by: "pawl", from: "agent-review", to: "reviewing", reason: "process exited, with ## Review: PASS" },
    ]);
    expect(gated.counter("review_round")).toBe(1);
    expect(gated.counter("crash_count")).toBe(0);
  });

  it("a review that fails leads back to a worker who is told to mend it, and the second one to a human", async () => {
    const gated = makeGated({
      worker: `${DOES_IT} say("prompt" + round, fs.readFileSync(env.PAWL_PROMPT_FILE, "utf8"));`,
      reviewer: `section("Review", "Verdict: FAIL\\n\\n- too short"); say("review" + round, fs.readFileSync(env.PAWL_PROMPT_FILE, "utf8"));`,
    });
    must(gated.pawl("next"));
    await gated.until(() => gated.status() === "stuck", "the second review");
    expect(gated.said("prompt1")).toContain("You are implementing a task.");
    expect(gated.said("prompt2")).toContain("You are fixing issues found in review.");
    expect(gated.said("prompt2")).toContain("Review round: 1");
    expect(gated.said("review1")).toContain("--status working");
    expect(gated.said("review2")).toMatch(/Review round: 2 of 2[\s\S]*--status stuck/);
    const advanced = gated.history().filter(({ type }) => type === "auto.advanced");
    expect(advanced.map(({ to }) => to)).toEqual(["agent-review", "working", "agent-review", "stuck"]);
    expect(gated.pawl("next").code).toBe(10);
  });
});

describe("exit without artifact", () => {
  it("is counted, the task stays, and the next worker goes on", async () => {
    const gated = makeGated({
      worker: `if (round === 1) process.exit(1); ${DOES_IT} update("agent-review");`,
      reviewer: `section("Review", "Verdict: PASS"); update("reviewing");`,
    });
    must(gated.pawl("next"));
    await gated.until(() => gated.types().includes("agent.crashed"), "the crash");
    expect(gated.history().find(({ type }) => type === "agent.crashed")).toMatchObject({
      by: "pawl",
      from: "working",
      to: "working",
      reason: "process exited without ## Handoff",
      data: { status: "working", crash_count: 1 },
    });
    expect(gated.status()).toBe("working");
    await gated.until(() => /\ncrash_count: 1 /.test(gated.t1.read("TASK.md")), "the face of the task");
    expect(must(gated.pawl("status")).stdout).toMatch(/agent +worker gone/);
    expect(must(gated.pawl("watch", "--once")).stdout).toContain("✗ worker");

    expect(must(gated.pawl("run", "working")).stdout).toContain("started:");
    await gated.until(() => gated.status() === "reviewing", "the review");
    expect(gated.counter("crash_count")).toBe(0);
  });

  it("a reviewer is started again by itself, once", async () => {
    const gated = makeGated({
      worker: `${DOES_IT} update("agent-review");`,
      reviewer: `section("Review", round === 1 ? "I am not sure." : "Verdict: PASS");`,
    });
    must(gated.pawl("next"));
    await gated.until(() => gated.status() === "reviewing", "the second reviewer's verdict");
    const [crash] = gated.history().filter(({ type }) => type === "agent.crashed");
    expect(crash).toMatchObject({ data: { status: "agent-review", crash_count: 1 } });
    expect(crash?.reason).toMatch(/^process exited without a valid ## Review: /);
  });
});

describe("double crash", () => {
  it.each(["working", "agent-review"])("in %s ends stuck, and a human lets it go on", async (phase) => {
    const crash = `if (!fs.existsSync(path.join(__dirname, "go"))) process.exit(1);`;
    const gated = makeGated({
      worker: `${phase === "working" ? crash : ""} ${DOES_IT}`,
      reviewer: `${phase === "working" ? "" : crash} section("Review", "Verdict: PASS");`,
    });
    must(gated.pawl("next"));
    if (phase === "working") {
      await gated.until(() => gated.counter("crash_count") === 1, "the first crash");
      must(gated.pawl("run", "working"));
    }
    await gated.until(() => gated.status() === "stuck", "the second crash");
    const last = gated
      .history()
      .filter(({ type }) => type === "auto.advanced")
      .at(-1);
    expect(last).toMatchObject({ from: phase, to: "stuck", reason: "crashed 2 times without what was due" });

    gated.write("../agents/go", "");
    expect(must(gated.pawl("resume", "--note", "mended")).stdout).toContain("stuck → working");
    await gated.until(() => gated.status() === "reviewing", "the way on");
    expect(gated.counter("review_round")).toBe(1);
  });
});
