/** What the protocol serves, without a word of the protocol: its library is loaded by `pawl mcp` alone, from a file of its own. */
import type { ToolAnswer, ToolDefinition } from "../../orchestrator/tools/types.js";

export interface Served {
  version: string;
  instructions: string;
  tools: ToolDefinition[];
  prompt: { name: string; description: string; text: string };
  call(name: string, input: unknown): Promise<Pick<ToolAnswer, "text" | "isError">>;
}

/** Serves until the client closes standard input, or `signal` says so. */
export type Serve = (served: Served, signal: AbortSignal) => Promise<void>;
