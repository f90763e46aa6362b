import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluateCondition, parseCondition } from "../../src/workflow/condition.js";
import { ConditionLogic } from "../../src/workflow/condition-logic.js";
import { brief, check, KNOWN, lineOf, smallWorkflow, type Row } from "../support/workflow-text.js";

/** Rows from `a`, which all wait for a human, so that nothing but the rows themselves can be wrong. */
function rows(...list: Partial<Row>[]): string {
  const counted: Row[] = list.map((row, index) => ({ from: "a", to: "b", act: `count c${index}`, ...row }));
  return smallWorkflow({ a: "human", b: "human", c: "human", done: "" }, [
    ...counted,
    { from: "a", to: "b", event: "other", by: "human" },
    { from: "b", to: "c", by: "human" },
    { from: "c", to: "done", by: "human" },
  ]);
}

const line = (text: string, index: number): number => lineOf(text, `count c${index}`);

describe("rows that can never be taken", () => {
  it.each<[string, Partial<Row>[]]>([
    ["after a row without a condition", [{}, { when: "waiting" }]],
    ["after a row with a wider sender", [{ by: "agent" }, { by: "coder, planner" }]],
    ["with a condition that is constant false", [{ when: "false" }]],
    ["with a condition that contradicts itself", [{ when: "visits.a < 2 && visits.a > 5" }]],
    ["with two values at once", [{ when: 'event.x == "p" && event.x == "q"' }]],
    ["after a more general condition", [{ when: "waiting" }, { when: "waiting && visits.a > 3" }]],
    [
      "after the same condition, written otherwise",
      [{ when: "visits.a < limits.n" }, { when: "!(limits.n <= visits.a)" }],
    ],
    ["after a row and its complement", [{ when: "waiting" }, { when: "!waiting" }, {}]],
    [
      "after all cases of a number",
      [{ when: "visits.a < limits.n" }, { when: "visits.a >= limits.n" }, { when: "waiting" }],
    ],
    ["after both cases of a size", [{ when: "visits.a == 0" }, { when: "visits.a > 0" }, { when: "waiting" }]],
    ["after all of its values", [{ when: 'event.x in ["p", "q"]' }, { when: 'event.x == "q" && waiting' }]],
  ])("are found %s", (_what, list) => {
    const text = rows(...list).replace("initial: a\n", "initial: a\nlimits: { n: 3 }\n");
    const found = check(text);
    const dead = found.filter(({ rule }) => rule === "dead-row");
    expect(brief(dead)).toEqual([{ rule: "dead-row", severity: "error", line: line(text, list.length - 1) }]);
  });

  it.each<[string, Partial<Row>[]]>([
    ["with another sender", [{ by: "human" }, { by: "agent", when: "waiting" }]],
    ["with another event", [{ event: "go" }, { when: "waiting" }]],
    ["when a field may be missing", [{ when: "event.x" }, { when: "!event.x" }, { when: "waiting" }]],
    ["when a value is left", [{ when: 'event.x == "p"' }, { when: 'event.x == "q"' }, { when: "event.y" }]],
    ["when a number is left", [{ when: "visits.a < 2" }, { when: "visits.a > 2" }, { when: "visits.a == 2" }]],
    ["when only part of the senders is covered", [{ by: "human" }, { by: "human, agent" }]],
  ])("are not found %s", (_what, list) => {
    const text = rows(...list);
    expect(check(text).filter(({ rule }) => rule === "dead-row")).toEqual([]);
  });

  it("are found when the schema requires the field that decides", () => {
    const text = rows({ event: "go", when: "r.ok" }, { event: "go", when: "!r.ok" }, { event: "go", when: "r.n > 1" })
      .replace("| a | human | |", "| a | human | r |")
      .replace(
        "## Transitions",
        "## Artifacts\n\n| Artifact | File | Schema | Made by | Judges |\n|-|-|-|-|-|\n| r | r.json | r.json | human | |\n\n## Transitions",
      );
    const schema = (required: string[]): object => ({
      type: "object",
      properties: { ok: { type: "boolean" }, n: { type: "integer" } },
      required,
    });
    const dead = (required: string[]): unknown[] =>
      check(text, { ...KNOWN, schemas: { "r.json": schema(required) as Record<string, unknown> } }).filter(
        ({ rule }) => rule === "dead-row",
      );
    expect(dead(["ok"])).toMatchObject([{ line: line(text, 2) }]);
    expect(dead([])).toEqual([]);
  });

  it("are found when they stand there twice", () => {
    const text = rows({ when: "waiting", act: "count c0" }, { when: "waiting", act: "count c0", why: "again" });
    const second = lineOf(text, "again");
    expect(brief(check(text))).toEqual([{ rule: "duplicate-row", severity: "error", line: second }]);
  });
});

describe("rows that overlap", () => {
  const overlaps = (...list: Partial<Row>[]): number[] => {
    const text = rows(...list);
    return check(text).flatMap(({ rule, severity, line: at }) => {
      if (rule !== "overlap") return [];
      expect(severity).toBe("warning");
      return [at - line(text, 0)];
    });
  };

  it.each<[string, Partial<Row>[]]>([
    ["unrelated conditions", [{ when: "waiting" }, { when: "visits.a > 3", to: "c" }]],
    ["the same target with other actions", [{ when: "waiting" }, { when: "visits.a > 3" }]],
    ["numbers that meet", [{ when: "visits.a < 5" }, { when: "visits.a > 3", to: "c" }]],
    [
      "a sender that both have",
      [
        { when: "waiting", by: "human, coder" },
        { when: "event.x", by: "human, pawl", to: "c" },
      ],
    ],
  ])("are found: %s", (_what, list) => {
    expect(overlaps(...list)).toEqual([1]);
  });

  it.each<[string, Partial<Row>[]]>([
    ["the later one is the general case", [{ when: "waiting && visits.a > 3" }, { when: "waiting", to: "c" }]],
    ["the later one has no condition", [{ when: "waiting" }, { to: "c" }]],
    ["the earlier one looks at more", [{ when: "waiting && visits.a > 3" }, { when: "visits.a > 4", to: "c" }]],
    ["they exclude each other", [{ when: "visits.a < 5" }, { when: "visits.a >= 5 && waiting", to: "c" }]],
    ["they ask for different values", [{ when: 'event.x == "p"' }, { when: 'event.x == "q"', to: "c" }]],
    [
      "they lead to the same",
      [
        { when: "waiting", act: "" },
        { when: "visits.a > 3", act: "" },
      ],
    ],
    [
      "other senders send them",
      [
        { when: "waiting", by: "human" },
        { when: "event.x", by: "agent", to: "c" },
      ],
    ],
    [
      "the earlier sender is the special one",
      [
        { when: "waiting", by: "human" },
        { when: "event.x", to: "c" },
      ],
    ],
    [
      "another event takes them",
      [
        { when: "waiting", event: "go" },
        { when: "event.x", to: "c" },
      ],
    ],
  ])("are not found when %s", (_what, list) => {
    const text = rows(...list);
    expect(check(text).filter(({ rule }) => rule === "overlap")).toEqual([]);
  });
});

describe("the proof behind it", () => {
  const atom = fc.constantFrom(
    "waiting",
    "event.ok",
    "visits.a < 2",
    "visits.a >= 1",
    "visits.a == 1",
    "visits.a < limits.n",
    "limits.n <= visits.a",
    'event.x == "p"',
    'event.x != "q"',
    'event.x in ["p", "q"]',
    "event.list.size() > 0",
    "event.list.size() == 0",
  );
  const { condition } = fc.letrec<{ condition: string }>((tie) => ({
    condition: fc.oneof(
      { maxDepth: 3 },
      atom,
      tie("condition").map((part) => `!(${part})`),
      fc.tuple(tie("condition"), tie("condition")).map(([a, b]) => `(${a} && ${b})`),
      fc.tuple(tie("condition"), tie("condition")).map(([a, b]) => `(${a} || ${b})`),
      fc.tuple(tie("condition"), tie("condition"), tie("condition")).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    ),
  }));
  const context = fc.record({
    waiting: fc.boolean(),
    visits: fc.record({ a: fc.bigInt(0n, 3n) }),
    limits: fc.record({ n: fc.bigInt(0n, 3n) }),
    event: fc.record(
      { ok: fc.boolean(), x: fc.constantFrom("p", "q", "r"), list: fc.array(fc.constant("e"), { maxLength: 2 }) },
      { requiredKeys: [] },
    ),
  });

  it("never calls impossible what CEL finds true", () => {
    fc.assert(
      fc.property(condition, condition, context, (first, second, values) => {
        const logic = new ConditionLogic(([name]) => name !== "event");
        const [a, b] = [first, second].map((source) => {
          const parsed = parseCondition(source);
          if ("error" in parsed) throw new Error(parsed.error.message);
          return logic.formula(parsed.ast, []);
        });
        const holds = (source: string): boolean => {
          const outcome = evaluateCondition(source, values);
          return "value" in outcome && outcome.value;
        };
        if (a === undefined || b === undefined || !holds(first)) return;
        expect(logic.possible([a])).toBe(true);
        expect(holds(second) ? logic.possible([a, b]) : logic.possible([a], [b])).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
