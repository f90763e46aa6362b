/** Is the pull request marked as done in the master plan? PURE. */
import type { Finding } from "../errors.js";

export const DONE_MARK = "[DONE]";
const SHORTEST = 7;

/** Git's short names are enough: the first seven digits have to be there. */
export function checkMark(text: string, file: string, commit: string | undefined): Finding[] {
  const findings: Finding[] = [];
  if (!text.includes(DONE_MARK)) findings.push(missing(file, `the mark ${DONE_MARK} beside the pull request`));
  if (commit !== undefined && !text.includes(commit.slice(0, SHORTEST)))
    findings.push(missing(file, `the commit ${commit.slice(0, SHORTEST)}`));
  return findings;
}

function missing(file: string, expected: string): Finding {
  return { message: `${file}: expected ${expected}, found none`, file, expected, found: "none" };
}
