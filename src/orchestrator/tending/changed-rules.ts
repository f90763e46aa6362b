/**
 * Were the rules changed that agents are judged by, since the first of them began? They are on record until a human who stepped
 * in has seen what they are now: whoever changed them meanwhile, and in whichever moment.
 */
import type { Finding } from "../../errors.js";
import type { TaskState } from "../../task/state.js";
import type { TaskContext } from "../context.js";
import { changedDocument } from "../suggest.js";
import { changed, ruleHashes, type Hashes } from "../watch.js";

export function changedRules(context: TaskContext, { fields, workflow: { hash } }: TaskState): Finding[] {
  const { file, hash: now } = context.workflow;
  const known = fields["rules"] as Hashes | undefined;
  if (known === undefined) return [];
  const findings = changed(known, ruleHashes(context));
  if (hash === now || findings.some((finding) => finding.file === file)) return findings;
  const message = changedDocument(context.workflow);
  return [...findings, { message, file, expected: hash.slice(0, 12), found: now.slice(0, 12) }];
}

/** The fields with the rules on record, as they are now where they were not. */
export function withRules(context: TaskContext, fields: Record<string, unknown>): Record<string, unknown> {
  return fields["rules"] === undefined ? { ...fields, rules: ruleHashes(context) } : fields;
}
