/** What the README shows, for tests that hold it to its word. */
import { readFileSync } from "node:fs";

export const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

/** The workflow document under "Writing your own workflow". */
export const README_WORKFLOW =
  /<!-- example: fix-a-bug -->\s+```markdown\n([\s\S]*?)\n```/.exec(README)?.[1] ?? "the README shows no workflow";

/** The schema that this document names and that pawl does not ship. */
export const REPORT_SCHEMA = {
  type: "object",
  required: ["failing"],
  properties: { failing: { type: "boolean" } },
};
