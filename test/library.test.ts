/** The package's main export, used as a script that embeds pawl would. */
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import type * as Library from "../src/index.js";
import { listing, makeCli, makeTask, NOT_OK, OK, PLAN, type Cli } from "./support/cli.js";

const PACKAGE = join(dirname(fileURLToPath(import.meta.url)), "..");
const { exports } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as {
  exports: { ".": { import: string } };
};
const { openPawl, suggestNextFromState, PawlError, exitCode } = (await import(
  pathToFileURL(join(PACKAGE, exports["."].import)).href
)) as typeof Library;

function open(cli: Cli, more: Partial<Library.PawlOptions> = {}): Library.Pawl {
  return openPawl({ directory: cli.dir, user: "robot", env: cli.env, ...more });
}

async function errorOf(work: Promise<unknown>): Promise<Library.PawlError> {
  const error = await work.then(
    () => new Error("expected an error"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(PawlError);
  return error as Library.PawlError;
}

describe("the library", () => {
  it("drives a task the whole way, with the same records as the command line", async () => {
    const cli = makeCli();
    const steps: string[] = [];
    const progress: string[] = [];
    const pawl = open(cli, {
      env: { ...cli.env, PAWL_AGENT: "rehearsal" },
      onProgress: (text) => progress.push(text),
      now: () => new Date("2026-03-04T05:06:07Z"),
    });
    const made = await pawl.newTask({ title: "Say hello", id: "t1" });
    expect(made).toMatchObject({ id: "t1", phase: "planning", workflow: "global-state-machine" });
    makeTask(cli);
    expect(await pawl.suggestNextFromState("t1")).toMatchObject({
      currentPhase: "planning",
      suggestedNext: "planning",
      action: "work",
    });
    const step = await pawl.advance("t1");
    expect(step).toMatchObject({ from: "planning", to: "plan_review", waiting: null });
    const result = await pawl.advanceToEnd("t1", { onStep: ({ to }) => steps.push(to) });
    expect(result).toMatchObject({ phase: "accept", stopped: "human" });
    expect(steps).toEqual(["codegen", "review", "test", "accept"]);
    expect(progress.join("")).toContain("rehearsed codegen");
    expect(await pawl.answer("t1", { choice: "accepted", note: "fine" })).toMatchObject({ to: "done" });
    expect(await pawl.status("t1")).toMatchObject({ phase: "done", suggestion: { action: "none" } });
    expect(await pawl.tasks()).toMatchObject([{ id: "t1", phase: "done" }]);
    expect(await pawl.verify("t1")).toMatchObject({ ok: true, findings: [] });
    const history = await pawl.history("t1");
    expect(history.at(-1)).toMatchObject({ by: "robot", at: "2026-03-04T05:06:07.000Z", to: "done" });
    expect(cli.pawl("history", "t1", "--json").json().events).toEqual(history);
    expect(cli.read("hello.txt")).toBe("hello 1\n");
  });

  it("suggestNextFromState changes nothing", async () => {
    const cli = makeCli();
    const task = cli.task();
    task.write("state.json", '{"phase":"plan_review"}');
    task.write("planning/plan.json", PLAN);
    task.write("review/plan-review.json", OK);
    const before = listing(cli.root);
    expect(await suggestNextFromState(cli.dir, "t1")).toMatchObject({
      currentPhase: "plan_review",
      suggestedNext: "codegen",
      reason: expect.stringMatching(/\S/) as string,
    });
    task.write("review/plan-review.json", NOT_OK);
    expect(await suggestNextFromState(cli.dir, "t1")).toMatchObject({ suggestedNext: "planning" });
    task.write("review/plan-review.json", OK);
    expect(listing(cli.root)).toEqual(before);
  });

  it("takes a directory relative to the current one", async () => {
    const cli = makeCli();
    makeTask(cli, "plan_review");
    const before = process.cwd();
    onTestFinished(() => process.chdir(before));
    process.chdir(cli.root);
    const pawl = openPawl({ directory: "work", user: "robot", env: cli.env });
    expect(await pawl.status("t1")).toMatchObject({ phase: "plan_review" });
    expect(await suggestNextFromState("work", "t1")).toMatchObject({ currentPhase: "plan_review" });
    const made = await pawl.newTask({ title: "Two", id: "t2" });
    expect(made.dir).toBe(cli.task("t2").dir);
  });

  it("tells the transcript as the command line does", async () => {
    const cli = makeCli();
    makeTask(cli, "plan_review");
    const transcript = await open(cli).transcript("t1");
    expect(transcript).toContainEqual(expect.objectContaining({ kind: "transition", by: "tess" }));
    expect(cli.pawl("transcript", "t1", "--json").json().entries).toEqual(transcript);
  });

  it("override, redo, resume and run are the human's powers here too", async () => {
    const cli = makeCli({ config: { limits: { plan_rounds: 1 } } });
    const task = makeTask(cli);
    const pawl = open(cli);
    expect(await pawl.override("t1", { reason: "no plan needed", to: "plan_review" })).toMatchObject({
      from: "planning",
      to: "plan_review",
    });
    expect((await pawl.status("t1")).overrides).toMatchObject([{ by: "robot", reason: "no plan needed" }]);
    expect(await pawl.redo("t1", { to: "planning", reason: "a plan after all" })).toMatchObject({ to: "planning" });
    task.write("planning/plan.json", PLAN);
    await pawl.advance("t1");
    task.write("review/plan-review.json", NOT_OK);
    expect((await pawl.advance("t1")).waiting).toContain("reviewed as often");
    expect(await pawl.resume("t1", { note: "go on" })).toMatchObject({ to: "planning" });
    const rehearsed = open(cli, { env: { ...cli.env, PAWL_AGENT: "rehearsal" } });
    expect(await rehearsed.run("t1", "planning")).toEqual({ phase: "planning", outcome: "done" });
    expect(await rehearsed.suggestNextFromState("t1")).toMatchObject({
      action: "advance",
      suggestedNext: "plan_review",
    });
  });

  it("what goes wrong is a PawlError, with kind, hint and findings", async () => {
    const cli = makeCli();
    const task = makeTask(cli);
    const pawl = open(cli);
    task.write("planning/plan.json", { tasks: "text" });
    const invalid = await errorOf(pawl.advance("t1"));
    expect(invalid).toMatchObject({ kind: "invalid", hint: "pawl run planning t1" });
    expect(exitCode(invalid.kind)).toBe(3);
    expect(invalid.findings).toContainEqual(expect.objectContaining({ file: "planning/plan.json", pointer: "/tasks" }));
    expect(await errorOf(pawl.advance("nope"))).toMatchObject({ kind: "usage" });
    expect(await errorOf(pawl.advance("../x"))).toMatchObject({ kind: "usage" });
    expect(await errorOf(pawl.override("t1", { to: "done", reason: " " }))).toMatchObject({ kind: "refused" });
    expect(await errorOf(pawl.resume("t1", { note: "" }))).toMatchObject({ kind: "usage" });
    expect(await errorOf(pawl.redo("t1", { to: "nope", reason: "x" }))).toMatchObject({ kind: "usage" });
    expect(await errorOf(pawl.run("t1", "nope"))).toMatchObject({ kind: "usage" });
    expect(task.has("state.json")).toBe(false);
    task.write("state.json", "{");
    expect(await errorOf(pawl.suggestNextFromState("t1"))).toMatchObject({ kind: "invalid" });
    expect(await pawl.verify("t1")).toMatchObject({ ok: false });
    expect(() => openPawl({ directory: "/no/such/place" })).toThrow(PawlError);
  });

  it("a signal ends running work, and the task goes on from there", async () => {
    const cli = makeCli();
    makeTask(cli, "plan_review");
    cli.config({
      agents: { default: { command: cli.agent("endless", `console.error("begun"); setInterval(() => {}, 1000);`) } },
    });
    const stop = new AbortController();
    const pawl = open(cli, {
      signal: stop.signal,
      onProgress: (text) => {
        if (text.includes("begun")) stop.abort();
      },
    });
    expect(await errorOf(pawl.advance("t1"))).toMatchObject({ kind: "interrupted" });
    expect(await open(cli).suggestNextFromState("t1")).toMatchObject({ currentPhase: "plan_review", action: "work" });
  });

  it("adopts, and checks documents", async () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    task.write("state.json", task.read("state.json").replace('"phase": "plan_review"', '"phase": "accept"'));
    const pawl = open(cli);
    expect((await pawl.verify("t1")).ok).toBe(false);
    expect(await errorOf(pawl.adopt("t1", ""))).toMatchObject({ kind: "usage" });
    expect((await pawl.adopt("t1", "on purpose")).ok).toBe(true);
    expect(await pawl.checkSpec("global-state-machine")).toMatchObject({ ok: true, findings: [] });
    expect(await errorOf(pawl.checkSpec("nope"))).toMatchObject({ kind: "invalid" });
  });
});
