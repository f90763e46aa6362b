/** The process of an agent is noted beside its log, so that one whose pawl died can be found again, and ended. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identifyProcess, livenessOf, type ProcessIdentity } from "../process/identity.js";

const FILE = "process.json";

export function noteProcess(runDir: string, pid: number): void {
  const identity = identifyProcess(pid);
  if (identity !== undefined) writeFileSync(join(runDir, FILE), `${JSON.stringify(identity)}\n`);
}

/**
 * Ends the agent of a lost run, and what it started itself. The note may have been forged by whoever writes into the task
 * directory; so only a process that holds the token of that very run is taken for it.
 */
export function endOrphan(runDir: string, tokenHash: string): void {
  const identity = readNote(join(runDir, FILE));
  if (identity === undefined || livenessOf(identity) !== "alive" || !holdsToken(identity.pid, tokenHash)) return;
  try {
    process.kill(-identity.pid, "SIGKILL");
  } catch {
    // It ended by itself meanwhile.
  }
}

function readNote(file: string): ProcessIdentity | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const { pid, started } = JSON.parse(readFileSync(file, "utf8")) as Partial<ProcessIdentity>;
    return Number.isSafeInteger(pid) && typeof started === "string" ? { pid: pid as number, started } : undefined;
  } catch {
    return undefined;
  }
}

/** Where the environment of another process cannot be seen, nothing is ended. */
function holdsToken(pid: number, tokenHash: string): boolean {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    const token = variables.find((variable) => variable.startsWith("PAWL_TOKEN="))?.slice("PAWL_TOKEN=".length) ?? "";
    return createHash("sha256").update(token).digest("hex") === tokenHash;
  } catch {
    return false;
  }
}
