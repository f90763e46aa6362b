import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BatchOutcome, TaskResult } from "../../src/orchestrator/batch/batch.js";
import { reportOf, toJUnit } from "../../src/orchestrator/batch/report.js";

const OUTCOMES: BatchOutcome[] = ["arrived", "waiting", "refused", "failed", "blocked", "stopped"];

function resultOf(outcome: BatchOutcome, reason = "why", id: string = outcome): TaskResult {
  return { id, outcome, phase: "planning", steps: 1, reason, durationMs: 1500 };
}

describe("the report of a batch", () => {
  it("is ok only when all have arrived", () => {
    expect(reportOf([resultOf("arrived")]).ok).toBe(true);
    for (const outcome of OUTCOMES.slice(1)) {
      const report = reportOf([resultOf("arrived"), resultOf(outcome)]);
      expect(report.ok, outcome).toBe(false);
      expect(report.totals).toMatchObject({ arrived: 1, [outcome]: 1 });
    }
  });

  it("counts for JUnit: refused is a failure, failed an error, the rest was skipped", () => {
    const xml = toJUnit(reportOf(OUTCOMES.map((outcome) => resultOf(outcome))));
    expect(xml).toContain('<testsuites tests="6" failures="1" errors="1" skipped="3" time="9.000">');
    expect(xml).toContain('<testcase classname="pawl" name="arrived" time="1.500"/>');
    expect(xml).toContain('<failure message="planning: why" type="refused"/>');
    expect(xml).toContain('<error message="planning: why" type="failed"/>');
    expect(xml.match(/<skipped message="planning: why"\/>/g)).toHaveLength(3);
  });

  it("is well-formed XML whatever the reasons are", () => {
    const text = fc.string({ unit: "binary", maxLength: 30 });
    fc.assert(
      fc.property(text, text, fc.constantFrom(...OUTCOMES), (reason, id, outcome) => {
        const xml = toJUnit(reportOf([resultOf(outcome, reason, id)]));
        const rest = xml.replace(/<\?xml [^<>]*\?>|<\/?[a-z]+(?: [a-z]+="(?:[^"<&]|&[a-z]+;|&#10;)*")*\/?>|\s+/g, "");
        expect(rest).toBe("");
        // Characters that XML does not know at all.
        expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
      }),
    );
  });
});
