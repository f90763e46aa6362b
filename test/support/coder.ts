/** A task of the coder workflow, with a scripted program for each role. */
import { makeCli, PLAN, type Cli, type Printed, type Result, type TaskFiles } from "./cli.js";

export interface Coder extends Cli {
  t1: TaskFiles;
  phase(id?: string): string;
  /** The states that the task has been in, in order. */
  way(id?: string): string[];
  counters(): Record<string, number>;
  /** Steps until somebody is needed or it is over; what was printed. */
  auto(...words: string[]): Result;
  answer(choice: string, note?: string, id?: string): Result;
  said(name: string): string;
}

export interface Roles {
  planner?: string;
  plan_reviewer?: string;
  coder?: string;
  code_reviewer?: string;
}

/** What every scripted agent can do. `n` is the number of its attempt in this phase. */
const HANDS = `
const { spawnSync } = require("node:child_process");
const n = Number(env.PAWL_ATTEMPT);
const phase = env.PAWL_PHASE;
const say = (name, text = "") => fs.writeFileSync(path.join(__dirname, name), text);
const prompt = () => fs.readFileSync(env.PAWL_PROMPT_FILE, "utf8");
const verdict = (name, decision, ...reasons) => leave(name, { decision, reasons });
const tool = (name, input) => spawnSync("pawl", ["tool", name], { input: JSON.stringify(input), encoding: "utf8" });
`;

const GOOD: Required<Roles> = {
  planner: `leave("plan", ${JSON.stringify(PLAN)});`,
  plan_reviewer: `verdict("plan_review", "approve");`,
  coder: `fs.writeFileSync("hello.txt", "hello " + env.PAWL_TASK + "\\n");`,
  code_reviewer: `verdict("code_review", "approve");`,
};

export function makeCoder(roles: Roles = {}, config: Record<string, unknown> = {}): Coder {
  const cli = makeCli({ config: null });
  const agents = Object.entries({ ...GOOD, ...roles }).map(
    ([role, body]) => [role, { command: cli.agent(role, HANDS + body), repairs: 0 }] as const,
  );
  cli.config({ workflow: "coder", test: ["grep -q hello hello.txt"], ...config, agents: Object.fromEntries(agents) });
  const coder: Coder = {
    ...cli,
    t1: cli.task("t1"),
    phase: (id = "t1") => (cli.task(id).readJson("state.json") as { phase: string }).phase,
    way: (id = "t1") => wayOf(cli.task(id)),
    counters: () => cli.task("t1").readJson("state.json")["counters"] as Record<string, number>,
    auto: (...words) => cli.pawl("next", "--auto", ...words),
    answer: (choice, note, id = "t1") =>
      cli.pawl("answer", choice, id, ...(note === undefined ? [] : ["--note", note])),
    said: (name) => cli.read(`../agents/${name}`),
  };
  make(coder, "t1");
  return coder;
}

export function make(coder: Cli, id: string, after: string[] = []): void {
  const task = coder.task(id);
  const more = after.length === 0 ? "" : `after: [${after.join(", ")}]\n`;
  task.write("task.md", `---\ntitle: Say hello\nworkflow: coder\n${more}---\n\nA file hello.txt that says hello.\n`);
}

export type { Printed };

function wayOf(task: TaskFiles): string[] {
  const events = task
    .read("history.jsonl")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { from?: string; to?: string });
  const moves = events.filter(({ from, to }) => from !== undefined && to !== undefined && from !== to);
  return moves.length === 0 ? [] : [moves[0]?.from ?? "", ...moves.map(({ to }) => to ?? "")];
}
