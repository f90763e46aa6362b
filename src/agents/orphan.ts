/** The agent of a run whose pawl died: it may still be at work, and is ended. */
import { createHash } from "node:crypto";
import { signalMarked } from "../process/marked.js";
import { TOKEN_VARIABLE } from "./environment.js";

/**
 * Ends the agent of a lost run, and what it started itself. Only processes that hold the token of that very run are taken
 * for it: nothing that lies in the task directory, where anybody may write, is asked.
 */
export function endOrphan(tokenHash: string): void {
  const holds = (token: string): boolean => createHash("sha256").update(token).digest("hex") === tokenHash;
  signalMarked({ variable: TOKEN_VARIABLE, holds }, "SIGKILL");
}
