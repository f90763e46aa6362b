/**
 * The real program on the sample task, killed with SIGKILL: wherever that comes, the task opens, verifies and goes on to its
 * end, and what happened once happens once. The moments are things that appear on the disk, never points of time.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readHistory, type HistoryEvent } from "../../src/task/history.js";
import { makeCli, PACKAGE, type Cli } from "../support/cli.js";

const TASK = "add-slugify";

interface Story {
  cli: Cli;
  /** In the task directory. */
  at(path: string): string;
  /** In the repository that the task makes for itself. */
  inRepo(path: string): string;
  events(): number;
  git(...args: string[]): string;
  /** Starts a command and kills it as soon as the moment has come; false when it ended before that. */
  killAt(moment: () => boolean, ...command: string[]): Promise<boolean>;
  verify(): void;
}

function makeStory(): Story {
  const cli = makeCli({ git: false, config: null });
  const dir = join(cli.dir, "tasks", TASK);
  for (const part of ["task.md", "rehearsal"])
    cpSync(join(PACKAGE, "tasks", TASK, part), join(dir, part), { recursive: true });
  const story: Story = {
    cli,
    at: (path) => join(dir, path),
    inRepo: (path) => join(dir, "repo", path),
    events: () => (existsSync(story.at("history.jsonl")) ? lines(story.at("history.jsonl")) : 0),
    git: (...args) => cli.git(...args, { cwd: story.at("repo") }),
    killAt: async (moment, ...command) => {
      const running = cli.start(...command);
      let ended = false;
      const finished = running.finished.finally(() => (ended = true));
      while (!ended && !moment()) await new Promise((resolve) => setTimeout(resolve, 1));
      if (!ended) process.kill(running.pid, "SIGKILL");
      return (await finished).code === null;
    },
    verify: () => {
      const result = cli.pawl("verify", TASK, "--json");
      expect(result.code, result.stdout).toBe(0);
      expect(result.json()).toMatchObject({ ok: true, findings: [] });
    },
  };
  return story;
}

function lines(file: string): number {
  return readFileSync(file).reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 0);
}

/** To the human's decision, and through it. */
function finish(story: Story): void {
  const { cli } = story;
  const auto = cli.pawl("next", TASK, "--auto", "--json");
  expect(auto.code, auto.stdout + auto.stderr).toBe(10);
  expect(cli.pawl("status", TASK, "--json").json()).toMatchObject({ phase: "accept" });
  const answer = cli.pawl("answer", "accepted", "--note", "x", TASK);
  expect(answer.code, answer.stderr).toBe(0);
  expectDone(story);
}

function expectDone(story: Story): void {
  expect(story.cli.pawl("status", TASK, "--json").json()).toMatchObject({ phase: "done" });
  story.verify();
  const { events, findings } = readHistory(story.at("history.jsonl"));
  expect(findings).toEqual([]);
  // Killed right after its last step, a task has that event in its state file alone, until somebody writes again.
  const { lastEvent } = JSON.parse(readFileSync(story.at("state.json"), "utf8")) as { lastEvent: HistoryEvent };
  if (lastEvent.seq > events.length) events.push(lastEvent);
  expect(events.filter(({ from, to }) => from === "accept" && to === "done")).toHaveLength(1);
  expect(events.filter(({ type }) => type === "task.created")).toHaveLength(1);
  // One merge, of what was reviewed and tested; nothing else is left of the work.
  expect(story.git("rev-list", "--count", "--merges", "main")).toBe("1");
  expect(story.git("show", "main:src/slugify.js")).toBe(
    readFileSync(join(PACKAGE, "tasks", TASK, "rehearsal/codegen/2/files/src/slugify.js"), "utf8").trimEnd(),
  );
  expect(story.git("branch", "--format=%(refname:short)")).toBe("main");
  expect(story.git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1);
  expect(story.git("status", "--porcelain")).toBe("");
  expect(findLocks(story.inRepo(".git"))).toEqual([]);
}

function findLocks(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".lock"));
}

describe("kill -9", () => {
  it("again and again, after every few events on record", async () => {
    const story = makeStory();
    let kills = 0;
    // One more event is sometimes only that a run was lost; a few more are real progress.
    for (let round = 0; ; round++) {
      const target = story.events() + 1 + (round % 4);
      if (!(await story.killAt(() => story.events() >= target, "next", TASK, "--auto"))) break;
      kills++;
      story.verify();
    }
    expect(kills).toBeGreaterThan(10);
    finish(story);
  });

  it("when something has just come, or gone", async () => {
    const story = makeStory();
    const { at, inRepo, cli } = story;
    const worktree = join(cli.dir, ".pawl/worktrees", TASK);
    // In the order in which they happen: each command goes on from where the one before it was killed.
    const moments: [string, () => boolean][] = [
      ["the lock is taken for the first time", () => existsSync(at("history.jsonl"))],
      ["the repository is being made", () => existsSync(inRepo(".git"))],
      ["the worktree is being made", () => existsSync(worktree)],
      ["the agent's artifact comes", () => existsSync(at("planning/plan.json"))],
      [
        "the reviewed plan is put away",
        () => existsSync(at("review/plan-review.json")) && !existsSync(at("planning/plan.json")),
      ],
      ["the coder's files come", () => existsSync(join(worktree, "src/slugify.js"))],
      ["the diff comes", () => existsSync(at("code/diff.patch"))],
      ["the tests run", () => hasContent(at("test/runs/1/1.log"))],
      ["the report comes", () => existsSync(at("eval/eval-report.json"))],
    ];
    for (const [name, moment] of moments) {
      expect(await story.killAt(moment, "next", TASK, "--auto"), name).toBe(true);
      story.verify();
    }
    finish(story);
  });

  it("at any point of the merge, and never a second one", async () => {
    const story = makeStory();
    const { cli } = story;
    expect(cli.pawl("next", TASK, "--auto").code).toBe(10);
    const before = `${cli.dir}-before`;
    cpSync(cli.dir, before, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    const main = story.git("rev-parse", "main");
    const state = readFileSync(story.at("state.json"), "utf8");
    const worktree = join(cli.dir, ".pawl/worktrees", TASK);
    const reached: string[] = [];
    const steps: [string, () => boolean][] = [
      ["the base branch moved", () => !hasRef(story, "refs/heads/main", main)],
      ["the worktree went", () => !existsSync(join(worktree, "package.json"))],
      ["the branch went", () => !existsSync(story.inRepo(`.git/refs/heads/pawl/${TASK}`))],
      ["the decision came", () => existsSync(story.at("accept/decision.json"))],
      ["the state was written", () => readFileSync(story.at("state.json"), "utf8") !== state],
    ];
    for (const [name, moment] of steps) {
      rmSync(cli.dir, { recursive: true });
      cpSync(before, cli.dir, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
      if (await story.killAt(moment, "answer", "accepted", "--note", "x", TASK)) reached.push(name);
      story.verify();
      // Whoever asks again is told that it is done, or has it done.
      const phase = cli.pawl("status", TASK, "--json").json().phase;
      if (phase === "accept") expect(cli.pawl("answer", "accepted", "--note", "x", TASK).code).toBe(0);
      expectDone(story);
    }
    expect(reached).toEqual(expect.arrayContaining(["the base branch moved", "the worktree went"]));
  });
});

function hasContent(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Read from the file itself: asking git would take longer than the moment lasts. */
function hasRef(story: Story, ref: string, commit: string): boolean {
  const file = story.inRepo(join(".git", ref));
  return existsSync(file) && readFileSync(file, "utf8").trim() === commit;
}
