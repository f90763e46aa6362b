/** Agents by name: what they print, the prompts they get, what init and doctor make of those on PATH; and who is told. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeCli, makeTask, OK, pathWith, refuse, type Cli, type TaskFiles } from "../support/cli.js";

/** A preset of the workspace's own, whose program is a stub on PATH that prints this. */
function makeOwnPreset(
  printed: string,
  result: unknown,
): { cli: Cli; task: TaskFiles; next: () => ReturnType<Cli["pawl"]> } {
  const cli = makeCli({ git: false });
  const task = makeTask(cli, "plan_review");
  cli.write("../printed", printed);
  const PATH = `${pathWith(cli, { "my-agent": `cat ${join(cli.root, "printed")} #` })}:${cli.env["PATH"] ?? ""}`;
  const preset = {
    name: "mine",
    title: "Mine",
    command: ["my-agent", "{prompt_file}"],
    version: ["my-agent", "--version"],
    install: "make it",
    env: [],
    set: {},
    result,
    docs: "none",
  };
  cli.write("system/presets/mine.json", JSON.stringify(preset));
  cli.config({ agents: { default: { use: "mine" } } });
  return { cli, task, next: () => cli.pawl("next", "--json", { env: { PATH } }) };
}

const VERDICT = JSON.stringify(OK, null, 2);
const ENVELOPE = {
  format: "json",
  text: { at: "/answer" },
  cost: { at: ["/usd"] },
  error: { when: { "/failed": true }, at: "/why" },
};

describe("an artifact from standard output", () => {
  it.each([
    { what: "bare", printed: VERDICT, result: { format: "text" } },
    {
      what: "in a fence",
      printed: `I looked.\n\n\`\`\`json\n${VERDICT}\n\`\`\`\n\nDone.\n`,
      result: { format: "text" },
    },
    { what: "in an envelope", printed: JSON.stringify({ answer: VERDICT, usd: 0.25 }), result: ENVELOPE },
    {
      what: "in a fence in an envelope",
      printed: JSON.stringify({ answer: `So:\n\n\`\`\`\n${VERDICT}\n\`\`\`` }),
      result: ENVELOPE,
    },
  ])("$what", ({ printed, result }) => {
    const { task, next } = makeOwnPreset(printed, result);
    const step = next();
    expect(step.code, step.stdout).toBe(0);
    expect(step.json().to).toBe("codegen");
    expect(task.readJson("review/plan-review.json")).toEqual(OK);
    const cost = printed.includes("0.25") ? 0.25 : "unknown";
    expect(task.readJson("plan_review/runs/1/result.json")).toMatchObject({ cost, inputTokens: "unknown" });
    expect(task.read("plan_review/runs/1/output.log")).toBe(printed);
  });

  it.each([
    {
      what: "two documents",
      printed: `\`\`\`json\n${VERDICT}\n\`\`\`\n\`\`\`json\n${VERDICT}\n\`\`\`\n`,
      result: { format: "text" },
    },
    { what: "prose around it", printed: `Here: ${VERDICT}`, result: { format: "text" } },
    { what: "the envelope itself", printed: JSON.stringify({ ...OK, answer: "It is right." }), result: ENVELOPE },
  ])("$what is none", ({ printed, result }) => {
    const { next, task } = makeOwnPreset(printed, result);
    const step = next();
    expect(step.code).toBe(4);
    expect(step.json().error.message).toContain("the agent ended without leaving it");
    expect(task.has("review/plan-review.json")).toBe(false);
  });

  it.each([
    { what: "claude", printed: { type: "result", is_error: false, result: `\`\`\`json\n${VERDICT}\n\`\`\`` } },
    { what: "gemini", printed: { response: `\`\`\`json\n${VERDICT}\n\`\`\``, stats: {} } },
  ])("in the envelope of $what, though it is run by a command of one's own", ({ printed }) => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli, "plan_review");
    cli.config({ agents: { default: { command: ["echo", JSON.stringify(printed)] } } });
    const step = cli.pawl("next", "--json");
    expect(step.code, step.stdout).toBe(0);
    expect(task.readJson("review/plan-review.json")).toEqual(OK);
  });

  it("an agent that reports its own failure has failed, though it exits with 0", () => {
    const { next, task } = makeOwnPreset(
      JSON.stringify({ failed: true, why: "out of credit", answer: VERDICT }),
      ENVELOPE,
    );
    const step = next();
    expect(step.code).toBe(4);
    expect(step.json().error.message).toContain("the agent reported an error: out of credit");
    expect(task.has("review/plan-review.json")).toBe(false);
  });

  it("one that reports an error and exits with another code than 0 is quoted", () => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli, "plan_review");
    cli.write("../said", '{"type":"turn.failed","error":{"message":"the model is overloaded"}}\n');
    const bin = pathWith(cli, { codex: `sh -c 'cat ${join(cli.root, "said")}; exit 1' #` });
    cli.config({ agents: { default: { use: "codex" } } });
    const step = cli.pawl("next", "--json", { env: { PATH: `${bin}:${cli.env["PATH"] ?? ""}` } });
    expect(step.code).toBe(4);
    const summary = "the agent exited with 1 and reported an error: the model is overloaded";
    expect(step.json().error.message).toContain(summary);
    expect(task.readJson("plan_review/runs/1/result.json")).toMatchObject({ outcome: "crashed", exitCode: 1, summary });
  });

  it("a key in what it says of its failure is nowhere on record", () => {
    const { cli, task } = makeOwnPreset(
      JSON.stringify({ failed: true, why: "wrong key: hush-hush-hush", answer: "" }),
      ENVELOPE,
    );
    const PATH = `${join(cli.root, "bin")}:${cli.env["PATH"] ?? ""}`;
    const step = cli.pawl("next", "--json", { env: { PATH, MODEL_PAT: "hush-hush-hush" } });
    expect(step.json().error.message).toContain("the agent reported an error: wrong key: [masked]");
    for (const file of ["plan_review/runs/1/result.json", "history.jsonl", "state.json"]) {
      expect(task.read(file), file).toContain("wrong key: [masked]");
      expect(task.read(file), file).not.toContain("hush-hush-hush");
    }
  });

  it("that does not fit is repaired like any other", () => {
    const { next, task } = makeOwnPreset(JSON.stringify({ ...OK, ok: false }), { format: "text" });
    expect(next().code).toBe(3);
    expect(task.has("plan_review/runs/1/repair-2/refused-plan-review.json")).toBe(true);
  });
});

describe("names that are not known", () => {
  it("a preset: those that there are, and the nearest", () => {
    const cli = makeCli({ git: false, config: { agents: { default: { use: "cluade" } } } });
    makeTask(cli);
    const { code, error } = refuse(cli, "next");
    expect(code).toBe(3);
    expect(error.message).toBe('there is no agent preset "cluade"; there are: aider, claude, codex, gemini, opencode');
    expect(error.hint).toContain('did you mean "use": "claude"?');
    expect(cli.task().has("state.json")).toBe(false);
  });

  it("a slot in a prompt of one's own: file, line, and the nearest", () => {
    const cli = makeCli({ git: false, config: { agents: { default: { use: "rehearsal" } } } });
    makeTask(cli);
    cli.write("system/agents/planner.md", "Plan it.\n\n{{ brief }}\n\n{{artefacts}}\n");
    const result = cli.pawl("next", "--json");
    expect(result.code).toBe(3);
    const { error } = result.json();
    expect(error.message).toContain(
      `${join(cli.dir, "system/agents/planner.md")}:5: the slot {{artefacts}} is not known`,
    );
    expect(error.message + error.hint).toContain("did you mean {{artifacts}}?");
    expect(error.findings[0]).toMatchObject({ line: 5, found: "artefacts" });
  });

  it("a slot in the prompt of a repair, before anything has to be mended", () => {
    const cli = makeCli({ git: false, config: { agents: { default: { use: "rehearsal" } } } });
    makeTask(cli);
    cli.write("system/agents/repair.md", "{{prompt}}\n\nMend {{finding}}\n");
    const { code, error } = refuse(cli, "next");
    expect(code).toBe(3);
    expect(error.message).toContain("repair.md:3: the slot {{finding}} is not known");
    expect(error.hint).toBe("did you mean {{findings}}?");
    expect(cli.task().has("planning/runs")).toBe(false);
  });

  it("a prompt of one's own is used", () => {
    const cli = makeCli({ git: false, config: { agents: { default: { use: "rehearsal" } } } });
    const task = makeTask(cli);
    cli.write("system/agents/planner.md", "Plan: {{ title }}\n");
    expect(cli.pawl("next").code).toBe(0);
    expect(task.read("planning/runs/1/prompt.md")).toBe("Plan: Say hello\n");
  });
});

it("an agent sees no secret that it was not given, by its name or by its value", () => {
  const cli = makeCli({ git: false });
  makeTask(cli, "plan_review");
  const seen = join(cli.root, "seen.json");
  const command = cli.agent("looking", `fs.writeFileSync(${JSON.stringify(seen)}, JSON.stringify(env));`);
  cli.config({ agents: { default: { command, env: ["CACHE_URL"] } } });
  const address = "redis://:pw@h/0";
  const env = {
    GITHUB_PAT: "p",
    DATABASE_URL: "postgres://u:pw@h/db",
    CACHE_URL: address,
    SSH_AUTH_SOCK: "/s",
    PWD: "/w",
  };
  expect(cli.pawl("next", { env }).code).toBe(4);
  const given = JSON.parse(cli.read("../seen.json")) as Record<string, string>;
  expect(given).toMatchObject({ CACHE_URL: address });
  expect(given).not.toHaveProperty("SSH_AUTH_SOCK");
  expect(Object.keys(given)).toContain("PWD");
  expect(given).not.toHaveProperty("GITHUB_PAT");
  expect(given).not.toHaveProperty("DATABASE_URL");
});

describe("agents on PATH", () => {
  it("doctor shows their versions, and how to get the others; one that is used has to be there", () => {
    const cli = makeCli({ git: false, config: { agents: { default: { use: "codex" } } } });
    const PATH = pathWith(cli, { git: "/usr/bin/git", gemini: "/bin/echo stub-gemini 1.2.3 #" });
    const result = cli.pawl("doctor", "--json", { env: { PATH } });
    const checks = Object.fromEntries(result.json().checks.map((check) => [check.name, check]));
    expect(checks["gemini"]).toEqual({ name: "gemini", ok: true, found: expect.stringContaining("1.2.3") as string });
    expect(checks["claude"]).toMatchObject({ ok: true, found: "not found" });
    expect(checks["claude"]?.hint).toContain("npm install -g @anthropic-ai/claude-code");
    expect(checks["codex"]).toMatchObject({ ok: false, found: "not found" });
    expect(result.code).toBe(4);
  });

  it("one that cannot say its version is broken: doctor says how, and init takes another", () => {
    const cli = makeCli({ git: false, config: { agents: { default: { use: "codex" } } } });
    const bin = pathWith(cli, {
      claude: "sleep 600 #",
      codex: "sh -c 'echo no such module >&2; exit 7' #",
      gemini: "sh -c 'kill -9 $$' #",
      opencode: "/bin/echo 1.2.3 #",
    });
    const env = { PATH: `${bin}:${cli.env["PATH"] ?? ""}` };
    const result = cli.pawl("doctor", "--json", { env });
    expect(result.code).toBe(4);
    const checks = Object.fromEntries(result.json().checks.map((check) => [check.name, check]));
    expect(checks["claude"]).toMatchObject({ ok: true, found: "broken: claude --version did not end within 5 s" });
    expect(checks["codex"]).toMatchObject({
      ok: false,
      found: "broken: codex --version exited with 7: no such module",
      hint: "to install anew Codex CLI: npm install -g @openai/codex",
    });
    expect(checks["gemini"]).toMatchObject({ ok: true, found: "broken: gemini --version was ended by SIGKILL" });

    rmSync(join(cli.dir, "pawl.json"));
    expect(cli.pawl("init", { env }).code).toBe(0);
    expect(JSON.parse(cli.read("pawl.json"))).toMatchObject({ agents: { default: { use: "opencode" } } });
  });

  it("doctor names a preset that cannot be read, and shows all the rest", () => {
    const cli = makeCli({ git: false });
    const PATH = pathWith(cli, { git: "/usr/bin/git", gemini: "/bin/echo stub-gemini 1.2.3 #" });
    cli.write("system/presets/codex.json", "{");
    const result = cli.pawl("doctor", "--json", { env: { PATH } });
    expect(result.code).toBe(4);
    const checks = Object.fromEntries(result.json().checks.map((check) => [check.name, check]));
    expect(checks["codex"]).toMatchObject({ ok: false, found: expect.stringMatching(/codex\.json.*JSON/) as string });
    expect(checks["codex"]?.hint).toMatch(/^mend .*codex\.json$/);
    expect(checks["gemini"]).toMatchObject({ ok: true });
    expect(checks["git"]).toMatchObject({ ok: true });
  });

  it("init finds one, and the pawl.json that it writes works", () => {
    const cli = makeCli({ git: false, config: null });
    const verdict = JSON.stringify({ type: "message", role: "assistant", content: "```json\n" + VERDICT + "\n```" });
    cli.write("../said", `${verdict}\n${JSON.stringify({ type: "result", status: "success" })}\n`);
    const PATH = `${pathWith(cli, { gemini: `cat ${join(cli.root, "said")} #` })}:${cli.env["PATH"] ?? ""}`;
    const made = cli.pawl("init", "--json", { env: { PATH } });
    expect(made.json().created).toContain("pawl.json");
    expect(JSON.parse(cli.read("pawl.json"))).toMatchObject({ agents: { default: { use: "gemini" } } });
    expect(cli.has(".pawl/pawl.schema.json")).toBe(true);
    makeTask(cli, "plan_review");
    const step = cli.pawl("next", "--json", { env: { PATH } });
    expect(step.code, step.stdout).toBe(0);
    expect(step.json().to).toBe("codegen");
  });
});

describe("notify", () => {
  const events = (cli: Cli): Record<string, unknown>[] =>
    cli.has("../events")
      ? cli
          .read("../events")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as Record<string, unknown>)
      : [];

  it("tells once of each: a task that waits, one in a human's phase, one that ended", () => {
    const cli = makeCli();
    const config = { test: ["grep -q hello hello.txt"], notify: ["sh", "-c", `cat >> ${join(cli.root, "events")}`] };
    cli.config({ ...config, agents: { default: { command: ["false"] } } });
    const task = makeTask(cli);
    expect(cli.pawl("next", "--auto").code).toBe(10);
    const common = { task: "t1", workflow: "global-state-machine", dir: task.dir };
    expect(events(cli)).toMatchObject([
      {
        ...common,
        event: "waiting",
        from: "planning",
        to: "planning",
        waiting: expect.stringMatching(/twice/) as string,
      },
    ]);
    expect(cli.pawl("resume", "--note", "go").code).toBe(0);
    cli.config({ ...config, agents: { default: { use: "rehearsal" } } });
    expect(cli.pawl("next", "--auto").code).toBe(10);
    expect(events(cli).slice(1)).toMatchObject([
      { ...common, event: "human", from: "test", to: "accept", waiting: null },
    ]);
    expect(cli.pawl("answer", "accepted", "--note", "fine").code).toBe(0);
    expect(events(cli).slice(2)).toMatchObject([{ ...common, event: "ended", from: "accept", to: "done" }]);
  });

  it.each([
    { what: "fails", notify: ["sh", "-c", "echo no bell >&2; exit 3"], message: /exit code 3\): no bell/ },
    { what: "is not there", notify: ["no-such-bell"], message: /notify \(no-such-bell\) went wrong \(not-found/ },
  ])("one that $what changes nothing for the task", ({ notify, message }) => {
    const cli = makeCli({ git: false });
    makeTask(cli);
    cli.config({ notify, agents: { default: { command: ["false"] } } });
    const auto = cli.pawl("next", "--auto");
    expect(auto.code).toBe(10);
    expect(auto.stderr).toMatch(message);
    expect(cli.pawl("verify").code).toBe(0);
    const notes = cli
      .pawl("transcript", "--json")
      .json()
      .entries.filter(({ kind }) => kind === "note");
    expect(notes.map(({ text }) => text).join("\n")).toMatch(message);
  });
});
