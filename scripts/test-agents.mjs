// Proof with real agents, opt-in: each is installed from npm into a folder of its own and does the sample task through its
// preset, against a scripted model on loopback. No key and no network besides npm.
//
//   npm run test:agents [name …]
import { AGENTS } from "../test/agents-live/agents.ts";
import { install } from "../test/agents-live/install.ts";
import { tryAgent } from "../test/agents-live/try-agent.ts";

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !AGENTS.some((agent) => agent.name === name));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(", ")}; there are: ${AGENTS.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}
let passed = 0;
let failed = 0;
for (const agent of AGENTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  console.log(`${agent.name} (${agent.packageName} ${agent.version})`);
  try {
    const result = await tryAgent(agent, install(agent));
    for (const line of result.lines) console.log(`  ${line}`);
    if (!result.passed) console.log(`  kept for you to look at: ${result.folder}`);
    if (result.passed) passed += 1;
    else failed += 1;
  } catch (error) {
    console.log(`  ✗ ${error instanceof Error ? error.message : String(error)}`);
    failed += 1;
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
