/** How long a short command takes beside bare node, and how much memory. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPawl } from "../src/index.js";
import { inTurn, peakMemory, plainEnvironment, runNode, type Result } from "./measure.js";

const TASKS = 20;
const ROUNDS = 25;

export async function startUp(program: string): Promise<Result[]> {
  const cwd = mkdtempSync(join(tmpdir(), "pawl-bench-start-"));
  const env = plainEnvironment();
  const pawl = openPawl({ directory: cwd, env, user: "bench" });
  for (let n = 1; n <= TASKS; n++) await pawl.newTask({ title: `Task ${n}`, id: `t${n}` });
  const command = [program, "next", "t1", "--dry-run", "--json"];
  const times = await inTurn(ROUNDS, {
    bare: () => runNode(["-e", "0"], { cwd, env }),
    pawl: () => runNode(command, { cwd, env }),
  });
  const ratio = times.pawl / times.bare;
  const memory = peakMemory(command, { cwd, env });
  return [
    {
      name: `\`next --dry-run --json\`, ${TASKS} tasks, beside \`node -e 0\``,
      measured: `${ratio.toFixed(2)} times (${times.pawl.toFixed(1)} ms / ${times.bare.toFixed(1)} ms)`,
      target: "at most 2.5 times",
      met: ratio <= 2.5,
    },
    { name: "its memory", measured: `${memory.toFixed(0)} MiB`, target: "at most 90 MiB", met: memory <= 90 },
  ];
}
