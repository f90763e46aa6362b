/** What the README shows, for tests that hold it to its word. */
import { readFileSync } from "node:fs";

export const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

/** The workflow document under "Writing your own workflow", and the schema that it names and pawl does not ship. */
export const README_WORKFLOW = example("fix-a-bug.md", "markdown");
export const README_SCHEMA = example("report.schema.json", "json");

function example(name: string, language: string): string {
  const block = new RegExp(`<!-- example: ${name} -->\\s+\`\`\`${language}\\n([\\s\\S]*?)\\n\`\`\``).exec(README)?.[1];
  if (block === undefined) throw new Error(`the README shows no ${name}`);
  return `${block}\n`;
}
