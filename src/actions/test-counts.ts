/** Counts of single tests, as well-known runners print them at their end. For people only: the exit code decides. */

export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}

/** The counts in the output's last lines; null where no runner is recognised. */
export function parseTestCounts(output: string): TestCounts | null {
  const lines = output
    .replace(ANSI, "")
    .split(/\r?\n/)
    .map((text) => text.trim());
  return nodeTestCounts(lines) ?? summaryLineCounts(lines);
}

/** `# pass 3`, or `ℹ pass 3` from the other reporter; one line for each count. */
function nodeTestCounts(lines: string[]): TestCounts | null {
  const found = new Map<string, number>();
  for (const text of lines) {
    const match = /^(?:#|ℹ) (pass|fail|skipped) (\d+)$/.exec(text);
    if (match?.[1] !== undefined) found.set(match[1], Number(match[2]));
  }
  const passed = found.get("pass");
  const failed = found.get("fail");
  if (passed === undefined || failed === undefined) return null;
  return { passed, failed, skipped: found.get("skipped") ?? 0 };
}

/** vitest `Tests  1 failed | 2 passed (3)`, jest `Tests: 1 failed, 2 passed, 3 total`, pytest `== 1 failed, 2 passed in 0.1s ==`. */
function summaryLineCounts(lines: string[]): TestCounts | null {
  const line = lines.findLast((text) => /^Tests:?\s+\d+ /.test(text) || /^=*\s*\d+ \w+.* in [\d.]+s/.test(text));
  if (line === undefined) return null;
  const count = (pattern: RegExp): number => Number(pattern.exec(line)?.[1] ?? 0);
  const counts = {
    passed: count(/(\d+) passed/),
    failed: count(/(\d+) failed/) + count(/(\d+) errors?\b/),
    skipped: count(/(\d+) skipped/),
  };
  return counts.passed + counts.failed + counts.skipped > 0 ? counts : null;
}

const ANSI = /\u001b\[[0-9;]*m/g;
