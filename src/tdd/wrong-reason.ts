/** Did a RED test fail because the command itself could not run? PURE; a guess, for the agent that has to judge it. */

export interface FailedRun {
  outcome: "exited" | "timeout" | "interrupted" | "not-found" | "not-started";
  exitCode: number | null;
  output: string;
  /** How many tests ran; null where that cannot be told. */
  tests: number | null;
}

/** Null where nothing speaks against the failure. */
export function wrongReason({ outcome, exitCode, output, tests }: FailedRun): string | null {
  if (outcome === "timeout") return "the command did not end within its time limit";
  if (outcome !== "exited") return "the command could not be started";
  if (exitCode === 127) return "the shell did not find the command (exit code 127)";
  if (exitCode === 126) return "the shell could not execute the command (exit code 126)";
  if (exitCode === null) return "the command was ended by a signal";
  if (tests !== null && tests > 0) return null;
  if (/^(bash|sh): .*syntax error/m.test(output)) return "the command line itself is no valid shell";
  const broken = SYNTAX.exec(output)?.[0];
  if (broken !== undefined && !NOT_SYNTAX.test(output)) return `no test ran: "${broken.trim()}"`;
  return null;
}

const SYNTAX = /^.*\b(SyntaxError|IndentationError|TabError|Parse error|ParseError|Unexpected token)\b.*$/m;
/** An export that is not there yet is what a RED test is about, though ES modules call it a syntax error. */
const NOT_SYNTAX = /does not provide an export named|has no exported member/;
