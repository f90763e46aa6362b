/** What a batch costs beside the bare processes of the agents that it runs, and whether many tasks all arrive. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, plainEnvironment, runNode, type Result } from "./measure.js";

const TASKS = 200;
/** Planning and plan review: one run of an agent each, and no git. */
const PHASES = 2;
/** One after the other, which shows what a phase costs by itself; and as many as a batch would run. */
const JOBS = [1, 8];
const ROUNDS = 3;

/** Leaves whatever the phase asks for. The bare run does the same work with the same program. */
const AGENT = `
const { writeFileSync } = require("node:fs");
const artifacts = JSON.parse(process.env.PAWL_ARTIFACTS);
const plan = { title: "t", summary: "s", tasks: [{ id: "1", title: "t" }], files: [], acceptance: [] };
const review = { ok: true, decision: "accepted", reasons: [], blocking_issues: [] };
for (const [name, path] of Object.entries(artifacts)) writeFileSync(path, JSON.stringify(name === "plan" ? plan : review));
`;

export async function batch(program: string): Promise<Result[]> {
  const results: Result[] = [];
  for (const jobs of JOBS) results.push(...(await overhead(program, jobs)));
  return results;
}

async function overhead(program: string, jobs: number): Promise<Result[]> {
  const env = plainEnvironment();
  const ratios: number[] = [];
  const arrived: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const cwd = makeWorkspace(TASKS);
    const bare = await time(() => bareProcesses(cwd, env, jobs));
    const command = ["batch", "tasks", "--jobs", String(jobs), "--until", "codegen", "--report", "report.json"];
    const pawl = await time(async () => runNode([program, ...command], { cwd, env }));
    ratios.push(pawl / bare);
    const report = JSON.parse(readFileSync(join(cwd, "report.json"), "utf8")) as { totals: { arrived: number } };
    arrived.push(report.totals.arrived);
  }
  const ratio = median(ratios);
  const what = `${TASKS} tasks, ${PHASES} phases each, ${jobs} at the same time`;
  return [
    {
      name: `${what}, beside the bare processes of their agents`,
      measured: `${ratio.toFixed(2)} times`,
      target: "at most 1.5 times",
      met: ratio <= 1.5,
    },
    {
      name: what,
      measured: `${Math.min(...arrived)} arrived`,
      target: `${TASKS}`,
      met: arrived.every((count) => count === TASKS),
    },
  ];
}

function makeWorkspace(tasks: number): string {
  const cwd = mkdtempSync(join(tmpdir(), "pawl-bench-batch-"));
  writeFileSync(join(cwd, "agent.cjs"), AGENT);
  writeFileSync(
    join(cwd, "pawl.json"),
    JSON.stringify({ agents: { default: { command: [process.execPath, join(cwd, "agent.cjs")] } } }),
  );
  for (let n = 1; n <= tasks; n++) {
    mkdirSync(join(cwd, "tasks", `t${n}`), { recursive: true });
    writeFileSync(join(cwd, "tasks", `t${n}`, "task.md"), `---\ntitle: Task ${n}\n---\n\nDo it.\n`);
  }
  return cwd;
}

/** The same number of the same processes, as many at the same time. */
async function bareProcesses(cwd: string, env: Record<string, string>, jobs: number): Promise<void> {
  let left = TASKS * PHASES;
  const artifacts = JSON.stringify({ plan: join(cwd, "bare.json") });
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      await new Promise((resolve) =>
        spawn(process.execPath, [join(cwd, "agent.cjs")], {
          cwd,
          env: { ...env, PAWL_ARTIFACTS: artifacts },
          stdio: "pipe",
        }).once("close", resolve),
      );
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
}

async function time(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
