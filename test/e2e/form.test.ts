/** A person does an agent's phase: with a whole file, or with a form in a terminal. */
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { listing, makeCli, makeTask, NOT_OK, OK, PLAN, PROGRAM, refuse, type TaskFiles } from "../support/cli.js";
import { CTRL_C, openTerminal } from "../support/terminal.js";

describe("an answer that is a whole file", () => {
  it("@file becomes the artifact, and the phase is done", () => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli);
    cli.write("plan.json", JSON.stringify(PLAN));
    const step = cli.pawl("answer", "@plan.json", "t1", "--json");
    expect(step.code, step.stdout).toBe(0);
    expect(step.json()).toMatchObject({ from: "planning", to: "plan_review" });
    cli.write("no.json", JSON.stringify(NOT_OK));
    expect(cli.pawl("answer", "@no.json", "t1", "--json").json()).toMatchObject({ to: "planning" });
    // Whoever plans next reads it.
    expect(cli.pawl("next", "t1", { env: { PAWL_AGENT: "rehearsal" } }).code).toBe(0);
    expect(readPrompt(task)).toContain("The greeting is missing.");
  });

  it("@- is standard input", () => {
    const cli = makeCli({ git: false });
    makeTask(cli, "plan_review");
    const options = { cwd: cli.dir, env: cli.env, input: JSON.stringify(OK), encoding: "utf8" } as const;
    const result = spawnSync(process.execPath, [PROGRAM, "answer", "@-", "t1", "--json"], options);
    expect(result.status, result.stdout).toBe(0);
    expect(JSON.parse(result.stdout)).toMatchObject({ from: "plan_review", to: "codegen" });
  });

  it.each([
    { what: "does not fit", text: JSON.stringify({ ...OK, ok: 1 }), pointer: "/ok" },
    { what: "is not complete", text: JSON.stringify({ ok: true, decision: "accepted" }), pointer: "/reasons" },
    { what: "is no JSON", text: "{", pointer: undefined },
    { what: "is no object", text: "[]", pointer: undefined },
  ])("one that $what is refused with its findings, and nothing changes", ({ text, pointer }) => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli, "plan_review");
    cli.write("answer.json", text);
    const before = files(task.dir);
    const { code, error } = refuse(cli, "answer", "@answer.json", "t1");
    expect(code).toBe(2);
    if (pointer !== undefined) expect(error.findings.map((finding) => finding.pointer)).toContain(pointer);
    expect(files(task.dir)).toEqual(before);
  });

  it("one that is not there", () => {
    const cli = makeCli({ git: false });
    makeTask(cli, "plan_review");
    expect(refuse(cli, "answer", "@nowhere.json", "t1").error.message).toContain("the answer cannot be read");
  });
});

/** The prompt of the only run that had an agent. */
function readPrompt(task: TaskFiles): string {
  const [run = ""] = ["1", "2"].filter((number) => task.has(`planning/runs/${number}/prompt.md`));
  return task.read(`planning/runs/${run}/prompt.md`);
}

/** All but the transcript, which tells of refusals too. */
function files(directory: string): Record<string, string> {
  return Object.fromEntries(Object.entries(listing(directory)).filter(([name]) => !name.startsWith("transcript")));
}

describe("pawl form", () => {
  it("asks for the verdict in a terminal, and the task goes on", async () => {
    const cli = makeCli({ git: false, config: { agents: { default: { use: "human" } } } });
    const task = makeTask(cli, "plan_review");
    expect(refuse(cli, "next").error.hint).toContain("pawl form t1");
    const terminal = openTerminal([process.execPath, PROGRAM, "form", "t1"], { cwd: cli.dir, env: cli.env });
    await terminal.see("ok (True only when nothing has to change)");
    terminal.type("y\r");
    await terminal.see("reasons (Why): add one?");
    terminal.type("y\r");
    await terminal.see("reasons 1");
    terminal.type("It is right.\r");
    await terminal.see("reasons: another one?");
    terminal.type("n\r");
    await terminal.see("reviewers: fill it in?");
    terminal.type("n\r");
    expect(await terminal.exitCode, terminal.shown()).toBe(0);
    expect(task.readJson("review/plan-review.json")).toEqual(OK);
    expect(cli.pawl("status", "t1", "--json").json().phase).toBe("codegen");
  });

  it("offers the choices of a phase that has nothing to fill in", async () => {
    const cli = makeCli();
    makeTask(cli, "accept");
    expect(cli.pawl("answer", "rejected", "--to", "revert", "--note", "unwanted", "t1").code).toBe(0);
    const terminal = openTerminal([process.execPath, PROGRAM, "form", "t1"], { cwd: cli.dir, env: cli.env });
    await terminal.see("Your answer?");
    await terminal.see("❯ revert");
    terminal.type("\r");
    await terminal.see("Why?");
    terminal.type("nobody needs it\r");
    expect(await terminal.exitCode, terminal.shown()).toBe(0);
    expect(terminal.shown()).toContain("revert → done");
    expect(cli.pawl("history", "t1", "--json").json().events.at(-1)?.reason).toContain("nobody needs it");
  });

  it("a text that is left empty is asked for once more with the reason; empty again, the form is left", async () => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli);
    const env = { ...cli.env, EDITOR: "true", VISUAL: "true" };
    const terminal = openTerminal([process.execPath, PROGRAM, "form", "t1"], { cwd: cli.dir, env });
    await terminal.see("title");
    terminal.type("Say hello\r");
    await terminal.see("something has to be said here; left empty again, the form is left");
    terminal.type("\r");
    await terminal.see("the form was left; nothing was written");
    expect(await terminal.exitCode).toBe(130);
    expect(task.has("planning/plan.json")).toBe(false);
  });

  it("left with Ctrl-C, nothing is written", async () => {
    const cli = makeCli({ git: false });
    const task = makeTask(cli, "plan_review");
    const terminal = openTerminal([process.execPath, PROGRAM, "form", "t1"], { cwd: cli.dir, env: cli.env });
    await terminal.see("ok (True only when nothing has to change)");
    terminal.type(CTRL_C);
    expect(await terminal.exitCode).toBe(130);
    expect(task.has("review/plan-review.json")).toBe(false);
    expect(cli.pawl("status", "t1", "--json").json().phase).toBe("plan_review");
  });

  it("without a terminal it says what to do instead", () => {
    const cli = makeCli({ git: false });
    makeTask(cli, "plan_review");
    expect(refuse(cli, "form", "t1").error.hint).toContain("pawl answer @FILE t1");
  });
});
