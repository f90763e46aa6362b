/** What a host is told, and what it answers. */
import type { ProcessIdentity } from "../../process/identity.js";
import type { AgentRun, AgentSpec } from "../types.js";

export interface SessionOrder {
  spec: AgentSpec;
  /** What can be written down. */
  run: Omit<AgentRun, "signal" | "progress" | "onStart">;
  pawlBin: string;
  /** Where people can attach to it. */
  socket: string;
  /** Started when the agent and its host have ended. */
  then: { command: string[]; cwd: string } | null;
}

export type Begun =
  | {
      kind: "started";
      /** Null where it is no process of its own. */
      agent: ProcessIdentity | null;
      /** Nobody can attach to it, and why. */
      problem?: string;
    }
  | { kind: "failed"; why: string };
