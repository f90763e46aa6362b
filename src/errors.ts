/**
 * The errors of pawl. A leaf: imports nothing, so that every room can throw them.
 *
 * One class, told apart by `kind`; the kind decides the exit code. A message says what was expected, what was found and
 * where; `hint` says what to do next.
 */

export type ErrorKind = "refused" | "usage" | "invalid" | "failed" | "halted" | "interrupted";

const EXIT_CODES: Record<ErrorKind, number> = {
  refused: 1,
  usage: 2,
  invalid: 3,
  failed: 4,
  halted: 10,
  interrupted: 130,
};

/** One thing that is wrong, precise enough for a person or an agent to mend it. */
export interface Finding {
  message: string;
  file?: string;
  line?: number;
  column?: number;
  /** JSON pointer into `file`. */
  pointer?: string;
  expected?: string;
  found?: string;
  hint?: string;
}

export interface ErrorOptions {
  hint?: string;
  findings?: Finding[];
  cause?: unknown;
  /** Extra data for `--json`. */
  data?: Record<string, unknown>;
}

export class PawlError extends Error {
  readonly kind: ErrorKind;
  readonly hint: string | undefined;
  readonly findings: Finding[];
  readonly data: Record<string, unknown> | undefined;

  constructor(kind: ErrorKind, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "PawlError";
    this.kind = kind;
    this.hint = options.hint;
    this.findings = options.findings ?? [];
    this.data = options.data;
  }
}

/** A gate is closed. */
export function refused(message: string, options?: ErrorOptions): PawlError {
  return new PawlError("refused", message, options);
}

/** The command was called wrongly. */
export function usage(message: string, options?: ErrorOptions): PawlError {
  return new PawlError("usage", message, options);
}

/** Something on disk is invalid: spec, state, artifact, configuration. */
export function invalid(message: string, options?: ErrorOptions): PawlError {
  return new PawlError("invalid", message, options);
}

/** An agent, check or git command could not do its work. */
export function failed(message: string, options?: ErrorOptions): PawlError {
  return new PawlError("failed", message, options);
}

/** A human is needed. */
export function halted(message: string, options?: ErrorOptions): PawlError {
  return new PawlError("halted", message, options);
}

export function interrupted(message: string, options?: ErrorOptions): PawlError {
  return new PawlError("interrupted", message, options);
}

export function exitCode(kind: ErrorKind): number {
  return EXIT_CODES[kind];
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a Node system error, such as ENOENT. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** The candidate nearest to a mistyped word, if any is near enough to be meant. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Two neighbours that changed places are one slip of the hand. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (beforePrevious[j - 2] ?? Infinity) + 1 : Infinity;
      current.push(Math.min(substitution, swapped, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    [beforePrevious, previous] = [previous, current];
  }
  return previous[b.length] ?? 0;
}
