/** What a phase leaves, or may leave. Pure. */
import type { Phase } from "./types.js";

/** All of it: what was there before the phase began says nothing about it. */
export function allLeft({ leaves, mayLeave }: Pick<Phase, "leaves" | "mayLeave">): string[] {
  return [...leaves, ...mayLeave];
}
