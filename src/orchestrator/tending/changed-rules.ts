/** Were the rules changed that an agent is judged by, while it was at work? */
import type { Finding } from "../../errors.js";
import type { AgentMark } from "../../task/agent-mark.js";
import type { TaskContext } from "../context.js";
import { changed, ruleHashes } from "../watch.js";

export function changedRules(context: TaskContext, { rules }: AgentMark): Finding[] {
  return changed(rules, ruleHashes(context));
}
