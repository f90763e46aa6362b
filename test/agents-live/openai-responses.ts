/** The OpenAI responses API, streamed: what Codex speaks. */
import { eventStream, textOf, TOKENS, type Move, type Wire } from "./conversation.js";

interface Body {
  input?: { type?: string; role?: string; content?: unknown; output?: unknown }[];
  tools?: { type: string; name: string; parameters?: Record<string, unknown> }[];
}

const RESULTS = ["function_call_output", "custom_tool_call_output"];

export const openAiResponses: Wire = {
  read(path, body) {
    if (!path.endsWith("/responses")) return null;
    const { input = [], tools = [] } = body as Body;
    return {
      prompt: input
        .filter(({ role }) => role === "user")
        .map(({ content }) => textOf(content))
        .join("\n"),
      tools: tools
        .filter(({ type }) => type === "function" || type === "custom")
        .map(({ name, parameters }) => ({ name, parameters: parameters ?? null })),
      results: input.filter(({ type }) => RESULTS.includes(type ?? "")).map(({ output }) => textOf(output)),
    };
  },
  write(_path, move, call) {
    const id = `response-${call}`;
    const { input, output } = TOKENS;
    const usage = {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    };
    return eventStream([
      { type: "response.created", response: { id } },
      { type: "response.output_item.done", output_index: 0, item: itemOf(move, call) },
      { type: "response.completed", response: { id, usage, output: [] } },
    ]);
  },
};

function itemOf(move: Move, call: number): Record<string, unknown> {
  if (move.kind === "say") {
    return {
      type: "message",
      id: `message-${call}`,
      role: "assistant",
      content: [{ type: "output_text", text: move.text, annotations: [] }],
    };
  }
  const shared = { id: `item-${call}`, call_id: `call-${call}`, name: move.tool };
  return typeof move.input === "string"
    ? { type: "custom_tool_call", ...shared, input: move.input }
    : { type: "function_call", ...shared, arguments: JSON.stringify(move.input) };
}
