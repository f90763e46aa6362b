/** A human's answer as an artifact. The schema says where its parts go, by the keyword `x-answer`. */
import type { JsonSchema } from "../system/schemas.js";

export interface Answer {
  /** Left out where the artifact itself was given: then only what nobody else can fill in is. */
  choice?: string;
  note?: string;
  to?: string;
  who: string;
  now: Date;
  evidence: Record<string, string>;
}

/** The choices that a schema offers; null when it takes no answers. */
export function answerableFields(schema: JsonSchema): { choices: string[] } | null {
  for (const property of Object.values(properties(schema))) {
    if (property["x-answer"] === "choice" && Array.isArray(property["enum"]))
      return { choices: property["enum"] as string[] };
  }
  return null;
}

export function answerData(schema: JsonSchema, answer: Answer): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties(schema))) {
    const value = part(property["x-answer"], answer);
    if (value !== undefined) data[name] = value;
  }
  return data;
}

function part(from: unknown, answer: Answer): unknown {
  // A map tells the field's value for each choice.
  if (typeof from === "object" && from !== null) return (from as Record<string, unknown>)[answer.choice ?? ""];
  const notes = answer.note === undefined || answer.note.trim() === "" ? [] : [answer.note.trim()];
  switch (from) {
    case "choice":
      return answer.choice;
    case "notes":
      return answer.choice === undefined && notes.length === 0 ? undefined : notes;
    case "issues":
      if (answer.choice === undefined) return undefined;
      return answer.choice === "accepted" ? [] : notes;
    case "who":
      return answer.who;
    case "to":
      return answer.to;
    case "evidence":
      return answer.evidence;
    case "now":
      return answer.now.toISOString();
    default:
      return undefined;
  }
}

function properties(schema: JsonSchema): Record<string, JsonSchema> {
  return (schema["properties"] ?? {}) as Record<string, JsonSchema>;
}
