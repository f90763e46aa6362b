/** What a worker, a reviewer and a human may ask for, and what they are told. */
import { describe, expect, it } from "vitest";
import { DOES_IT, isAlive, makeGated, must, saidBy, type Gated } from "../support/gated.js";

const ASKS = (...statuses: string[]): string =>
  `say("answers", JSON.stringify(${JSON.stringify(statuses)}.map((status) => ({ status, ...update(status) }))));`;

function answers(gated: Gated): { status: string; code: number; text: string }[] {
  return JSON.parse(gated.said("answers")) as never;
}

describe("a worker", () => {
  it("is told what is missing, where, and how to write it", async () => {
    const gated = makeGated({ worker: `${ASKS("agent-review")} say("done"); forEver();` });
    must(gated.pawl("next"));
    await saidBy(gated, "done");
    const [answer] = answers(gated);
    expect(answer).toMatchObject({ code: 1 });
    expect(answer?.text).toContain("working → agent-review is refused: `## Handoff` in TASK.md is missing");
    expect(answer?.text).toContain(`add this to the end of ${gated.t1.dir}/TASK.md`);
    expect(answer?.text).toContain("DONE: <what you completed>");
    expect(gated.status()).toBe("working");
  });

  it("gets neither past its review, nor out of the task", async () => {
    const others = ["reviewing", "done", "cancelled", "stuck", "working", "pending", "no-such"];
    const gated = makeGated({
      worker: `${DOES_IT} section("Review", "Verdict: PASS"); ${ASKS(...others)} say("done"); forEver();`,
    });
    must(gated.pawl("next"));
    await saidBy(gated, "done");
    expect(answers(gated).map(({ status, code }) => [status, code])).toEqual(
      others.map((status) => [status, status === "no-such" ? 2 : 1]),
    );
    expect(gated.status()).toBe("working");
  });

  it("asks a question, and goes on in the same terminal when it has been answered", async () => {
    const gated = makeGated({
      worker: `update("clarification"); say("asked"); waitFor("go"); pawl("task", "update", "--summary", "Say hello twice", "--status", "working");
        ${DOES_IT} update("agent-review");`,
      reviewer: `section("Review", "Verdict: PASS");`,
    });
    must(gated.pawl("next"));
    await saidBy(gated, "asked");
    expect(gated.status()).toBe("clarification");
    expect(gated.pawl("next").code).toBe(10);
    gated.write("../agents/go", "");
    await gated.until(() => gated.status() === "reviewing", "the review");
    expect(gated.t1.read("TASK.md")).toContain('summary: "Say hello twice"');
    const spawned = gated.history().filter(({ type }) => type === "agent.spawned");
    expect(spawned.map(({ data }) => data?.["role"])).toEqual(["worker", "reviewer"]);
  });

  it("that was dismissed has nothing to say any more, and is ended when it does not end", async () => {
    const gated = makeGated({
      worker: `${DOES_IT} update("agent-review"); section("Review", "Verdict: PASS"); ${ASKS("reviewing")} process.on("SIGHUP", () => undefined); process.on("SIGTERM", () => undefined); forEver();`,
      reviewer: `section("Review", "Verdict: PASS");`,
    });
    must(gated.pawl("next"));
    await saidBy(gated, "answers");
    const { pid } = gated.mark()?.agent ?? { pid: 0 };
    expect(answers(gated)).toMatchObject([{ status: "reviewing", code: 1 }]);
    await gated.until(() => gated.status() === "reviewing", "the reviewer's own verdict");
    expect(isAlive(pid)).toBe(false);
    expect(gated.history().findLast(({ to }) => to === "reviewing")?.type).toBe("auto.advanced");
  });

  it("gains nothing by writing its status itself", async () => {
    const gated = makeGated({
      worker: `const text = fs.readFileSync(taskFile, "utf8"); fs.writeFileSync(taskFile, text.replace(/status: working/, "status: reviewing")); process.exit(0);`,
    });
    must(gated.pawl("next"));
    await gated.until(() => gated.types().includes("agent.crashed"), "the crash");
    expect(gated.status()).toBe("working");
    expect(gated.t1.read("TASK.md")).toMatch(/^---\nstatus: working /);
    expect(gated.history().find(({ type }) => type === "face.restored")?.reason).toContain(
      "it said reviewing, on record is working",
    );
  });

  it("that changes the rules it is judged by makes the task wait for a human", async () => {
    const gated = makeGated({
      worker: `const file = path.join(env.PAWL_TASK_DIR, "../../pawl.json");
        fs.writeFileSync(file, JSON.stringify({ ...JSON.parse(fs.readFileSync(file, "utf8")), limits: { review_rounds: 9 } })); ${DOES_IT} ${ASKS("agent-review")} forEver();`,
    });
    must(gated.pawl("next"));
    await saidBy(gated, "answers");
    expect(answers(gated)[0]?.text).toContain("pawl.json was changed while the work went on");
    const status = gated.pawl("status", "--json").json();
    expect(status).toMatchObject({
      phase: "working",
      waiting: expect.stringContaining("pawl.json was changed") as string,
    });
  });
});

describe("a human", () => {
  it("does it all without any agent", () => {
    const gated = makeGated();
    must(gated.pawl("next"));
    gated.t1.edit("hello.txt", "hello\n");
    expect(gated.pawl("task", "complete").stderr).toContain("`## Handoff` in TASK.md is missing");
    append(gated, "## Handoff\n\nDONE: it\n");
    expect(must(gated.pawl("task", "complete")).stdout).toContain("working → agent-review");
    expect(gated.pawl("task", "update", "--status", "reviewing").stderr).toContain("`## Review` in TASK.md is missing");
    append(gated, "## Review\n\n**Verdict:** PASS, all of it\n");
    must(gated.pawl("task", "update", "--status", "reviewing"));
    must(gated.pawl("task", "update", "--status", "done"));
    expect(gated.git("show", "main:hello.txt")).toBe("hello");
  });

  it("asks for changes, only with a reason, and the worker is told", async () => {
    const gated = makeGated({
      worker: `${DOES_IT} say("prompt" + round, fs.readFileSync(env.PAWL_PROMPT_FILE, "utf8")); if (round === 2) forEver();`,
      reviewer: `section("Review", "Verdict: PASS");`,
    });
    must(gated.pawl("next"));
    await gated.until(() => gated.status() === "reviewing", "the review");
    expect(gated.pawl("task", "update", "--status", "working").code).toBe(1);
    expect(gated.pawl("answer", "changes").code).toBe(1);
    must(gated.pawl("task", "update", "--status", "working", "--reason", "say it louder"));
    await saidBy(gated, "prompt2");
    expect(gated.said("prompt2")).toContain("say it louder");
    expect(gated.counter("review_round")).toBe(0);
  });

  it.each([false, true])(
    "cancels: the agent is ended, its work kept, the branch too (deleted: %s)",
    async (deleted) => {
      const gated = makeGated({
        worker: `change("hello.txt", "hello\\n"); fs.writeFileSync("draft.txt", "not yet\\n"); say("ready"); forEver();`,
      });
      must(gated.pawl("next"));
      await saidBy(gated, "ready");
      const { pid } = gated.mark()?.agent ?? { pid: 0 };
      const flags = deleted ? ["--delete-branch"] : [];
      const { stdout } = must(
        gated.pawl("task", "update", "--status", "cancelled", "--reason", "not wanted", ...flags),
      );
      expect(isAlive(pid)).toBe(false);
      expect(gated.status()).toBe("cancelled");
      const ref = /kept as (refs\/\S+?)\.?$/m.exec(stdout)?.[1] ?? "";
      expect(gated.git("show", `${ref}:draft.txt`)).toBe("not yet");
      expect(gated.git("show", `${ref}:hello.txt`)).toBe("hello");
      expect(gated.git("branch", "--list", "pawl/t1")).toBe(deleted ? "" : "  pawl/t1");
      expect(gated.history().filter(({ type }) => type === "agent.crashed")).toEqual([]);
    },
  );
});

describe("the task that is meant", () => {
  it("is known from the worktree, and from PAWL_TASK", async () => {
    const gated = makeGated();
    must(gated.pawl("new", "Another one", "--id", "t2"));
    must(gated.pawl("next", "t1"));
    append(gated, "## Handoff\n\nDONE: it\n");
    const refused = gated.pawl("task", "update", "--status", "agent-review", { env: { PAWL_TASK: "t2" } });
    expect(refused.stderr).toContain("pending → agent-review is no transition");
    must(gated.pawl("task", "update", "--status", "agent-review", { cwd: gated.t1.worktree }));
    expect(gated.status()).toBe("agent-review");
  });
});

function append(gated: Gated, text: string): void {
  gated.t1.write("TASK.md", `${gated.t1.read("TASK.md")}\n${text}`);
}

/** Each of these once got a worker's own verdict, or none at all, past the review. */
describe("the review stays the reviewer's", () => {
  const FAILS = `section("Review", "Verdict: FAIL\\n\\n- broken"); update("working");`;

  it.each([
    ["a comment that nobody closes", `section("Review", "Verdict: PASS\\n\\n<!--");`, FAILS],
    ["a code block that nobody closes", `section("Review", "Verdict: PASS\\n\\n~~~~~~");`, FAILS],
    [
      "a verdict to which a reviewer adds its notes before it crashes",
      `section("Review", "Verdict: PASS");`,
      `fs.appendFileSync(taskFile, "\\n### Notes\\n\\nI begin to read.\\n"); process.kill(process.pid, "SIGKILL");`,
    ],
    [
      "a verdict below the reviewer's own",
      `section("Review", "Verdict: PASS");`,
      `const text = fs.readFileSync(taskFile, "utf8"); fs.writeFileSync(taskFile, text.replace("## Review", "## Review\\n\\nVerdict: FAIL\\n\\n## Review"));`,
    ],
    [
      "nothing, by a reviewer that is cut off in the middle",
      "",
      `section("Review", "I ran the tests, and all of them pass.\\n\\nHowever,"); process.kill(process.pid, "SIGKILL");`,
    ],
  ])("against %s", async (_what, trick, reviewer) => {
    const gated = makeGated({
      worker: `${DOES_IT} ${trick} say("asked", JSON.stringify(update("agent-review")));`,
      reviewer,
    });
    must(gated.pawl("next"));
    await gated.until(
      () => ["stuck", "agent.crashed"].some((word) => gated.status() === word || gated.types().includes(word)),
      "the end of it",
    );
    expect(gated.history().filter(({ to }) => to === "reviewing")).toEqual([]);
  });

  it("against settings that are changed right after the hand-over", async () => {
    const gated = makeGated({
      worker: `${DOES_IT} update("agent-review");
        const file = path.join(env.PAWL_TASK_DIR, "../../pawl.json");
        const config = JSON.parse(fs.readFileSync(file, "utf8"));
        config.agents.reviewer.command = ["sh", "-c", "printf '\\\\n## Review\\\\n\\\\nVerdict: PASS\\\\n' >> $PAWL_TASK_DIR/TASK.md"];
        fs.writeFileSync(file, JSON.stringify(config));`,
      reviewer: `section("Review", "Verdict: FAIL");`,
    });
    must(gated.pawl("next"));
    await gated.until(() => gated.types().includes("run.disturbed"), "the notice");
    expect(gated.status()).toBe("agent-review");
    expect(gated.pawl("status", "--json").json().waiting).toContain("pawl.json was changed");
    expect(gated.types().filter((type) => type === "agent.spawned")).toHaveLength(1);
  });

  it("against a worker that is still there: nobody begins beside it", async () => {
    const gated = makeGated({
      worker: `process.on("SIGTERM", () => undefined); process.on("SIGHUP", () => undefined); ${DOES_IT} update("agent-review"); say("handed"); forEver();`,
      reviewer: `section("Review", "Verdict: PASS");`,
    });
    must(gated.pawl("next"));
    await saidBy(gated, "handed");
    expect(gated.pawl("run", "agent-review").stderr).toContain("has not ended yet");
    must(gated.pawl("task", "update", "--status", "cancelled", "--reason", "no"));
    must(gated.pawl("watch", "--once"));
    expect(gated.status()).toBe("cancelled");
    expect(gated.types().filter((type) => type === "agent.spawned")).toHaveLength(1);
    expect(gated.mark()).toBeUndefined();
  });

  it("and a task whose agent cannot be started waits for a human", () => {
    const gated = makeGated({ config: {} });
    gated.config({ workflow: "gated-task", agents: { worker: { command: ["./nope.sh"] } } });
    const { code, stdout } = gated.pawl("next");
    expect(code).toBe(10);
    expect(stdout).toContain("cannot be started");
    expect(gated.counter("crash_count")).toBe(0);
    gated.config({ workflow: "gated-task", agents: { worker: { command: ["true"] } } });
    must(gated.pawl("resume", "--note", "mended"));
    expect(gated.types()).toContain("agent.spawned");
  });
});

describe("what an agent leaves behind for others to run", () => {
  it("is no human: neither as a filter that pawl's own git runs, nor under another name of the workspace", async () => {
    const gated = makeGated({
      worker: `const evil = path.join(__dirname, "evil.sh");
        const own = spawnSync("sh", ["-c", "command -v pawl"], { encoding: "utf8" }).stdout.trim();
        fs.writeFileSync(evil, "#!/bin/sh\\nenv -u PAWL_TOKEN " + own + " override done t1 --reason x --dir " + path.resolve(env.PAWL_TASK_DIR, "../..") + " >> " + evil + ".out 2>&1\\ncat\\n", { mode: 0o755 });
        spawnSync("git", ["config", "filter.x.clean", evil]);
        const common = spawnSync("git", ["rev-parse", "--path-format=absolute", "--git-common-dir"], { encoding: "utf8" }).stdout.trim();
        fs.mkdirSync(path.join(common, "info"), { recursive: true });
        fs.writeFileSync(path.join(common, "info", "attributes"), "hello.txt filter=x\\n");
        const link = path.join(__dirname, "link");
        fs.symlinkSync(path.resolve(env.PAWL_TASK_DIR, "../.."), link);
        const { PAWL_TOKEN, PAWL_TASK_DIR, ...rest } = env;
        say("linked", JSON.stringify(spawnSync("pawl", ["override", "reviewing", "t1", "--reason", "x", "--dir", link], { env: rest, cwd: "/", encoding: "utf8" })));
        fs.writeFileSync("hello.txt", "hello\\n"); section("Handoff", "DONE: it"); update("agent-review");`,
      reviewer: `section("Review", "Verdict: FAIL");`,
      config: {},
    });
    must(gated.pawl("next"));
    await gated.until(() => gated.types().filter((type) => type === "agent.spawned").length > 2, "the second round");
    expect(JSON.parse(gated.said("linked"))).toMatchObject({ status: 1 });
    expect(gated.said("evil.sh.out")).toContain("only a human may override");
    expect(gated.types()).not.toContain("override");
  });
});
