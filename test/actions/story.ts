/** A task on a temporary repository, and the actions as the orchestrator would call them. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deriveChange } from "../../src/actions/derive-change.js";
import { merge } from "../../src/actions/merge.js";
import { prepareWorktree } from "../../src/actions/prepare-worktree.js";
import { revertChange } from "../../src/actions/revert-change.js";
import { runTests } from "../../src/actions/run-tests.js";
import type { Action, ActionContext, ActionResult, Made, MakerContext, TaskSettings } from "../../src/actions/types.js";
import type { ArtifactStatus } from "../../src/workflow/types.js";
import { makeRepository, writeAt, type TestRepository } from "../support/repository.js";

export interface Story {
  repo: TestRepository;
  settings: TaskSettings;
  /** As the state file would keep it from one action to the next. */
  fields: Record<string, unknown>;
  artifacts: Record<string, ArtifactStatus>;
  context(more?: Partial<ActionContext>): ActionContext;
  maker(more?: Partial<MakerContext>): MakerContext;
  /** Runs an action without recording it, as if pawl died before the transition was written. */
  attempt(action: Action, more?: Partial<ActionContext>): Promise<ActionResult>;
  act(action: Action, more?: Partial<ActionContext>): Promise<ActionResult>;
  prepare(): Promise<ActionResult>;
  derive(more?: Partial<MakerContext>): Promise<Made>;
  test(more?: Partial<MakerContext>): Promise<Made>;
  merge(): Promise<ActionResult>;
  revert(): Promise<ActionResult>;
  /** A worktree with these files changed, derived and accepted. */
  changed(files: Record<string, string | Uint8Array>): Promise<Made>;
  /** Writes into the task's worktree. */
  work(path: string, content: string | Uint8Array): void;
  inWorktree(path: string): string;
  gitInWorktree(...args: string[]): string;
}

export function makeStory(options: { repo?: TestRepository; settings?: Partial<TaskSettings> } = {}): Story {
  const repo = options.repo ?? makeRepository();
  const settings: TaskSettings = {
    id: "t1",
    title: "Add a thing",
    dir: join(repo.root, "tasks", "t1"),
    workspace: repo.dir,
    repo: repo.dir,
    seed: null,
    baseBranch: null,
    worktree: join(repo.dir, ".pawl", "worktrees", "t1"),
    branch: "pawl/t1",
    test: [],
    testTimeoutMs: 60_000,
    setup: { copy: [], run: [] },
    preflight: "true",
    verifyRed: true,
    masterPlan: "plan.md",
    env: repo.env,
    ...options.settings,
  };
  mkdirSync(settings.dir, { recursive: true });
  let runs = 0;
  const story: Story = {
    repo,
    settings,
    fields: {},
    artifacts: {},
    context: (more = {}) => ({
      settings,
      artifacts: story.artifacts,
      event: { name: "answer", by: { kind: "human", name: "Ada" }, payload: {} },
      reason: "because",
      from: "accept",
      to: "done",
      fields: story.fields,
      counters: {},
      back: `pawl redo codegen --reason "…"`,
      again: "`pawl answer accepted` again",
      now: () => new Date("2026-05-06T07:08:09Z"),
      progress: () => undefined,
      ...more,
    }),
    maker: (more = {}) => {
      const runPath = `runs/${++runs}`;
      const runDir = join(settings.dir, runPath);
      mkdirSync(runDir, { recursive: true });
      return {
        settings,
        artifacts: story.artifacts,
        accepted: story.artifacts["change"]?.data,
        runDir,
        runPath,
        fields: story.fields,
        progress: () => undefined,
        ...more,
      };
    },
    attempt: (action, more) => action.run(story.context(more), { name: action.name, args: [] }),
    act: async (action, more) => {
      const result = await story.attempt(action, more);
      story.fields = { ...story.fields, ...result.patch?.fields };
      return result;
    },
    prepare: () => story.act(prepareWorktree),
    derive: async (more) => {
      const made = await deriveChange.make(story.maker(more));
      story.artifacts["change"] = okArtifact("change", made.data);
      return made;
    },
    test: async (more) => {
      const made = await runTests.make(story.maker(more));
      story.artifacts["tests"] = okArtifact("tests", made.data);
      return made;
    },
    merge: () => story.act(merge),
    revert: () => story.act(revertChange),
    changed: async (files) => {
      await story.prepare();
      for (const [path, content] of Object.entries(files)) story.work(path, content);
      return story.derive();
    },
    work: (path, content) => writeAt(join(settings.worktree, path), content),
    inWorktree: (path) => readFileSync(join(settings.worktree, path), "utf8"),
    gitInWorktree: (...args) => repo.git(...args, { cwd: settings.worktree }),
  };
  return story;
}

export function okArtifact(name: string, data: unknown): ArtifactStatus {
  return { name, file: `${name}.json`, condition: "ok", data, hash: "0", findings: [] };
}
