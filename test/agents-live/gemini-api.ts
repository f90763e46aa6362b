/** The Gemini API: what Gemini CLI speaks. */
import { eventStream, textOf, TOKENS, type Wire } from "./conversation.js";

interface Part {
  text?: string;
  functionResponse?: unknown;
}

interface Body {
  contents?: { role?: string; parts?: Part[] }[];
  tools?: { functionDeclarations?: { name: string; parametersJsonSchema?: Record<string, unknown> }[] }[];
}

export const gemini: Wire = {
  read(path, body) {
    if (!/:(stream)?generateContent$/i.test(path)) return null;
    const { contents = [], tools = [] } = body as Body;
    const parts = contents.filter(({ role }) => role === "user").flatMap((content) => content.parts ?? []);
    return {
      prompt: textOf(parts),
      tools: tools
        .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
        .map(({ name, parametersJsonSchema }) => ({ name, parameters: parametersJsonSchema ?? null })),
      results: parts.flatMap(({ functionResponse }) =>
        functionResponse === undefined ? [] : [JSON.stringify(functionResponse)],
      ),
    };
  },
  write(path, move) {
    const part = move.kind === "say" ? { text: move.text } : { functionCall: { name: move.tool, args: move.input } };
    const { input, output } = TOKENS;
    const reply = {
      candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
      modelVersion: "scripted",
    };
    return path.includes(":stream") ? eventStream([reply]) : { type: "application/json", body: JSON.stringify(reply) };
  },
};
