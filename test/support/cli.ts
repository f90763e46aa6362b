/** The built program in a temporary workspace: a git repository, a home of its own, nothing from outside. */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, cpSync, existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { makeRoot, openTestRepository, writeAt, type TestRepository } from "./repository.js";

export const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
export const PROGRAM = join(PACKAGE, "bin", "pawl.cjs");

export interface Finding {
  message: string;
  file?: string;
  line?: number;
  pointer?: string;
  expected?: string;
  found?: string;
  hint?: string;
}

export interface Suggestion {
  task: string;
  currentPhase: string;
  suggestedNext: string;
  reason: string;
  action: string;
  command: string;
  findings: Finding[];
  waiting: string | null;
  warnings: string[];
}

/** What `--json` may print: every command its own part of this. */
export interface Printed extends Suggestion {
  error: { kind: string; message: string; hint: string; exitCode: number; findings: Finding[] };
  suggestion: Suggestion;
  ways: { to: string; event: string; open: boolean; blockers: Finding[] }[];
  from: string;
  to: string;
  notes: string[];
  steps: { from: string; to: string; reason: string }[];
  stopped: string;
  id: string;
  dir: string;
  ok: boolean;
  phase: string;
  origin: string;
  title: string;
  actor: { status: string; visits: number; runs: number };
  artifacts: { name: string; condition: string; findings: Finding[] }[];
  overrides: { by: string; from: string; to: string; reason: string }[];
  branch: string | null;
  worktree: string | null;
  tasks: { id: string; title: string; phase: string; status: string; waiting: string | null; overrides: number }[];
  events: HistoryEvent[];
  entries: { kind: string; by: string; text: string; data?: Record<string, unknown> }[];
  workspace: string;
  created: string[];
  kept: string[];
  checks: { name: string; ok: boolean; found: string; hint?: string }[];
  log: string[];
}

export interface HistoryEvent {
  seq: number;
  type: string;
  by: string;
  from?: string;
  to?: string;
  reason?: string;
  evidence?: Record<string, string>;
  data?: Record<string, unknown>;
}

export interface Result {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output as exactly one JSON document. */
  json(): Printed;
}

export interface CallOptions {
  cwd?: string;
  /** `undefined` removes a variable. */
  env?: Record<string, string | undefined>;
  uid?: number;
}

/** A call that goes on while the test does. */
export interface Running {
  pid: number;
  finished: Promise<Result>;
  interrupt(): void;
}

export interface Cli extends TestRepository {
  pawl(...args: (string | CallOptions)[]): Result;
  start(...args: (string | CallOptions)[]): Running;
  /** Writes pawl.json. */
  config(value: unknown): void;
  /** The workspace's task `t1`, unless another is named. */
  task(id?: string): TaskFiles;
  /** A program for an agent: the body of a Node script that has `env`, `artifacts` and `fs`; the command that runs it. */
  agent(name: string, body: string): string[];
}

export interface TaskFiles {
  dir: string;
  worktree: string;
  write(path: string, content: unknown): void;
  read(path: string): string;
  readJson(path: string): Record<string, unknown>;
  has(path: string): boolean;
  remove(path: string): void;
  /** Edits the worktree. */
  edit(path: string, content: string): void;
  /** Remembers the task directory as it is; what comes back puts it back. */
  keep(): () => void;
}

export const PLAN = {
  title: "Say hello",
  summary: "One file that says it.",
  tasks: [{ id: "1", title: "Write hello.txt" }],
  files: [{ path: "hello.txt", intent: "create" }],
  acceptance: ["hello.txt says hello"],
};
export const OK = { ok: true, decision: "accepted", reasons: ["It is right."], blocking_issues: [] };
export const NOT_OK = {
  ok: false,
  decision: "needs_changes",
  reasons: ["The greeting is missing."],
  blocking_issues: ["Say hello."],
};

/** A workspace that is a repository with one commit; its tests look for a greeting. */
export function makeCli(options: { config?: unknown; git?: boolean } = {}): Cli {
  const { root, env: outer } = makeRoot();
  const dir = join(root, "work");
  const env = { ...outer, GIT_CONFIG_GLOBAL: "/dev/null", USER: "tess", TERM: "dumb" };
  const repository = openTestRepository(root, dir, env);
  repository.write("readme.md", "one\ntwo\nthree\n");
  if (options.git !== false) {
    repository.git("init", "--quiet", "--initial-branch=main");
    repository.commit("First");
  }
  const cli: Cli = {
    ...repository,
    pawl: (...args) => {
      const { words, given } = split(args);
      const result = spawnSync(process.execPath, [PROGRAM, ...words], {
        ...processOptions(dir, env, given),
        encoding: "utf8",
        maxBuffer: 1 << 26,
      });
      if (result.error !== undefined) throw result.error;
      return resultOf(result.status, result.stdout, result.stderr);
    },
    start: (...args) => start(dir, env, args),
    config: (value) => repository.write("pawl.json", `${JSON.stringify(value, null, 2)}\n`),
    task: (id = "t1") => taskFiles(dir, id),
    agent: (name, body) => {
      const script = join(root, "agents", `${name}.cjs`);
      writeAt(script, `${AGENT_PRELUDE}\n${body}\n`);
      chmodSync(script, 0o755);
      return [process.execPath, script];
    },
  };
  if (options.config !== null) cli.config(options.config ?? { test: ["grep -q hello hello.txt"] });
  return cli;
}

const STEPS = ["planning", "plan_review", "codegen", "review", "test", "accept"];

/** A task that the rehearsal agent has brought to the beginning of a phase; from there on, nobody is set to work on it. */
export function makeTask(cli: Cli, phase = "planning", id = "t1"): TaskFiles {
  const task = cli.task(id);
  task.write("task.md", "---\ntitle: Say hello\n---\n\nA file hello.txt that says hello.\n");
  for (const attempt of [1, 2, 3, 4]) {
    task.write(`rehearsal/planning/${attempt}/plan.json`, PLAN);
    task.write(`rehearsal/plan_review/${attempt}/plan_review.json`, OK);
    task.write(`rehearsal/codegen/${attempt}/files/hello.txt`, `hello ${attempt}\n`);
    task.write(`rehearsal/review/${attempt}/code_review.json`, OK);
  }
  const steps = STEPS.indexOf(phase);
  if (steps > 0) rehearse(cli, id, steps);
  return task;
}

/** Lets the rehearsal agent take so many steps. */
export function rehearse(cli: Cli, id: string, steps: number): void {
  const result = cli.pawl("next", id, "--auto", "--max-steps", String(steps), { env: { PAWL_AGENT: "rehearsal" } });
  if (result.code !== 0 && result.code !== 10) throw new Error(`rehearsal: ${result.stderr}`);
}

export interface Refused {
  code: number | null;
  /** What people read, on standard error. */
  text: string;
  error: Printed["error"];
}

/**
 * A command that must not succeed, called twice: for people and with `--json`. Both say the same, nothing is printed where it
 * does not belong, and the state file is what it was, byte for byte.
 */
export function refuse(cli: Cli, ...args: (string | CallOptions)[]): Refused {
  const before = stateFiles(cli);
  const plain = cli.pawl(...args);
  const json = cli.pawl("--json", ...args);
  expect(stateFiles(cli), "no state file changes").toEqual(before);
  expect(plain.code, plain.stderr + plain.stdout).not.toBe(0);
  expect(plain.stdout).toBe("");
  expect(json.stderr).toBe("");
  const { error } = json.json();
  expect(json.code).toBe(plain.code);
  expect(error.exitCode).toBe(plain.code);
  expect(plain.stderr).toContain(error.message);
  // Every answer ends with the next action.
  expect(plain.stderr.trimEnd().split("\n").at(-1)).toBe(`  next: ${error.hint}`);
  return { code: plain.code, text: plain.stderr, error };
}

function stateFiles(cli: Cli): Record<string, string | null> {
  const tasks = join(cli.dir, "tasks");
  const ids = existsSync(tasks) ? readdirSync(tasks) : [];
  return Object.fromEntries(
    ids.map((id) => {
      const file = join(tasks, id, "state.json");
      return [id, existsSync(file) ? readFileSync(file, "utf8") : null];
    }),
  );
}

/** Every path below a directory, with what is in it: to show that nothing at all was changed. */
export function listing(directory: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (path: string): void => {
    const stat = lstatSync(path);
    const name = `${relative(directory, path)} ${stat.mode.toString(8)}`;
    if (stat.isSymbolicLink()) found[name] = `-> ${readlinkSync(path)}`;
    else if (stat.isDirectory()) {
      found[name] = "directory";
      for (const entry of readdirSync(path)) visit(join(path, entry));
    } else found[name] = createHash("sha256").update(readFileSync(path)).digest("hex");
  };
  visit(directory);
  return found;
}

/** Waits for a file to come, which is how a script says that it has got so far. */
export async function appears(path: string): Promise<void> {
  while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 5));
}

function taskFiles(workspace: string, id: string): TaskFiles {
  const dir = join(workspace, "tasks", id);
  const worktree = join(workspace, ".pawl", "worktrees", id);
  const read = (path: string): string => readFileSync(join(dir, path), "utf8");
  return {
    dir,
    worktree,
    write: (path, content) =>
      writeAt(join(dir, path), typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`),
    read,
    readJson: (path) => JSON.parse(read(path)) as Record<string, unknown>,
    has: (path) => existsSync(join(dir, path)),
    remove: (path) => rmSync(join(dir, path), { recursive: true }),
    edit: (path, content) => writeAt(join(worktree, path), content),
    keep: () => {
      const copy = join(dirname(workspace), `kept-${id}`);
      cpSync(dir, copy, { recursive: true });
      return () => {
        rmSync(dir, { recursive: true });
        cpSync(copy, dir, { recursive: true });
      };
    },
  };
}

const AGENT_PRELUDE = `const fs = require("node:fs");
const path = require("node:path");
const { env } = process;
const artifacts = JSON.parse(env.PAWL_ARTIFACTS ?? "{}");
const leave = (name, value) => fs.writeFileSync(artifacts[name], JSON.stringify(value));`;

function split(args: (string | CallOptions)[]): { words: string[]; given: CallOptions } {
  const words = args.filter((arg) => typeof arg === "string");
  const given = Object.assign({}, ...args.filter((arg) => typeof arg === "object")) as CallOptions;
  // `--json` may be named first, so that a test can put it before anything; commands take it after their name.
  return { words: words[0] === "--json" ? [...words.slice(1), "--json"] : words, given };
}

function processOptions(
  dir: string,
  env: Record<string, string>,
  given: CallOptions,
): { cwd: string; env: Record<string, string>; uid?: number; gid?: number } {
  const merged = Object.entries({ ...env, ...given.env }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return {
    cwd: given.cwd ?? dir,
    env: Object.fromEntries(merged),
    ...(given.uid === undefined ? {} : { uid: given.uid, gid: given.uid }),
  };
}

function start(dir: string, env: Record<string, string>, args: (string | CallOptions)[]): Running {
  const { words, given } = split(args);
  const child = spawn(process.execPath, [PROGRAM, ...words], processOptions(dir, env, given));
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.end();
  return {
    pid: child.pid ?? 0,
    finished: new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve(resultOf(code, stdout, stderr)));
    }),
    interrupt: () => void child.kill("SIGINT"),
  };
}

function resultOf(code: number | null, stdout: string, stderr: string): Result {
  return { code, stdout, stderr, json: () => JSON.parse(stdout) as Printed };
}

/** A directory on PATH that holds links to these programs only. */
export function pathWith(cli: Cli, programs: Record<string, string>): string {
  const bin = join(cli.root, "bin");
  for (const [name, target] of Object.entries(programs)) {
    writeAt(join(bin, name), `#!/bin/sh\nexec ${target} "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return existsSync(bin) ? bin : dirname(bin);
}
