/** What a document counts. Pure. */
import type { Workflow } from "./types.js";

/** The counters that some row counts, in the order of the table. */
export function countersOf({ transitions }: Workflow): string[] {
  const counted = transitions.flatMap(({ actions }) => actions.filter(({ name }) => name === "count"));
  return [...new Set(counted.flatMap(({ args }) => args))];
}
