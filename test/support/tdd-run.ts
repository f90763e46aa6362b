/** A directory that a test-driven agent works in: a repository, a stub `npm` first on PATH, a scripted reviewer, and its turns. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM } from "./cli.js";
import { makeRoot, openTestRepository, writeAt, type TestRepository } from "./repository.js";

export interface Turn {
  code: number | null;
  output: string;
  state: Record<string, unknown> | null;
  pr: { tasks: PrTask[] } | null;
}

export interface PrTask {
  taskName: string;
  status: string;
  tdd_steps?: { type?: string; status: string }[];
}

export interface TddRun extends TestRepository {
  /** One call of a tool, with its input on standard input. */
  turn(tool: string, input?: unknown): Turn;
  pawl(...words: string[]): { code: number | null; stdout: string; stderr: string };
  /** What submit_work printed. */
  submit(input: Record<string, unknown>): Turn & { answer: { status: string; output: string; instruction: string } };
  /** How often the stub `npm` was called, and with what. */
  npmCalls(): string[];
  npm(options: { code?: number; output?: string }): void;
  /** What the reviewer prints, one answer for each time it is asked; the last one is repeated. */
  reviewer(...answers: string[]): void;
  json(name: string): Record<string, unknown> | null;
}

export interface TddOptions {
  state?: unknown;
  pr?: unknown;
  remote?: boolean;
  git?: boolean;
}

export const STEPS = (...types: string[]): { type: string; description: string; status: string }[] =>
  types.map((type) => ({ type, description: `Do the ${type} step.`, status: "TODO" }));

export function makeTdd({ state, pr, remote = false, git = true }: TddOptions = {}): TddRun {
  const { root, env: outer } = makeRoot();
  const dir = join(root, "work");
  const bin = join(root, "bin");
  mkdirSync(dir);
  const env: Record<string, string> = {
    ...outer,
    PATH: `${bin}:${outer["PATH"] ?? ""}`,
    GIT_CONFIG_GLOBAL: "/dev/null",
    USER: "tess",
  };
  const repository = openTestRepository(root, dir, env);
  const run: TddRun = {
    ...repository,
    pawl: (...words) => call(words, ""),
    turn: (tool, input = {}) => {
      const text = typeof input === "string" ? input : JSON.stringify(input);
      const { code, stdout, stderr } = call(["tool", tool], text);
      return {
        code,
        output: stdout === "" ? stderr : stdout,
        state: run.json("ORCHESTRATION_STATE.json"),
        pr: run.json("ACTIVE_PR.json") as Turn["pr"],
      };
    },
    submit: (input) => {
      const turn = run.turn("submit_work", { summary: "did it", ...input });
      return { ...turn, answer: JSON.parse(turn.output) as { status: string; output: string; instruction: string } };
    },
    npm: ({ code = 0, output = "" }) => {
      writeAt(join(root, "npm.out"), output);
      script(join(bin, "npm"), `echo "npm $*" >> ${root}/npm.log\ncat ${root}/npm.out\nexit ${code}`);
    },
    npmCalls: () =>
      existsSync(join(root, "npm.log"))
        ? readFileSync(join(root, "npm.log"), "utf8").trim().split("\n").filter(Boolean)
        : [],
    reviewer: (...answers) => {
      for (const [index, answer] of answers.entries()) writeAt(join(root, "reviews", String(index + 1)), answer);
      script(
        join(bin, "review"),
        `cat > ${root}/prompt.txt\nn=$(($(cat ${root}/asked 2>/dev/null || echo 0) + 1))\n` +
          `[ $n -le ${answers.length} ] || n=${answers.length}\necho $n > ${root}/asked\ncat ${root}/reviews/$n`,
      );
      writeAt(join(dir, "pawl.json"), JSON.stringify({ agents: { code_reviewer: { command: ["review"] } } }));
    },
    json: (name) =>
      existsSync(join(dir, name))
        ? (JSON.parse(readFileSync(join(dir, name), "utf8")) as Record<string, unknown>)
        : null,
  };
  const call = (words: string[], input: string): { code: number | null; stdout: string; stderr: string } => {
    const result = spawnSync(process.execPath, [PROGRAM, ...words], {
      cwd: dir,
      env,
      input,
      encoding: "utf8",
      maxBuffer: 1 << 26,
    });
    return { code: result.status, stdout: result.stdout, stderr: result.stderr };
  };
  run.npm({});
  if (git) {
    repository.git("init", "--quiet", "--initial-branch=main");
    repository.commit("First", { "readme.md": "one\n", "plan.md": "- PR 1: feat: Add sum\n" });
  }
  if (remote) {
    repository.git("clone", "--quiet", "--bare", dir, join(root, "remote.git"));
    repository.git("remote", "add", "origin", join(root, "remote.git"));
    repository.git("fetch", "--quiet", "origin");
    repository.git("branch", "--quiet", "--set-upstream-to=origin/main", "main");
  }
  if (state !== undefined) repository.write("ORCHESTRATION_STATE.json", textOf(state));
  if (pr !== undefined) repository.write("ACTIVE_PR.json", textOf(pr));
  return run;
}

export function script(path: string, body: string): void {
  writeAt(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
