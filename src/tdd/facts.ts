/** What pawl found out by itself when a tool was called: `event.*` of the table's conditions, and what the row's actions need. */
import type { ActivePr, PlanStanding, ReviewFinding } from "./active-pr.js";
import type { RedTest } from "./record.js";

export interface Facts {
  /** There was no state file. */
  fresh: boolean;
  plan: "none" | "invalid" | PlanStanding;
  /** `found`: due, by a plan that somebody wrote by hand; `made`: asked for before, and there now. */
  checkpoint: "none" | "found" | "due" | "made";
  /** Submissions that failed since the last success. */
  attempts: number;
  result:
    | "none"
    /** The plan that the agent wrote. */
    | "accepted"
    | "malformed"
    /** Test and preflight passed, as expected. */
    | "passed"
    | "failed"
    /** Failed as expected. */
    | "red"
    /** Passed, though a failure was expected. */
    | "unexpected"
    /** The agent's judgment on a RED test. */
    | "confirmed"
    | "denied"
    | "squashed"
    | "marked";
  review: "none" | "approved" | "findings" | "failed";
  merge: "none" | "clean" | "conflict" | "already";
  /** The test of the current step itself passed. */
  own: boolean;
  /** The current step mends what a review found, and is the last open one. */
  fix: boolean;
  commits: number;
  /** What went wrong, in one line. */
  problem: string;
  [material: string]: unknown;
}

/** What only actions look at. */
export interface Material {
  pr?: ActivePr;
  /** Verbatim, bounded. */
  output?: string;
  command?: string;
  expectation?: "PASS" | "FAIL";
  redTest?: RedTest;
  findings?: ReviewFinding[];
  commit?: string;
  planFile?: string;
  /** What a halted run has to say to whoever looks at it. */
  error?: string;
}

export const NO_FACTS: Facts = {
  fresh: false,
  plan: "none",
  checkpoint: "none",
  attempts: 0,
  result: "none",
  review: "none",
  merge: "none",
  own: false,
  fix: false,
  commits: 0,
  problem: "",
};

export function materialOf(payload: Readonly<Record<string, unknown>>): Facts & Material {
  return payload as Facts & Material;
}
