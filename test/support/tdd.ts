/**
 * An agent's turns in the tool-gated TDD workflow: real git in a temporary repository, the built program, and stubs on PATH
 * for what belongs to somebody else: `npm`, and the code reviewer.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM } from "./cli.js";
import { makeRoot, openTestRepository, writeAt, type TestRepository } from "./repository.js";

export const STATE_FILE = "ORCHESTRATION_STATE.json";
export const PLAN_FILE = "ACTIVE_PR.json";
export const TASK_DIRECTORY = ".pawl/tool-gated-tdd";

export type Tool = "get_task" | "submit_work" | "request_scope_reduction" | "escalate_for_external_help";

/** Objects are written as JSON, text as it is; what is left out is not there. */
export interface Initial {
  state?: object | string;
  plan?: object | string;
}

export interface Turn {
  /** The fields of ORCHESTRATION_STATE.json that document 000 names, and no others; null where there is no file. */
  finalState: Record<string, unknown> | null;
  /** The whole of ACTIVE_PR.json; null where there is no file. */
  activePr: Record<string, unknown> | null;
  /** Standard output. */
  output: string;
  stderr: string;
  code: number | null;
  /** Standard output as exactly one JSON document. */
  json(): Record<string, unknown>;
}

export interface TddOptions extends Initial {
  /** pawl.json, besides the reviewer. */
  config?: object;
  base?: string;
  /** A bare repository that the base branch was pushed to. */
  remote?: boolean;
  /** Files of the first commit. */
  files?: Record<string, string>;
}

export interface Tdd extends TestRepository {
  given(initial: Initial): void;
  turn(tool: Tool, input?: object): Turn;
  /** Another command of the program, such as `resume`. */
  pawl(...args: string[]): { code: number | null; stdout: string; stderr: string };
  /** What the stub `npm` prints and exits with from now on; before that, nothing and 0. */
  npm(answer: Answer): void;
  npmCalls(): string[];
  /** What the reviewer prints and exits with from now on; before that, no findings. */
  reviewer(answer: Answer): void;
  /** What the reviewer was given on standard input, call by call. */
  reviews(): string[];
  /** Another clone of the remote pushes a commit to the base branch; its name. */
  pushFromElsewhere(files: Record<string, string>): string;
}

interface Answer {
  code?: number;
  /** Objects are printed as JSON. */
  output?: object | string;
}

export function makeTdd(options: TddOptions = {}): Tdd {
  const { root, env: outer } = makeRoot();
  const dir = join(root, "work");
  const bin = join(root, "bin");
  const env = { ...outer, PATH: `${bin}:${outer["PATH"] ?? ""}`, GIT_CONFIG_GLOBAL: "/dev/null", USER: "tess" };
  const repository = openTestRepository(root, dir, env);
  const base = options.base ?? "main";
  const npm = stub(root, "npm", 'echo "npm $*" >> "$0.calls"');
  const reviewer = stub(root, "reviewer", 'cat >> "$0.calls"; printf "\\f" >> "$0.calls"');
  reviewer.answer({ output: { findings: [] } });
  const config = { agents: { code_reviewer: { command: [reviewer.path] } }, ...options.config };
  repository.write("pawl.json", `${JSON.stringify(config, null, 2)}\n`);
  repository.git("init", "--quiet", `--initial-branch=${base}`);
  repository.commit("First", { "readme.md": "one\ntwo\nthree\n", ...options.files });
  if (options.remote === true) {
    repository.git("init", "--quiet", "--bare", `--initial-branch=${base}`, join(root, "remote.git"));
    repository.git("remote", "add", "origin", join(root, "remote.git"));
    repository.git("push", "--quiet", "--set-upstream", "origin", base);
  }
  const run = (words: string[], input: string): { code: number | null; stdout: string; stderr: string } => {
    const result = spawnSync(process.execPath, [PROGRAM, ...words], { cwd: dir, env, input, encoding: "utf8" });
    if (result.error !== undefined) throw result.error;
    return { code: result.status, stdout: result.stdout, stderr: result.stderr };
  };
  const tdd: Tdd = {
    ...repository,
    given: ({ state, plan }) => {
      if (state !== undefined) repository.write(STATE_FILE, textOf(state));
      if (plan !== undefined) repository.write(PLAN_FILE, textOf(plan));
    },
    turn: (tool, input) => {
      const { code, stdout, stderr } = run(["tool", tool], input === undefined ? "" : JSON.stringify(input));
      return {
        finalState: documented(readJson(join(dir, STATE_FILE))),
        activePr: readJson(join(dir, PLAN_FILE)),
        output: stdout,
        stderr,
        code,
        json: () => JSON.parse(stdout) as Record<string, unknown>,
      };
    },
    pawl: (...args) => run(args, ""),
    npm: npm.answer,
    npmCalls: () => npm.calls("\n"),
    reviewer: reviewer.answer,
    reviews: () => reviewer.calls("\f"),
    pushFromElsewhere: (files) => {
      const other = join(root, "elsewhere");
      repository.git("clone", "--quiet", join(root, "remote.git"), other);
      const clone = openTestRepository(root, other, env);
      const commit = clone.commit("From elsewhere", files);
      clone.git("push", "--quiet", "origin", base);
      return commit;
    },
  };
  tdd.given(options);
  return tdd;
}

/** Document 000's helper: these files, this one tool call, what came of it. */
export function simulateAgentTurn(initial: TddOptions, tool: Tool, input?: object): Turn {
  return makeTdd(initial).turn(tool, input);
}

/** A program that notes its calls, prints what it was told to, and ends as it was told to. */
function stub(
  root: string,
  name: string,
  note: string,
): { path: string; answer(answer: Answer): void; calls(end: string): string[] } {
  const path = join(root, "bin", name);
  writeAt(path, `#!/bin/sh\n${note}\ncat "$0.output"\nexit "$(cat "$0.code")"\n`);
  chmodSync(path, 0o755);
  const answer = ({ code = 0, output = "" }: Answer): void => {
    writeAt(`${path}.code`, String(code));
    writeAt(`${path}.output`, typeof output === "string" ? output : JSON.stringify(output));
  };
  answer({});
  return {
    path,
    answer,
    calls: (end) => (existsSync(`${path}.calls`) ? readFileSync(`${path}.calls`, "utf8").split(end).slice(0, -1) : []),
  };
}

function textOf(content: object | string): string {
  return typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`;
}

function readJson(path: string): Record<string, unknown> | null {
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>) : null;
}

const DOCUMENTED = ["status", "debug_attempt_counter", "last_commit_hash", "current_pr_branch", "last_error"];

function documented(state: Record<string, unknown> | null): Record<string, unknown> | null {
  return state === null
    ? null
    : Object.fromEntries(Object.entries(state).filter(([field]) => DOCUMENTED.includes(field)));
}
