/** The tools over MCP: how soon the server answers, beside bare node, and how long a warm question takes. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { inTurn, median, plainEnvironment, runNode, type Result } from "./measure.js";

const ROUNDS = 15;
const CALLS = 200;
const STEPS = 50;

export async function mcp(program: string): Promise<Result[]> {
  const cwd = mkdtempSync(join(tmpdir(), "pawl-bench-mcp-"));
  const env = plainEnvironment();
  prepare(cwd, env);
  const times = await inTurn(ROUNDS, {
    bare: () => runNode(["-e", "0"], { cwd, env }),
    server: () => initialized(program, cwd, env),
  });
  const ratio = times.server / times.bare;
  const warm = await warmQuestion(program, cwd, env);
  return [
    {
      name: "`pawl mcp` to the answer of `initialize`, beside `node -e 0`",
      measured: `${ratio.toFixed(2)} times (${times.server.toFixed(1)} ms / ${times.bare.toFixed(1)} ms)`,
      target: "at most 5 times",
      met: ratio <= 5,
    },
    {
      name: `warm \`get_task\` over MCP, a plan of ${STEPS} steps`,
      measured: `${warm.toFixed(2)} ms`,
      target: "median at most 5 ms",
      met: warm <= 5,
    },
  ];
}

function prepare(cwd: string, env: Record<string, string>): void {
  spawnSync("git", ["init", "--quiet"], { cwd, env });
  writeFileSync(join(cwd, "ORCHESTRATION_STATE.json"), '{"status": "EXECUTING_TDD"}');
  const tdd_steps = Array.from({ length: STEPS }, (_, n) => ({
    type: "RED",
    description: `Step ${n}`,
    status: "TODO",
  }));
  writeFileSync(
    join(cwd, "ACTIVE_PR.json"),
    JSON.stringify({ prTitle: "feat: x", tasks: [{ taskName: "Core", status: "TODO", tdd_steps }] }),
  );
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

function initialized(program: string, cwd: string, env: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, [program, "mcp"], { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  return new Promise((resolve) =>
    child.stdout.once("data", () => {
      child.kill("SIGKILL");
      resolve();
    }),
  );
}

async function warmQuestion(program: string, cwd: string, env: Record<string, string>): Promise<number> {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program, "mcp"], cwd, env }));
  const times: number[] = [];
  for (let n = 0; n < CALLS; n++) {
    const start = performance.now();
    const { isError } = await client.callTool({ name: "get_task", arguments: {} });
    times.push(performance.now() - start);
    if (isError === true) throw new Error("get_task failed");
  }
  await client.close();
  return median(times);
}
