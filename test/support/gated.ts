/** A task of the gated workflow, with scripted agents in real pseudo-terminals. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { appears, makeCli, type Cli, type HistoryEvent, type Result, type TaskFiles } from "./cli.js";

export interface Gated extends Cli {
  t1: TaskFiles;
  /** As the history has it, which is written after the state. */
  status(): string;
  counter(name: string): number;
  history(): HistoryEvent[];
  /** Types of the events, in order. */
  types(): string[];
  /** The mark of the agent at work, as the state has it. */
  mark(): Mark | undefined;
  /** Waits until it holds, by looking at nothing but files. */
  until(holds: () => boolean, what: string): Promise<void>;
  /** What an agent said by `say(…)`. */
  said(name: string): string;
}

export interface Mark {
  role: string;
  host: { pid: number; started: string };
  agent?: { pid: number; started: string };
  socket: string;
  token: string;
}

export interface GatedOptions {
  worker?: string;
  reviewer?: string;
  terminal?: boolean;
  git?: boolean;
  config?: Record<string, unknown>;
}

/** Only so that a test fails with what it waited for, and not by the runner's time limit. */
const PATIENCE_MS = 60_000;

/** What every scripted agent can do. */
const HANDS = `
const { spawnSync } = require("node:child_process");
const taskFile = path.join(env.PAWL_TASK_DIR, "TASK.md");
const section = (heading, text) => fs.appendFileSync(taskFile, "\\n## " + heading + "\\n\\n" + text + "\\n");
const say = (name, text = "") => fs.writeFileSync(path.join(__dirname, name), text);
const pawl = (...args) => {
  const { status, stdout, stderr } = spawnSync("pawl", args, { encoding: "utf8" });
  return { code: status, text: stdout + stderr };
};
const update = (status) => pawl("task", "update", "--status", status);
const change = (file, text) => {
  fs.writeFileSync(file, text);
  spawnSync("git", ["add", "--all"]);
  spawnSync("git", ["commit", "--quiet", "-m", "work"]);
};
const forEver = () => setInterval(() => undefined, 1 << 30);
/** Until the test says so. */
const waitFor = (name) => {
  while (!fs.existsSync(path.join(__dirname, name))) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
};
const round = Number(env.PAWL_ATTEMPT);
`;

export const DOES_IT = `change("hello.txt", "hello " + round + "\\n"); section("Handoff", "DONE: hello " + round);`;

export function makeGated({ worker, reviewer, terminal = true, git = true, config = {} }: GatedOptions = {}): Gated {
  const cli = makeCli({ config: null, git });
  const agents = Object.entries({ worker, reviewer }).flatMap(([role, body]) =>
    body === undefined ? [] : [[role, { command: cli.agent(role, HANDS + body), terminal }] as const],
  );
  cli.config({ workflow: "gated-task", ...config, agents: Object.fromEntries(agents) });
  const made = cli.pawl("new", "Say hello", "--id", "t1");
  if (made.code !== 0) throw new Error(made.stderr);
  const t1 = cli.task("t1");
  const state = (): { counters: Record<string, number>; agents?: Mark[] } => t1.readJson("state.json") as never;
  onTestFinished(() => {
    for (const mark of state().agents ?? []) endNow(mark);
  });
  return {
    ...cli,
    t1,
    status: () => historyIn(t1).at(-1)?.to ?? "",
    counter: (name) => state().counters[name] ?? 0,
    history: () => historyIn(t1),
    types: () => historyIn(t1).map(({ type }) => type),
    mark: () => state().agents?.at(-1),
    until: async (holds, what) => {
      const deadline = performance.now() + PATIENCE_MS;
      while (!holds()) {
        if (performance.now() > deadline)
          throw new Error(`waited for ${what}; ${JSON.stringify(historyIn(t1), null, 1)}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    said: (name) => readFileSync(join(cli.root, "agents", name), "utf8"),
  };
}

/** Lets agents that wait for it go on. */
export function signalTo(cli: Cli, name: string): void {
  cli.write(join("..", "agents", name), "");
}

export function saidFile(cli: Cli, name: string): string {
  return join(cli.root, "agents", name);
}

export async function saidBy(cli: Cli, name: string): Promise<void> {
  await appears(saidFile(cli, name));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** Sockets of sessions that are left. */
export function sockets(cli: Cli): string[] {
  try {
    return readdirSync(join(cli.dir, ".pawl", "sessions"));
  } catch {
    return [];
  }
}

export function must(result: Result): Result {
  if (result.code !== 0) throw new Error(`exit ${result.code}: ${result.stdout}${result.stderr}`);
  return result;
}

function historyIn(task: TaskFiles): HistoryEvent[] {
  const lines = task.read("history.jsonl").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as HistoryEvent);
}

function endNow({ host, agent }: Mark): void {
  for (const each of [agent, host]) {
    try {
      if (each !== undefined) process.kill(each.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}
