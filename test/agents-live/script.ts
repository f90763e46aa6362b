/**
 * What the scripted model does: it plays the rehearsal of the sample task, but through the agent's own tools. It knows only
 * what a model knows: the prompt, and what its tools answered. So it mends the plan only when the reviewer's reason stands
 * in the prompt, and the code only when the failed tests do.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Conversation, Move } from "./conversation.js";
import type { Hands } from "./hands.js";

export const SAMPLE = fileURLToPath(new URL("../../tasks/add-slugify/", import.meta.url));

/** The reviewer, having seen the mended change, prints its verdict instead of writing it to a file. */
const MENDED = "NFKD";
const DONE: Move = { kind: "say", text: "Done." };

export function decide(conversation: Conversation, hands: Hands): Move {
  // Side requests, such as for a title of the conversation, come without tools.
  if (conversation.tools.length === 0) return { kind: "say", text: "Add a slugify function" };
  const step = conversation.results.length;
  return movesFor(conversation, hands)[step] ?? DONE;
}

function movesFor({ prompt, results }: Conversation, hands: Hands): Move[] {
  const path = /^Write (\/\S+), then stop/m.exec(prompt)?.[1];
  if (path === undefined) return codegen(prompt, hands);
  if (path.endsWith("planning/plan.json")) {
    const attempt = prompt.includes("Plan a test file") ? 2 : 1;
    return [hands.shell("ls src test"), hands.write(path, sample(`planning/${attempt}/plan.json`))];
  }
  if (path.endsWith("review/plan-review.json")) {
    const attempt = prompt.includes("test/slugify.test.js") ? 2 : 1;
    return [hands.shell("ls src test"), hands.write(path, sample(`plan_review/${attempt}/plan_review.json`))];
  }
  const verdict = sample("review/1/code_review.json");
  const look = hands.shell("git show HEAD");
  return results[0]?.includes(MENDED) === true
    ? [look, { kind: "say", text: `I read the change.\n\n\`\`\`json\n${verdict}\`\`\`\n` }]
    : [look, hands.write(path, verdict)];
}

function codegen(prompt: string, hands: Hands): Move[] {
  if (!/"overall_pass": ?false/.test(prompt)) {
    const files = filesBelow("codegen/1/files").map((file) => hands.write(file, sample(`codegen/1/files/${file}`)));
    return [...files, hands.shell("node --test test/titlecase.test.js")];
  }
  const file = "src/slugify.js";
  return [
    ...hands.edit(file, sample(`codegen/1/files/${file}`), sample(`codegen/2/files/${file}`)),
    hands.shell("node --test"),
  ];
}

export function sample(path: string): string {
  return readFileSync(join(SAMPLE, "rehearsal", path), "utf8");
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(SAMPLE, "rehearsal", folder), { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(SAMPLE, "rehearsal", folder).length + 1))
    .sort();
}
