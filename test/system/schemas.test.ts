import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Finding } from "../../src/errors.js";
import { compileSchema } from "../../src/system/compile-schema.js";
import { loadSchema, validatorFor } from "../../src/system/schemas.js";
import { sha256 } from "../../src/workflow/hash.js";
import { writeAt } from "../support/repository.js";
import { thrownBy } from "../support/errors.js";
import { makeDirectory, PACKAGE } from "../support/workspace.js";

const validate = validatorFor(PACKAGE);
/** The schema as it would be compiled where nothing was built: another hash, the same meaning. */
const atRuntime = (): ReturnType<typeof validatorFor> => {
  const workspace = makeDirectory();
  for (const name of readdirSync(join(PACKAGE, "system", "schemas"))) {
    const text = readFileSync(join(PACKAGE, "system", "schemas", name), "utf8");
    writeAt(join(workspace, "system", "schemas", name), `${text}\n`);
  }
  return validatorFor(workspace);
};

type Json = Record<string, unknown>;
const brief = (findings: Finding[]): string[] =>
  findings.map(({ pointer, expected, found }) => `${pointer ?? ""}: expected ${expected ?? ""}, found ${found ?? ""}`);
const without = (value: Json, ...keys: string[]): Json =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));

const REVIEW = { ok: true, decision: "accepted", reasons: ["right"], blocking_issues: [] };
const NOT_OK = { ok: false, decision: "needs_changes", reasons: ["wrong"], blocking_issues: ["mend it"] };
const FINDING = { file: "a.ts", line: 3, severity: "major", message: "wrong" };
const SUITE = { name: "npm test", command: "npm test", exit_code: 0, duration_ms: 5, log: "test/runs/1/1.log" };
const FILE = { path: "a.ts", status: "modified", additions: 1, deletions: 0 };

/** One valid value for each schema; every field that it must have. */
const VALID: Record<string, { value: Json; required: Record<string, string> }> = {
  "plan.schema.json": {
    value: {
      title: "t",
      summary: "s",
      tasks: [{ id: "1", title: "t" }],
      files: [{ path: "a.ts", intent: "create" }],
      acceptance: ["a"],
      questions: [{ text: "q", blocking: false }],
    },
    required: { title: "a string", summary: "a string", tasks: "an array", files: "an array", acceptance: "an array" },
  },
  "plan-review.schema.json": {
    value: REVIEW,
    required: {
      ok: "a boolean",
      decision: 'one of "accepted", "needs_changes", "blocked"',
      reasons: "an array",
      blocking_issues: "an array",
    },
  },
  "code-review.schema.json": {
    value: { ...REVIEW, findings: [FINDING] },
    required: {
      ok: "a boolean",
      decision: 'one of "accepted", "needs_changes", "blocked", "plan_at_fault"',
      reasons: "an array",
      blocking_issues: "an array",
    },
  },
  "changes.schema.json": {
    value: { base: "b", head: "h", tree: "t", files: [FILE], out_of_scope: [] },
    required: { base: "a string", head: "a string", tree: "a string", files: "an array", out_of_scope: "an array" },
  },
  "eval-report.schema.json": {
    value: { overall_pass: true, summary: { passed: 1, failed: 0, skipped: 0 }, suites: [SUITE] },
    required: { overall_pass: "a boolean", summary: "an object", suites: "an array" },
  },
  "decision.schema.json": {
    value: { verdict: "accepted", reasons: ["r"], decider: "Ada" },
    required: { verdict: 'one of "accepted", "rejected", "deferred"', reasons: "an array", decider: "a string" },
  },
  "revert-record.schema.json": {
    value: { reason: "r", who: "Ada", when: "now", commits: [], impact: "none" },
    required: { reason: "a string", who: "a string", when: "a string", commits: "an array", impact: "a string" },
  },
};

interface Wrong {
  schema: string;
  what: string;
  value: unknown;
  findings: string[];
}

const wrong: Wrong[] = [];
const add = (schema: string, what: string, value: unknown, ...findings: string[]): void =>
  void wrong.push({ schema, what, value, findings });

for (const [schema, { value, required }] of Object.entries(VALID)) {
  for (const [field, expected] of Object.entries(required)) {
    add(schema, `no ${field}`, without(value, field), `/${field}: expected ${expected}, found nothing`);
    for (const other of [expected === "an object" ? "text" : { a: 1 }, null]) {
      const found = `found ${JSON.stringify(other)}`;
      // What is ok has to be accepted besides.
      const besides = field === "decision" ? [`/decision: expected "accepted", ${found}`] : [];
      add(
        schema,
        `${field}: ${JSON.stringify(other)}`,
        { ...value, [field]: other },
        `/${field}: expected ${expected}, ${found}`,
        ...besides,
      );
    }
  }
  for (const other of [[], "text", 1, null, true])
    add(
      schema,
      `${JSON.stringify(other)} instead of an object`,
      other,
      `: expected an object, found ${JSON.stringify(other)}`,
    );
}

const plan = VALID["plan.schema.json"]!.value;
add("plan.schema.json", "a text as tasks", { ...plan, tasks: "text" }, '/tasks: expected an array, found "text"');
add("plan.schema.json", "no task at all", { ...plan, tasks: [] }, "/tasks: expected at least 1 entries, found []");
add(
  "plan.schema.json",
  "a task without a title",
  { ...plan, tasks: [{ id: "1" }] },
  "/tasks/0/title: expected a value, found nothing",
);
add(
  "plan.schema.json",
  "a task with a number as id",
  { ...plan, tasks: [{ id: 1, title: "t" }] },
  "/tasks/0/id: expected a string, found 1",
);
add(
  "plan.schema.json",
  "an unknown intent",
  { ...plan, files: [{ path: "a", intent: "rename" }] },
  '/files/0/intent: expected one of "create", "update", "delete", found "rename"',
);
add(
  "plan.schema.json",
  "an empty path",
  { ...plan, files: [{ path: "", intent: "create" }] },
  '/files/0/path: expected text that is not empty, found ""',
);
add("plan.schema.json", "an empty title", { ...plan, title: "" }, '/title: expected text that is not empty, found ""');
add(
  "plan.schema.json",
  "a question that does not say whether it blocks",
  { ...plan, questions: [{ text: "q" }] },
  "/questions/0/blocking: expected a value, found nothing",
);
add(
  "plan.schema.json",
  "a question that blocks with a word",
  { ...plan, questions: [{ text: "q", blocking: "false" }] },
  '/questions/0/blocking: expected a boolean, found "false"',
);

for (const schema of ["plan-review.schema.json", "code-review.schema.json"]) {
  const isCode = schema.startsWith("code");
  const against = isCode ? 'one of "needs_changes", "blocked", "plan_at_fault"' : 'one of "needs_changes", "blocked"';
  add(schema, "ok as a word", { ...REVIEW, ok: "true" }, '/ok: expected a boolean, found "true"');
  add(schema, "ok as a number", { ...REVIEW, ok: 1 }, "/ok: expected a boolean, found 1");
  add(
    schema,
    "an unknown decision",
    { ...NOT_OK, decision: "approved" },
    `/decision: expected ${VALID[schema]!.required["decision"] ?? ""}, found "approved"`,
    `/decision: expected ${against}, found "approved"`,
  );
  add(
    schema,
    "ok, but changes needed",
    { ...REVIEW, decision: "needs_changes" },
    '/decision: expected "accepted", found "needs_changes"',
  );
  add(schema, "ok, but blocked", { ...REVIEW, decision: "blocked" }, '/decision: expected "accepted", found "blocked"');
  add(
    schema,
    "ok, but with an issue that blocks",
    { ...REVIEW, blocking_issues: ["x"] },
    '/blocking_issues: expected an empty list, found ["x"]',
  );
  add(
    schema,
    "not ok, but accepted",
    { ...NOT_OK, decision: "accepted" },
    `/decision: expected ${against}, found "accepted"`,
  );
  add(
    schema,
    "an aggregate without ok",
    { aggregate: without(REVIEW, "ok") },
    "/aggregate/ok: expected a value, found nothing",
  );
  add(
    schema,
    "an aggregate that is empty",
    { aggregate: {} },
    ...Object.keys(REVIEW).map((key) => `/aggregate/${key}: expected a value, found nothing`),
  );
  add(
    schema,
    "an aggregate that is null",
    { ...REVIEW, aggregate: null },
    "/aggregate: expected an object, found null",
  );
  add(
    schema,
    "an aggregate that contradicts itself",
    { aggregate: { ...REVIEW, blocking_issues: ["x"] } },
    '/aggregate/blocking_issues: expected an empty list, found ["x"]',
  );
  add(
    schema,
    "an aggregate that is against the top",
    { ...REVIEW, aggregate: NOT_OK },
    "/aggregate/ok: expected true, found false",
    '/aggregate/decision: expected "accepted", found "needs_changes"',
    '/aggregate/reasons: expected ["right"], found ["wrong"]',
    '/aggregate/blocking_issues: expected [], found ["mend it"]',
  );
  add(
    schema,
    "an aggregate and a reviewer that are against the top",
    { ok: true, aggregate: NOT_OK, reviewers: [{ ok: false, decision: "needs_changes" }] },
    "/aggregate/ok: expected true, found false",
    "/reviewers/0/ok: expected true, found false",
    '/reviewers/0/decision: expected "accepted", found "needs_changes"',
  );
  add(
    schema,
    "only ok at the top, and another in the aggregate",
    { ok: true, aggregate: NOT_OK },
    "/aggregate/ok: expected true, found false",
  );
  const BLOCKED = { ok: false, decision: "blocked", blocking_issues: ["x"] };
  const APPROVED = { ok: true, decision: "accepted" };
  const disapproval = [
    "/reviewers/1/ok: expected true, found false",
    '/reviewers/1/decision: expected "accepted", found "blocked"',
  ];
  add(schema, "ok, though a reviewer is not", { ...REVIEW, reviewers: [APPROVED, BLOCKED] }, ...disapproval);
  add(
    schema,
    "an aggregate that is ok, though a reviewer is not",
    { aggregate: REVIEW, reviewers: [APPROVED, BLOCKED] },
    ...disapproval,
  );
  add(
    schema,
    "ok at the top and in the aggregate, though a reviewer is not",
    { ...REVIEW, aggregate: REVIEW, reviewers: [APPROVED, BLOCKED] },
    ...disapproval,
  );
  for (const [verdict, given] of [
    ["ok", REVIEW],
    ["not ok", NOT_OK],
  ] as const) {
    const besides = verdict === "ok" ? ["/reviewers/0/ok: expected true, found false"] : [];
    add(
      schema,
      `${verdict}, with a reviewer that is ok and blocks`,
      { ...given, reviewers: [{ ok: true, decision: "blocked" }] },
      '/reviewers/0/decision: expected "accepted", found "blocked"',
    );
    add(
      schema,
      `${verdict}, with a reviewer that is ok and has an issue that blocks`,
      { ...given, reviewers: [{ ...APPROVED, blocking_issues: ["x"] }] },
      '/reviewers/0/blocking_issues: expected an empty list, found ["x"]',
    );
    add(
      schema,
      `${verdict}, with a reviewer that is not ok and accepts`,
      { ...given, reviewers: [{ ok: false, decision: "accepted" }] },
      `/reviewers/0/decision: expected ${against}, found "accepted"`,
      ...besides,
    );
    add(
      schema,
      `an aggregate that is ${verdict}, with a reviewer that is not ok and accepts`,
      { aggregate: given, reviewers: [{ ok: false, decision: "accepted" }] },
      `/reviewers/0/decision: expected ${against}, found "accepted"`,
      ...besides,
    );
  }
  add(
    schema,
    "a reviewer without a verdict",
    { ...REVIEW, reviewers: [{ name: "a" }] },
    "/reviewers/0/ok: expected a value, found nothing",
    "/reviewers/0/decision: expected a value, found nothing",
  );
}
add(
  "plan-review.schema.json",
  "the plan at fault, in a review of the plan",
  { ...NOT_OK, decision: "plan_at_fault" },
  '/decision: expected one of "accepted", "needs_changes", "blocked", found "plan_at_fault"',
  '/decision: expected one of "needs_changes", "blocked", found "plan_at_fault"',
);
add(
  "code-review.schema.json",
  "a finding without a message",
  { ...REVIEW, findings: [without(FINDING, "message")] },
  "/findings/0/message: expected a value, found nothing",
);
add(
  "code-review.schema.json",
  "a finding in line -1",
  { ...REVIEW, findings: [{ ...FINDING, line: -1 }] },
  "/findings/0/line: expected must be >= 0, found -1",
);

const changes = VALID["changes.schema.json"]!.value;
add(
  "changes.schema.json",
  "an unknown status",
  { ...changes, files: [{ ...FILE, status: "M" }] },
  '/files/0/status: expected one of "added", "modified", "deleted", "renamed", "copied", "type-changed", found "M"',
);
add(
  "changes.schema.json",
  "half a line",
  { ...changes, files: [{ ...FILE, additions: 0.5 }] },
  "/files/0/additions: expected an integer, found 0.5",
);
add(
  "changes.schema.json",
  "a number out of scope",
  { ...changes, out_of_scope: [1] },
  "/out_of_scope/0: expected a string, found 1",
);

const report = VALID["eval-report.schema.json"]!.value;
add(
  "eval-report.schema.json",
  "passed as a word",
  { ...report, overall_pass: "yes" },
  '/overall_pass: expected a boolean, found "yes"',
);
add(
  "eval-report.schema.json",
  "no number of the failed",
  { ...report, summary: { passed: 1, skipped: 0 } },
  "/summary/failed: expected a value, found nothing",
);
add(
  "eval-report.schema.json",
  "a suite without its log",
  { ...report, suites: [without(SUITE, "log")] },
  "/suites/0/log: expected a value, found nothing",
);
add(
  "eval-report.schema.json",
  "an exit code as text",
  { ...report, suites: [{ ...SUITE, exit_code: "0" }] },
  '/suites/0/exit_code: expected an integer or null, found "0"',
);

const decision = VALID["decision.schema.json"]!.value;
add(
  "decision.schema.json",
  "rejected to nowhere",
  { ...decision, verdict: "rejected" },
  '/target: expected one of "codegen", "review", "planning", "revert", found nothing',
);
add(
  "decision.schema.json",
  "rejected to a phase that it cannot go to",
  { ...decision, verdict: "rejected", target: "test" },
  '/target: expected one of "codegen", "review", "planning", "revert", found "test"',
);
add(
  "decision.schema.json",
  "a rejection without a reason",
  { ...decision, verdict: "rejected", target: "codegen", reasons: [] },
  "/reasons: expected at least 1 entries, found []",
);
add(
  "decision.schema.json",
  "an acceptance that sends the task back",
  { ...decision, verdict: "accepted", target: "codegen" },
  '/target: expected nothing, with what else was said, found "codegen"',
);
add(
  "decision.schema.json",
  "an empty reason",
  { ...decision, reasons: [""] },
  '/reasons/0: expected text that is not empty, found ""',
);
add(
  "decision.schema.json",
  "an empty decider",
  { ...decision, decider: "" },
  '/decider: expected text that is not empty, found ""',
);

describe("a value that fits", () => {
  it.each(Object.entries(VALID))("%s", async (schema, { value }) => {
    expect(await validate(schema, structuredClone(value), "a.json")).toEqual([]);
    expect(await validate(schema, { ...structuredClone(value), more: 1 }, "a.json"), "further fields").toEqual([]);
  });

  it.each(["plan-review.schema.json", "code-review.schema.json"])(
    "%s, with every verdict that agrees with itself",
    async (schema) => {
      const verdicts = ["needs_changes", "blocked", ...(schema.startsWith("code") ? ["plan_at_fault"] : [])];
      for (const decision of verdicts) expect(await validate(schema, { ...NOT_OK, decision }, "a.json")).toEqual([]);
      expect(await validate(schema, { ...NOT_OK, blocking_issues: [{ file: "x" }] }, "a.json")).toEqual([]);
    },
  );

  it.each(["codegen", "review", "planning", "revert"])("a rejection to %s", async (target) => {
    const value = { ...VALID["decision.schema.json"]!.value, verdict: "rejected", target };
    expect(await validate("decision.schema.json", value, "a.json")).toEqual([]);
  });

  it("a command that was ended has no exit code", async () => {
    const value = { ...report, suites: [{ ...SUITE, exit_code: null }] };
    expect(await validate("eval-report.schema.json", value, "a.json")).toEqual([]);
  });

  it("gets the defaults that conditions rely on", async () => {
    const value = without(plan, "questions");
    expect(await validate("plan.schema.json", value, "a.json")).toEqual([]);
    expect(value["questions"]).toEqual([]);
  });
});

describe("several reviewers", () => {
  const yes = { name: "a", ok: true, decision: "accepted" };
  const no = { name: "b", ok: false, decision: "blocked", blocking_issues: ["x"] };
  const both = ["plan-review.schema.json", "code-review.schema.json"].flatMap((schema) =>
    [(verdict: Json): Json => verdict, (verdict: Json): Json => ({ aggregate: verdict })].map(
      (place): [string, (verdict: Json) => Json] => [schema, place],
    ),
  );

  it.each(both)("%s: may all be ok; and a verdict may be stricter than they are", async (schema, place) => {
    for (const [verdict, reviewers] of [
      [REVIEW, [yes]],
      [REVIEW, [yes, { ...yes, reasons: ["fine"], blocking_issues: [] }]],
      [NOT_OK, [yes, no]],
      [NOT_OK, [yes, yes]],
    ] as const) {
      const value = structuredClone({ ...place(verdict), reviewers });
      expect(await validate(schema, value, "a.json")).toEqual([]);
    }
  });
});

describe("an aggregate", () => {
  const reviewers = [
    { name: "a", ok: true, decision: "accepted" },
    { name: "b", ok: false, decision: "needs_changes" },
  ];

  it.each(["plan-review.schema.json", "code-review.schema.json"])(
    "%s: its fields stand at the top too",
    async (schema) => {
      const value: Json = { reviewers: structuredClone(reviewers), aggregate: structuredClone(NOT_OK) };
      expect(await validate(schema, value, "a.json")).toEqual([]);
      expect(value).toMatchObject(NOT_OK);
    },
  );

  it.each(["plan-review.schema.json", "code-review.schema.json"])("%s: may say the same as the top", async (schema) => {
    const value = { ...structuredClone(NOT_OK), aggregate: structuredClone(NOT_OK) };
    expect(await validate(schema, value, "a.json")).toEqual([]);
  });

  it("brings its findings along, as the only place where they stand", async () => {
    const value: Json = { aggregate: { ...structuredClone(NOT_OK), findings: [FINDING] } };
    expect(await validate("code-review.schema.json", value, "a.json")).toEqual([]);
    expect(value["findings"]).toEqual([FINDING]);
  });

  it("need not repeat the findings at the top", async () => {
    const value: Json = { findings: [FINDING], aggregate: structuredClone(NOT_OK) };
    expect(await validate("code-review.schema.json", value, "a.json")).toEqual([]);
    expect(value["findings"]).toEqual([FINDING]);
  });
});

describe("a value that does not fit", () => {
  it.each(
    wrong.map(({ schema, what, ...rest }): [string, string, Omit<Wrong, "schema" | "what">] => [schema, what, rest]),
  )("%s: %s", async (schema, _what, { value, findings }) => {
    const found = await validate(schema, structuredClone(value), "dir/a.json");
    expect(brief(found).sort()).toEqual([...findings].sort());
    for (const finding of found) {
      expect(finding.file).toBe("dir/a.json");
      expect(finding.message).toBe(
        finding.message.includes("contradict")
          ? `dir/a.json: ${(finding.pointer ?? "").replace("/aggregate", "")} and ${finding.pointer ?? ""} contradict each other`
          : `dir/a.json: ${finding.pointer === "" ? "/" : (finding.pointer ?? "")} expected ${finding.expected ?? ""}, found ${finding.found ?? ""}`,
      );
    }
  });

  it("names every fault, not only the first", async () => {
    expect(await validate("plan.schema.json", {}, "a.json")).toHaveLength(5);
  });

  it("shows a long value in short, and points into names with odd characters", async () => {
    const [finding] = await validate(
      "decision.schema.json",
      { ...decision, decider: { text: "x".repeat(500) } },
      "a.json",
    );
    expect(finding?.found?.length).toBeLessThanOrEqual(80);
    const [odd] = await validate("decision.schema.json", { ...decision, evidence: { "a/b~c": 1 } }, "a.json");
    expect(odd).toMatchObject({ pointer: "/evidence/a~1b~0c", expected: "a string", found: "1" });
  });
});

describe("validators made when pawl was built", () => {
  it("are there for every built-in schema, by the hash of its text", () => {
    const file = join(PACKAGE, "dist", "validators.cjs");
    expect(existsSync(file), "run node scripts/build.mjs first").toBe(true);
    const { validators } = createRequire(import.meta.url)(file) as { validators: Json };
    for (const name of readdirSync(join(PACKAGE, "system", "schemas")))
      expect(validators, name).toHaveProperty(sha256(readFileSync(join(PACKAGE, "system", "schemas", name))));
  });

  it("find the same as those made now, and fill in the same", async () => {
    const runtime = atRuntime();
    const valid = Object.entries(VALID).map(([schema, { value }]) => ({ schema, what: "valid", value }));
    for (const { schema, what, value } of [...valid, ...wrong]) {
      const [one, other] = [structuredClone(value), structuredClone(value)];
      expect(await runtime(schema, one, "a.json"), `${schema}: ${what}`).toEqual(
        await validate(schema, other, "a.json"),
      );
      expect(one).toEqual(other);
    }
  });

  it("are not used for a schema of the workspace with the same name", async () => {
    const workspace = makeDirectory();
    writeAt(join(workspace, "system/schemas/plan.schema.json"), '{"type":"object","required":["mine"]}');
    expect(brief(await validatorFor(workspace)("plan.schema.json", {}, "a.json"))).toEqual([
      "/mine: expected a value, found nothing",
    ]);
  });
});

describe("a schema that cannot be used", () => {
  const withSchema = (text: string): string => {
    const workspace = makeDirectory();
    writeAt(join(workspace, "system/schemas/mine.schema.json"), text);
    return workspace;
  };

  it("is not there; or would be outside", () => {
    for (const name of ["none.schema.json", "../schemas/plan.schema.json", "/etc/passwd", ".hidden"])
      expect(thrownBy(() => loadSchema(name, PACKAGE))).toMatchObject({
        kind: "invalid",
        hint: expect.stringContaining("plan.schema.json") as string,
      });
  });

  it("is no JSON", () => {
    expect(thrownBy(() => loadSchema("mine.schema.json", withSchema("{"))).kind).toBe("invalid");
  });

  it.each(['{"type":"strin"}', '{"typ":"string"}', '{"$ref":"#/nowhere"}', '{"pattern":"("}'])(
    "is no JSON Schema: %s",
    async (text) => {
      const error = await validatorFor(withSchema(text))("mine.schema.json", {}, "a.json").catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({
        kind: "invalid",
        message: expect.stringContaining("mine.schema.json cannot be used") as string,
      });
    },
  );

  it("every built-in one is strict JSON Schema", () => {
    for (const name of readdirSync(join(PACKAGE, "system", "schemas")))
      expect(() => compileSchema(loadSchema(name, PACKAGE).schema), name).not.toThrow();
  });
});
