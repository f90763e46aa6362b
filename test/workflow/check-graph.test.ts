import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reachablePhases } from "../../src/workflow/check-graph.js";
import { brief, check, lineOf, parse, smallWorkflow, type Row } from "../support/workflow-text.js";

const AGENT = "agent `w`";

/** Only what the shape of the graph gives; the line is that of a phase. */
function shape(text: string): { rule: string; severity: string; line: number }[] {
  return brief(check(text)).filter(({ rule }) => rule !== "unbounded-loop");
}

describe("the shape of the graph", () => {
  it("finds a phase that nothing leads to", () => {
    const text = smallWorkflow({ a: AGENT, lost: AGENT, done: "" }, [
      { from: "a", to: "done" },
      { from: "lost", to: "done" },
    ]);
    expect(shape(text)).toEqual([{ rule: "unreachable", severity: "error", line: lineOf(text, "| lost | agent") }]);
  });

  it("finds it though a human may override and redo: that is no way of the table", () => {
    const rows = [
      { from: "a", to: "done" },
      { from: "lost", to: "done" },
    ];
    const text = smallWorkflow({ a: AGENT, lost: AGENT, done: "" }, rows, "human: [override, redo]\n");
    expect(shape(text)).toEqual([{ rule: "unreachable", severity: "error", line: lineOf(text, "| lost | agent") }]);
  });

  it("finds a phase without a way out, and blames nothing else for it", () => {
    const text = smallWorkflow({ a: AGENT, b: AGENT, stuck: "human", done: "" }, [
      { from: "a", to: "b" },
      { from: "b", to: "done", when: "waiting" },
      { from: "b", to: "stuck", when: "!waiting" },
      { from: "stuck", to: "stuck", event: "resume", by: "human" },
    ]);
    expect(shape(text)).toEqual([{ rule: "no-way-out", severity: "error", line: lineOf(text, "| stuck | human") }]);
  });

  it("finds rows out of a terminal phase", () => {
    const text = smallWorkflow({ a: AGENT, done: "" }, [
      { from: "a", to: "done" },
      { from: "done", to: "a", by: "human", why: "again" },
    ]);
    expect(shape(text)).toEqual([{ rule: "row-out-of-end", severity: "error", line: lineOf(text, "again") }]);
  });

  it("finds phases from which a task cannot end", () => {
    const text = smallWorkflow({ a: AGENT, b: AGENT, c: AGENT, done: "" }, [
      { from: "a", to: "done", when: "waiting" },
      { from: "a", to: "b", when: "!waiting" },
      { from: "b", to: "c", by: "human" },
      { from: "c", to: "b", by: "human" },
    ]);
    expect(shape(text)).toEqual([
      { rule: "cannot-end", severity: "error", line: lineOf(text, "| b | agent") },
      { rule: "cannot-end", severity: "error", line: lineOf(text, "| c | agent") },
    ]);
  });

  it("finds that there is no end at all", () => {
    const text = smallWorkflow({ a: AGENT, b: AGENT }, [
      { from: "a", to: "b", by: "human" },
      { from: "b", to: "a", by: "human" },
    ]);
    expect(shape(text)).toEqual([{ rule: "no-end", severity: "error", line: lineOf(text, "| a | agent") }]);
  });

  it("agrees with a plain search on what can be reached", () => {
    const names = ["a", "b", "c", "d", "e"];
    const edge = fc.tuple(fc.constantFrom(...names), fc.constantFrom(...names));
    fc.assert(
      fc.property(fc.array(edge, { minLength: 1, maxLength: 12 }), (edges) => {
        const phases = Object.fromEntries(names.map((name) => [name, AGENT]));
        const workflow = parse(
          smallWorkflow(
            phases,
            edges.map(([from, to]): Row => ({ from, to })),
          ),
        );
        const reached = new Set(["a"]);
        for (let round = 0; round < names.length; round++) {
          for (const [from, to] of edges) if (reached.has(from)) reached.add(to);
        }
        expect([...reachablePhases(workflow)].sort()).toEqual([...reached].sort());
      }),
    );
  });
});

describe("loops", () => {
  const PHASES = { a: AGENT, b: AGENT, c: AGENT, stuck: "human", done: "" };
  const ON: Row[] = [
    { from: "a", to: "b" },
    { from: "b", to: "c", when: "event.ok" },
    { from: "c", to: "done", when: "event.ok" },
    { from: "c", to: "stuck", when: "event.stuck && !event.ok" },
    { from: "stuck", to: "done", event: "resume", by: "human" },
  ];
  const loops = (...rows: Row[]): { message: string; line: number }[] => {
    const text = smallWorkflow(PHASES, [...ON, ...rows], "limits: { n: 3 }\n");
    const first = lineOf(text, "| stuck | resume") + 1;
    return check(text)
      .filter(({ rule }) => rule === "unbounded-loop")
      .map(({ message, line }) => ({ message: message.replace("nothing bounds the loop ", ""), line: line - first }));
  };

  it.each<[string, Row[], string, number]>([
    ["of two phases", [{ from: "b", to: "a", when: "!event.ok" }], "a → b → a", 0],
    ["of three phases", [{ from: "c", to: "a", when: "!event.ok" }], "a → b → c → a", 0],
    ["of one phase", [{ from: "b", to: "b", when: "!event.ok" }], "b → b", 0],
    ["of failures", [{ from: "b", to: "b", event: "fail", by: "pawl" }], "b → b", 0],
    ["with work in it, asked for by an agent", [{ from: "b", to: "b", event: "get_task", act: "merge" }], "b → b", 0],
    [
      "bounded by a phase that is not on it",
      [{ from: "b", to: "a", when: "!event.ok && visits.c < 3" }],
      "a → b → a",
      0,
    ],
    ["bounded from below", [{ from: "b", to: "a", when: "!event.ok && visits.a > 3" }], "a → b → a", 0],
    ["bounded only in one alternative", [{ from: "b", to: "a", when: "visits.a < 3 || !event.ok" }], "a → b → a", 0],
    ["bounded by a number from outside", [{ from: "b", to: "a", when: "visits.a < event.n" }], "a → b → a", 0],
    [
      "with a counter that is not counted on it",
      [
        { from: "b", to: "a", when: "counters.x < 3" },
        { from: "c", to: "stuck", event: "go", act: "count x" },
      ],
      "a → b → a",
      0,
    ],
    [
      "that resets its own visits",
      [{ from: "b", to: "a", when: "visits.a < limits.n", act: "reset-rounds" }],
      "a → b → a",
      0,
    ],
    [
      "that clears its own counter",
      [{ from: "b", to: "a", when: "counters.x < limits.n", act: "count x, clear x" }],
      "a → b → a",
      0,
    ],
    [
      "with failures, which are counted within one visit",
      [{ from: "b", to: "a", when: "failures < limits.n" }],
      "a → b → a",
      0,
    ],
    [
      "with a second, open row beside the bounded one",
      [
        { from: "b", to: "a", when: "event.x && visits.a < 3" },
        { from: "b", to: "a", event: "back" },
      ],
      "a → b → a",
      1,
    ],
  ])("are found: one %s", (_what, rows, message, line) => {
    expect(loops(...rows)).toEqual([{ message, line }]);
  });

  it.each<[string, Row[]]>([
    ["visits", [{ from: "b", to: "a", when: "!event.ok && visits.a < limits.n" }]],
    ["visits of another phase on it", [{ from: "c", to: "a", when: "!event.ok && 3 >= visits.b" }]],
    ["a bound in every alternative", [{ from: "b", to: "a", when: "visits.a < 3 || (event.x && visits.b < 5)" }]],
    ["a counter that its own row counts", [{ from: "b", to: "a", when: "counters.x < limits.n", act: "count x" }]],
    [
      "a counter that another row on it counts",
      [
        { from: "a", to: "b", event: "go", by: "human" },
        { from: "c", to: "b", when: "counters.x < 2", act: "count x" },
        { from: "c", to: "c", event: "try", act: "count x", when: "counters.x < 4" },
      ],
    ],
    ["failures, in one phase", [{ from: "b", to: "b", event: "fail", by: "pawl", when: "failures < limits.n" }]],
    ["a human who sends the event", [{ from: "b", to: "a", event: "back", by: "human" }]],
    ["a human who works in the phase", [{ from: "stuck", to: "a", event: "next" }]],
    ["waiting for a human", [{ from: "b", to: "a", when: "!event.ok", act: "wait-for-human" }]],
  ])("are not found when bounded by %s", (_what, rows) => {
    expect(loops(...rows)).toEqual([]);
  });

  it("are not found where an agent only asks again", () => {
    expect(loops({ from: "b", to: "b", event: "get_task", by: "agent" })).toEqual([]);
  });

  it("count a row that clears a counter only as long as it can be taken for ever", () => {
    const inner: Row = { from: "b", to: "b", event: "fail", by: "pawl", when: "counters.x < 3", act: "count x" };
    expect(loops(inner, { from: "b", to: "a", when: "visits.a < limits.n", act: "clear x" })).toEqual([]);
    const endless = loops(inner, { from: "b", to: "a", when: "!event.ok", act: "clear x" });
    expect(endless.map(({ message }) => message)).toEqual(["a → b → a"]);
  });

  it("are found when two of them reset each other's counters", () => {
    const found = loops(
      { from: "b", to: "a", when: "counters.x < 3", act: "count x, clear y" },
      { from: "c", to: "b", when: "counters.y < 3", act: "count y, clear x" },
    );
    expect(found.map(({ message }) => message)).toEqual(["a → b → a", "b → c → b"]);
  });

  it("are reported by their smallest circle only", () => {
    const found = loops({ from: "b", to: "a", when: "!event.ok" }, { from: "c", to: "a", when: "event.x" });
    expect(found.map(({ message }) => message)).toEqual(["a → b → a"]);
  });

  it("say so when there are too many to prove anything", () => {
    const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
    const rows = names.flatMap((from) => names.map((to): Row => ({ from, to, when: `event.${from}${to}` })));
    const text = smallWorkflow({ ...Object.fromEntries(names.map((name) => [name, AGENT])), done: "" }, rows);
    const found = check(text).filter(({ rule }) => rule === "unbounded-loop");
    expect(found).toMatchObject([{ severity: "warning", message: "it cannot be proved that every loop is bounded" }]);
  });
});
