/** Many agents at terminals at the same time: nothing that they print may be lost, and what holds them has to be small. */
import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { SessionOrder } from "../src/agents/session/order.js";
import { socketPath } from "../src/agents/session/socket-path.js";
import { startHost, type WaitingHost } from "../src/agents/session/start-host.js";
import { median, plainEnvironment, type Result } from "./measure.js";

const AGENTS = 30;
const LINES = 200;
const EVERY_MS = 50;
/** Of the agents' time: all have begun, and none has ended. */
const MEASURED_MS = 5000;
/** Of the kernel's clock, the same everywhere that /proc is. */
const TICKS_PER_SECOND = 100;

const MOST_TIMES_NODE = 3;
const MOST_CPU_PERCENT = 3;

const AGENT = `let n = 0;
const timer = setInterval(() => {
  console.log("line " + ++n + " of an agent that prints steadily, in \\u001b[3" + (n % 8) + "mcolour\\u001b[0m");
  if (n === ${LINES}) clearInterval(timer);
}, ${EVERY_MS});`;

interface Held {
  order: SessionOrder;
  host: WaitingHost;
}

export async function sessions(): Promise<Result[]> {
  const dir = mkdtempSync(join(tmpdir(), "pawl-bench-sessions-"));
  const env = plainEnvironment();
  const began = performance.now();
  const held = await Promise.all(Array.from({ length: AGENTS }, (_, n) => hold(join(dir, String(n)), env)));
  const started = performance.now() - began;
  const bare = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { env, stdio: "ignore" });
  const figures = process.platform === "linux" ? await measure(held, bare.pid ?? 0) : [];
  await Promise.all(held.map(({ host }) => host.ended()));
  bare.kill();
  const recorded = held.map(({ order }) => linesIn(join(order.run.runDir, "output.log")));
  rmSync(dir, { recursive: true, force: true });
  const lost = recorded.reduce((sum, lines) => sum + LINES - lines, 0);
  return [
    {
      name: `${AGENTS} agents at terminals, side by side`,
      measured: `${lost} of ${AGENTS * LINES} lines lost; all at work after ${(started / 1000).toFixed(1)} s`,
      target: "none lost",
      met: lost === 0,
    },
    ...figures,
  ];
}

async function hold(dir: string, env: Record<string, string>): Promise<Held> {
  const token = randomUUID();
  const place = { taskDir: dir, workspace: dir, cwd: tmpdir(), runDir: join(dir, "run") };
  const about = { role: "worker", phase: "working", attempt: 1, repair: 0, task: "t1", prompt: "", artifacts: {} };
  const order: SessionOrder = {
    spec: { command: [process.execPath, "-e", AGENT], terminal: true, env: [], set: {}, repairs: 0 },
    run: { ...about, ...place, env, token },
    pawlBin: dir,
    socket: socketPath(dir, createHash("sha256").update(token).digest("hex")),
    then: null,
  };
  const host = startHost(env);
  const begun = await host.begin(order);
  if (begun.kind === "failed") throw new Error(begun.why);
  return { order, host };
}

async function measure(held: Held[], bare: number): Promise<Result[]> {
  const pids = held.map(({ host }) => host.identity.pid);
  const before = pids.map(ticksOf);
  const began = performance.now();
  await pause(MEASURED_MS);
  const seconds = (performance.now() - began) / 1000;
  const percents = pids.map((pid, index) => ((ticksOf(pid) - (before[index] ?? 0)) / TICKS_PER_SECOND / seconds) * 100);
  const memory = pids.map(memoryOf);
  const own = median(memory.map((each) => each.own));
  const shared = median(memory.map((each) => each.shared));
  const resident = median(memory.map((each) => each.resident));
  const times = shared / memoryOf(bare).shared;
  const cpu = percents.reduce((sum, percent) => sum + percent, 0) / percents.length;
  return [
    {
      name: "memory of what holds one of them",
      measured: `${times.toFixed(2)} of a bare node (PSS ${shared.toFixed(0)} MiB; of its own ${own.toFixed(0)}, resident ${resident.toFixed(0)})`,
      target: `at most ${MOST_TIMES_NODE}`,
      met: times <= MOST_TIMES_NODE,
    },
    {
      name: `processor time of what holds one of them, at ${1000 / EVERY_MS} lines a second`,
      measured: `${cpu.toFixed(1)} % of one processor`,
      target: `at most ${MOST_CPU_PERCENT} %`,
      met: cpu <= MOST_CPU_PERCENT,
    },
  ];
}

/** In user and system mode. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

/** In MiB. `shared`: with its part of what it shares with others (PSS). */
function memoryOf(pid: number): { resident: number; shared: number; own: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const read = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1]) / 1024;
  return { resident: read("Rss"), shared: read("Pss"), own: read("Private_Dirty") };
}

function linesIn(file: string): number {
  const numbers = [...readFileSync(file, "utf8").matchAll(/^line (\d+) .*\r$/gm)].map(([, number]) => Number(number));
  return numbers.filter((number, index) => number === index + 1).length;
}
