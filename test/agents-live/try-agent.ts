/** One real agent does the whole sample task through its preset, in a workspace and a home of its own. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { RealAgent } from "./agents.js";
import { startModel } from "./model-server.js";
import { pawl } from "./pawl.js";
import { decide, sample, SAMPLE } from "./script.js";

const TASK = "add-slugify";
/** Planning and its review twice, because the first plan is refused; codegen and its review twice, because the tests fail. */
const WAY = [
  "planning → plan_review",
  "plan_review → planning",
  "planning → plan_review",
  "plan_review → codegen",
  "codegen → review",
  "review → test",
  "test → codegen",
  "codegen → review",
  "review → test",
  "test → accept",
].join(", ");
const RUNS = 8;

export interface Tried {
  passed: boolean;
  /** What was seen, one line each; `✗` where it is not what it should be. */
  lines: string[];
  /** Kept when something is wrong. */
  folder: string;
}

export async function tryAgent(agent: RealAgent, bin: string): Promise<Tried> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), `pawl-${agent.name}-`)));
  const model = await startModel(
    agent.wire,
    (conversation) => decide(conversation, agent.hands),
    join(root, "requests.jsonl"),
  );
  const lines: string[] = [];
  let passed = true;
  const expect = (holds: boolean, what: string): void => {
    lines.push(`${holds ? "✓" : "✗"} ${what}`);
    passed &&= holds;
  };
  try {
    const place = makeWorkspace(agent, root, model.url, bin);
    const advanced = await pawl(["next", TASK, "--auto"], place);
    writeFileSync(join(root, "next.log"), advanced.output);
    judge(place, expect);
    expect(model.asked() > 0, `the model was asked ${model.asked()} times`);
    const answered = await pawl(["answer", "accepted", "--note", "It does what was wanted.", TASK], place);
    writeFileSync(join(root, "answer.log"), answered.output);
    expect(
      answered.code === 0 && read(join(place.work, "src/slugify.js")) === sample("codegen/2/files/src/slugify.js"),
      "accepted: main has the change that the agent made",
    );
  } finally {
    await model.close();
    if (passed) rmSync(root, { recursive: true, force: true });
  }
  return { passed, lines, folder: root };
}

interface Place {
  work: string;
  task: string;
  env: Record<string, string>;
}

function makeWorkspace(agent: RealAgent, root: string, url: string, bin: string): Place {
  const [home, work] = [join(root, "home"), join(root, "work")];
  for (const [path, text] of Object.entries(agent.home(url))) put(join(home, path), text);
  cpSync(join(SAMPLE, "rehearsal", "repo"), work, { recursive: true });
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    HOME: home,
    USER: "tess",
    TERM: "dumb",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "Tess",
    GIT_AUTHOR_EMAIL: "tess@example.org",
    GIT_COMMITTER_NAME: "Tess",
    GIT_COMMITTER_EMAIL: "tess@example.org",
    ...agent.env(url),
  };
  put(join(work, ".gitignore"), "/tasks/\n/pawl.json\n");
  for (const args of [
    ["init", "--quiet", "--initial-branch=main"],
    ["add", "--all"],
    ["commit", "--quiet", "-m", "First"],
  ]) {
    const result = spawnSync("git", args, { cwd: work, env, encoding: "utf8" });
    if (result.status !== 0) throw new Error(`git ${args.join(" ")}: ${result.stderr}`);
  }
  put(
    join(work, "pawl.json"),
    JSON.stringify({ test: ["node --test"], agents: { default: { use: agent.name, timeout: "2m" } } }),
  );
  const brief = readFileSync(join(SAMPLE, "task.md"), "utf8").replace(/^---[\s\S]*?^---\n/m, "");
  put(join(work, "tasks", TASK, "task.md"), `---\ntitle: Add a slugify function\n---\n${brief}`);
  return { work, task: join(work, "tasks", TASK), env };
}

/** What pawl's own records say about the way there. */
function judge({ task, work }: Place, expect: (holds: boolean, what: string) => void): void {
  const state = json(join(task, "state.json"));
  expect(state["phase"] === "accept", `it stands at ${String(state["phase"])}`);
  const way = history(task)
    .filter(({ from, to }) => from !== undefined && to !== undefined && from !== to)
    .map(({ from, to }) => `${from ?? ""} → ${to ?? ""}`);
  expect(way.join(", ") === WAY, `the way: ${way.join(", ")}`);
  const worktree = join(work, ".pawl", "worktrees", TASK);
  expect(
    read(join(worktree, "src/slugify.js")) === sample("codegen/2/files/src/slugify.js") &&
      read(join(worktree, "test/slugify.test.js")) === sample("codegen/1/files/test/slugify.test.js"),
    "the agent wrote src/slugify.js and its test in the worktree, and mended the first after the tests had failed",
  );
  expect(read(join(work, "src/slugify.js")) === undefined, "the user's checkout was left alone");
  const artifacts = ["planning/plan.json", "review/plan-review.json", "review/code-review.json"];
  expect(
    artifacts.every((path) => existsSync(join(task, path))),
    `left by the agent: ${artifacts.filter((path) => existsSync(join(task, path))).join(", ")}`,
  );
  const report = json(join(task, "eval/eval-report.json"));
  expect(report["overall_pass"] === true, `tests run by pawl: ${JSON.stringify(report["summary"])}`);
  const runs = runRecords(task);
  expect(
    runs.length === RUNS && runs.every((run) => run["outcome"] === "finished"),
    `${runs.length} runs: ${runs.map((run) => `${String(run["role"])} ${String(run["durationMs"])} ms`).join(", ")}`,
  );
  const tokens = runs.flatMap((run) => [run["inputTokens"], run["outputTokens"]]);
  expect(
    tokens.every((count) => typeof count === "number") && runs.every((run) => run["cost"] === "unknown"),
    `recorded: tokens ${tokens.join(" ")}; the cost, which the model has none of, as ${String(runs[0]?.["cost"])}`,
  );
}

function runRecords(task: string): Record<string, unknown>[] {
  return readdirSync(task, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith("result.json"))
    .sort()
    .map((path) => json(join(task, path)));
}

function history(task: string): { type: string; from?: string; to?: string }[] {
  return (read(join(task, "history.jsonl")) ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { type: string; from?: string; to?: string });
}

function json(path: string): Record<string, unknown> {
  const text = read(path);
  return text === undefined ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function read(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
