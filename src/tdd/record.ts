/** What pawl remembers of a test-driven run besides the documented fields: the field `tdd` of the state file. */
import type { ActivePr } from "./active-pr.js";

export interface TddRecord {
  /** The plan as pawl accepted or last changed it; ACTIVE_PR.json has to say the same. */
  plan?: ActivePr;
  /** Hash of the plan before that: ACTIVE_PR.json may still be that one when pawl died in between. */
  planBefore?: string;
  /** Hash of a plan that was put away: ACTIVE_PR.json is removed while it is that one. */
  putAway?: string;
  /** The branch that the pull request goes to. */
  base?: string;
  /** Files that git did not track when the branch was made: somebody else's. */
  untracked?: string[];
  /** The commit that was there when a step was finished: until there is another, the agent is asked for it. */
  checkpoint?: { head: string | null };
  /** A RED test that failed, and waits for the agent's judgment. */
  pending?: RedTest;
  /** The RED test of the present task, confirmed. */
  red?: RedTest & { task: string };
  /** The test that failed, and led into debugging. */
  failed?: { command: string; expectation: "PASS" | "FAIL" };
  /** What led into planning anew. */
  replanning?: { goal: string };
  /** What the reviewer approved. */
  reviewed?: { commit: string; tree: string };
  /** Where the run was halted, and why. */
  halted?: { phase: string; reason: string };
}

export interface RedTest {
  command: string;
  /** The complete output, on disk. */
  log: string;
  output: string;
  /** Test files that the step added. */
  files: string[];
  /** How many tests ran; null where that cannot be told. */
  tests: number | null;
}

export function tddRecord(fields: Readonly<Record<string, unknown>>): TddRecord {
  return fields["tdd"] ?? {};
}
