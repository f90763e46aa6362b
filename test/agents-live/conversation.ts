/** What a scripted model is asked and what it answers, whatever the wire format. */

export interface Tool {
  name: string;
  /** JSON Schema of its arguments; null where it takes free text. */
  parameters: Record<string, unknown> | null;
}

export interface Conversation {
  /** All that the user's side said, in order. */
  prompt: string;
  tools: Tool[];
  /** The results of the tool calls so far. */
  results: string[];
}

export type Move =
  { kind: "call"; tool: string; input: Record<string, unknown> | string } | { kind: "say"; text: string };

/** Invented, so that it can be told whether they arrive in pawl's record. */
export const TOKENS = { input: 1200, output: 34 };

export interface Wire {
  /** Null where the request is none for a reply of the model. */
  read(path: string, body: unknown): Conversation | null;
  /** The whole body of the answer, and its type. */
  write(path: string, move: Move, call: number): { type: string; body: string };
}

/** One server-sent event for each value; with a name where the value has a `type`. */
export function eventStream(values: (Record<string, unknown> | string)[]): { type: string; body: string } {
  const body = values
    .map((value) => {
      if (typeof value === "string") return `data: ${value}\n\n`;
      const name = typeof value["type"] === "string" ? `event: ${value["type"]}\n` : "";
      return `${name}data: ${JSON.stringify(value)}\n\n`;
    })
    .join("");
  return { type: "text/event-stream", body };
}

/** The text of a content that is a string or a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === undefined ? "" : JSON.stringify(content);
  return content.map((part: { text?: unknown }) => (typeof part.text === "string" ? part.text : "")).join("\n");
}
