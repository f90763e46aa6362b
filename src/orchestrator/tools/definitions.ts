/** The agent's tools: their names, descriptions and schemas are the files system/schemas/tool-*.schema.json. */
import { loadSchema } from "../../system/schemas.js";
import type { ToolDefinition } from "./types.js";

export const TOOL_NAMES = ["get_task", "submit_work", "request_scope_reduction", "escalate_for_external_help"] as const;
/** For a task of the workspace, in a phase that lets its agent ask. */
export const ASK_TOOL = "ask_question";
export const ALL_TOOLS = [...TOOL_NAMES, ASK_TOOL] as const;
export type ToolName = (typeof ALL_TOOLS)[number];

export function toolSchema(name: ToolName): string {
  return `tool-${name.replaceAll("_", "-")}.schema.json`;
}

/** The same list in every state: a tool that is locked says so when it is called. */
export function toolDefinitions(workspace: string, { forTask = false } = {}): ToolDefinition[] {
  return (forTask ? ALL_TOOLS : TOOL_NAMES).map((name) => {
    const { description, type, properties, required, additionalProperties } = loadSchema(
      toolSchema(name),
      workspace,
    ).schema;
    return {
      name,
      description: String(description),
      inputSchema: { type, properties, required, additionalProperties },
    };
  });
}
