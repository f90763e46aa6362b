/** `npm run bench`: ratios inside one run, against their targets. Exits with 1 when a target is missed. */
import { fileURLToPath } from "node:url";
import { batch } from "./batch.js";
import { growth } from "./growth.js";
import { mcp } from "./mcp.js";
import { sessions } from "./sessions.js";
import { startUp } from "./start-up.js";
import { transitions } from "./transitions.js";

const program = fileURLToPath(new URL("../bin/pawl.cjs", import.meta.url));
const results = [
  ...(await startUp(program)),
  ...(await transitions()),
  ...(await growth(program)),
  ...(await mcp(program)),
  ...(await batch(program)),
  ...(await sessions()),
];
for (const { name, measured, target, met } of results)
  console.log(`${met ? "met   " : "MISSED"}  ${name}: ${measured} (target: ${target})`);
process.exitCode = results.every(({ met }) => met) ? 0 : 1;
