import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeFinding, fingerprintOf, type Failure, type FailureKind } from "../../src/orchestrator/failure.js";

const FAILURE: Failure = {
  kind: "invalid-artifact",
  summary: "plan.json: /title expected a string, found 7",
  findings: [{ message: "no", file: "plan.json", pointer: "/title", expected: "a string", found: "7" }],
};

describe("the fingerprint of a failure", () => {
  it("tells exit codes apart", () => {
    const ended = (exitCode: number): string =>
      fingerprintOf({ kind: "crashed", summary: `the agent exited with ${exitCode}`, exitCode, findings: [] });
    expect(ended(1)).not.toBe(ended(2));
    expect(ended(1)).toBe(ended(1));
  });

  it("does not see numbers: times, ports, attempts", () => {
    const at = (summary: string): string => fingerprintOf({ ...FAILURE, summary });
    expect(at("port 8080 is taken after 12 ms")).toBe(at("port 9 is taken after 7000  ms"));
  });

  it.each<[string, Partial<Failure>]>([
    ["another kind", { kind: "crashed" }],
    ["another summary", { summary: "something else" }],
    ["no findings", { findings: [] }],
    ["another place", { findings: [{ ...FAILURE.findings[0], message: "no", pointer: "/summary" }] }],
    ["something else expected", { findings: [{ ...FAILURE.findings[0], message: "no", expected: "a list" }] }],
    ["something else found", { findings: [{ ...FAILURE.findings[0], message: "no", found: '"x"' }] }],
  ])("is another for %s", (_name, change) => {
    expect(fingerprintOf({ ...FAILURE, ...change })).not.toBe(fingerprintOf(FAILURE));
  });

  it("is the same for the same, whatever that is", () => {
    const kinds: FailureKind[] = ["crashed", "crashed-with-artifact", "timeout", "not-found", "no-artifact", "check"];
    const finding = fc.record({ message: fc.string(), pointer: fc.string(), found: fc.string() });
    const failure = fc.record({
      kind: fc.constantFrom(...kinds),
      summary: fc.string(),
      findings: fc.array(finding, { maxLength: 3 }),
    });
    fc.assert(fc.property(failure, (one) => fingerprintOf(structuredClone(one)) === fingerprintOf(one)));
  });
});

describe("a finding in words", () => {
  it("says place, expected and found", () => {
    const finding = { message: "is wrong", file: "plan.json", pointer: "/title", expected: "a string", found: "7" };
    expect(describeFinding(finding)).toBe("plan.json /title: is wrong (expected a string, found 7)");
  });

  it("does not say it twice", () => {
    const message = "plan.json: /title expected a string, found 7";
    expect(describeFinding({ message, file: "plan.json", expected: "a string", found: "7" })).toBe(message);
  });

  it("leaves out what there is not", () => {
    expect(describeFinding({ message: "plan.json is missing" })).toBe("plan.json is missing");
    expect(describeFinding({ message: "is missing", file: "plan.json" })).toBe("plan.json: is missing");
  });
});
