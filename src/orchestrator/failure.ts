/** The ways in which the work of a phase fails, each with its own reason. */
import type { Finding } from "../errors.js";
import { sha256 } from "../workflow/hash.js";

export type FailureKind =
  /** Ended with another exit code than 0, or by a signal. */
  | "crashed"
  /** The same, though it left a valid artifact: which does not count. */
  | "crashed-with-artifact"
  | "timeout"
  | "not-found"
  /** Ended well, and left nothing. */
  | "no-artifact"
  /** Left something that does not fit, repairs included. */
  | "invalid-artifact"
  /** What pawl does itself went wrong. */
  | "check";

export interface Failure {
  kind: FailureKind;
  summary: string;
  exitCode?: number | null;
  findings: Finding[];
}

/** Equal for failures that a third try would only repeat; numbers, such as times and ports, make no difference. */
export function fingerprintOf({ kind, summary, exitCode = null, findings }: Failure): string {
  const plain = (text: string): string => text.replace(/\d+/g, "0").replace(/\s+/g, " ");
  return sha256(
    JSON.stringify([
      kind,
      exitCode,
      plain(summary),
      findings.map(({ file, pointer, expected, found }) => [file, pointer, expected, plain(found ?? "")]),
    ]),
  );
}

export function describeFinding(finding: Finding): string {
  const place = [finding.file, finding.pointer].filter((part) => part !== undefined && part !== "").join(" ");
  const detail =
    finding.expected === undefined ? "" : ` (expected ${finding.expected}, found ${finding.found ?? "something else"})`;
  return finding.message.includes("expected")
    ? finding.message
    : `${place === "" ? "" : `${place}: `}${finding.message}${detail}`;
}
