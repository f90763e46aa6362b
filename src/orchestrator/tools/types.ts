/** What an agent's tool call comes to, whichever surface it came through. */
export interface ToolAnswer {
  /** What the agent reads. It ends with the exact next action. */
  text: string;
  /** The call was refused, or the run is halted: nothing that the agent asked for was done. */
  isError: boolean;
  /** Of the shell command. */
  exitCode: number;
  /** For scripts: the same as one value. */
  json: Record<string, unknown>;
}

export interface ToolDefinition {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}
