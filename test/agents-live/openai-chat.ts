/** OpenAI chat completions, streamed: what opencode speaks to a provider of one's own. */
import { eventStream, textOf, TOKENS, type Wire } from "./conversation.js";

interface Body {
  messages?: { role: string; content?: unknown }[];
  tools?: { function: { name: string; parameters: Record<string, unknown> } }[];
}

export const openAiChat: Wire = {
  read(path, body) {
    if (!path.endsWith("/chat/completions")) return null;
    const { messages = [], tools = [] } = body as Body;
    const of = (role: string): string[] =>
      messages.filter((each) => each.role === role).map((each) => textOf(each.content));
    return {
      prompt: of("user").join("\n"),
      tools: tools.map(({ function: { name, parameters } }) => ({ name, parameters })),
      results: of("tool"),
    };
  },
  write(_path, move, call) {
    const chunk = (delta: Record<string, unknown>, finish: string | null = null): Record<string, unknown> => ({
      id: `chat-${call}`,
      object: "chat.completion.chunk",
      created: 0,
      model: "scripted",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const said =
      move.kind === "say"
        ? { content: move.text }
        : {
            tool_calls: [
              {
                index: 0,
                id: `call-${call}`,
                type: "function",
                function: { name: move.tool, arguments: JSON.stringify(move.input) },
              },
            ],
          };
    const { input, output } = TOKENS;
    return eventStream([
      chunk({ role: "assistant", content: "" }),
      chunk(said),
      chunk({}, move.kind === "say" ? "stop" : "tool_calls"),
      {
        ...chunk({}),
        choices: [],
        usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
      },
      "[DONE]",
    ]);
  },
};
