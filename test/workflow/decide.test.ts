import { describe, expect, it } from "vitest";
import { describeSender } from "../../src/workflow/blockers.js";
import { decide, relevantArtifacts, waysOut } from "../../src/workflow/decide.js";
import type {
  ArtifactCondition,
  ArtifactStatus,
  Decision,
  Event,
  Evidence,
  Refusal,
  Sender,
  Workflow,
} from "../../src/workflow/types.js";
import { changed, FIX_A_BUG, parse, smallWorkflow, type Row } from "../support/workflow-text.js";

const HUMAN: Sender = { kind: "human", name: "Ada" };
const PAWL: Sender = { kind: "pawl" };
const agent = (role: string): Sender => ({ kind: "agent", role });

function evidence(phase: string, more: Partial<Evidence> = {}): Evidence {
  return { phase, artifacts: {}, visits: {}, failures: 0, counters: {}, limits: {}, waiting: null, state: {}, ...more };
}

function artifact(name: string, data: unknown, condition: ArtifactCondition = "ok"): ArtifactStatus {
  const sound = condition === "ok";
  return {
    name,
    file: `${name}.json`,
    condition,
    ...(sound ? { data, hash: "h" } : {}),
    findings: sound
      ? []
      : [{ message: `${name}.json is ${condition}`, file: `${name}.json`, expected: "e", found: "f" }],
  };
}

const event = (name: string, by: Sender = HUMAN, payload: Event["payload"] = {}): Event => ({ name, by, payload });

function decided(outcome: Decision | Refusal): Decision {
  if (outcome.kind === "refusal") throw new Error(`refused: ${JSON.stringify(outcome, null, 1)}`);
  return outcome;
}

function refusedBy(outcome: Decision | Refusal): Refusal {
  if (outcome.kind === "decision") throw new Error(`decided: ${outcome.from} → ${outcome.to}`);
  return outcome;
}

const small = (rows: Row[], front = ""): Workflow =>
  parse(smallWorkflow({ a: "human", b: "human", c: "human", end: "" }, rows, front));

describe("the first row that holds", () => {
  const workflow = small([
    { from: "a", to: "b", when: "event.n > 10", why: "more than ten" },
    { from: "a", to: "c", when: "event.n > 5", act: "count x, clear y" },
    { from: "a", to: "a", when: "event.n > 0" },
    { from: "a", to: "end" },
    { from: "b", to: "end" },
  ]);

  it.each([
    [11, "b", "more than ten"],
    [10, "c", "`event.n > 5` holds"],
    [5, "a", "`event.n > 0` holds"],
    [0, "end", "nothing stands in the way"],
  ])("n = %i → %s", (n, to, reason) => {
    const decision = decided(decide(workflow, evidence("a"), event("next", HUMAN, { n })));
    expect(decision).toMatchObject({ from: "a", to, event: "next", reason, skipped: [] });
    expect(decision.row).toBe(workflow.transitions.find((row) => row.from === "a" && row.to === to));
  });

  it("brings its actions, in their order, and executes none", () => {
    expect(decided(decide(workflow, evidence("a"), event("next", HUMAN, { n: 7 }))).actions).toEqual([
      { name: "count", args: ["x"] },
      { name: "clear", args: ["y"] },
    ]);
  });

  it("is of this phase only", () => {
    expect(decided(decide(workflow, evidence("b"), event("next", HUMAN, { n: 11 }))).to).toBe("end");
  });

  it("changes nothing that it was given", () => {
    const given = Object.freeze(evidence("a"));
    const before = JSON.stringify([workflow, given]);
    decide(workflow, given, Object.freeze(event("next", HUMAN, { n: 7 })));
    waysOut(workflow, given);
    expect(JSON.stringify([workflow, given])).toBe(before);
  });
});

describe("who may send an event", () => {
  const senders: [string, Sender][] = [
    ["a human", HUMAN],
    ["pawl", PAWL],
    ["the coder", agent("coder")],
    ["the reviewer", agent("reviewer")],
    ["an agent of no known role", agent("unknown")],
  ];
  const columns: [string, string[]][] = [
    ["any", ["a human", "pawl", "the coder", "the reviewer", "an agent of no known role"]],
    ["human", ["a human"]],
    ["pawl", ["pawl"]],
    ["agent", ["the coder", "the reviewer", "an agent of no known role"]],
    ["coder", ["the coder"]],
    ["coder, human", ["a human", "the coder"]],
    ["reviewer, coder", ["the coder", "the reviewer"]],
  ];
  const cases = columns.flatMap(([by, allowed]) =>
    senders.map(([who, sender]) => [by, who, allowed.includes(who), sender] as const),
  );
  it.each(cases)("by %s, %s: %s", (by, _who, allowed, sender) => {
    const workflow = small([{ from: "a", to: "b", event: "go", by }]);
    const outcome = decide(workflow, evidence("a"), event("go", sender));
    expect(outcome.kind).toBe(allowed ? "decision" : "refusal");
    if (outcome.kind === "refusal") {
      expect(outcome.ways[0]?.blockers).toEqual([
        {
          kind: "sender",
          message: `only ${by} may send \`go\` here, not ${describeSender(sender)}`,
          expected: by,
          found: describeSender(sender),
        },
      ]);
    }
  });

  it("a role is not a kind: an agent that calls itself human, pawl or any is none of them", () => {
    for (const by of ["human", "pawl"]) {
      const workflow = small([
        { from: "a", to: "b", event: "go", by: "human" },
        { from: "a", to: "c", event: "go", by: "pawl" },
      ]);
      expect(decide(workflow, evidence("a"), event("go", agent(by))).kind, by).toBe("refusal");
    }
  });

  it("an earlier row that somebody may not take leaves the way free for a later one that he may", () => {
    const workflow = small([
      { from: "a", to: "b", event: "go", by: "human" },
      { from: "a", to: "c", event: "go", by: "agent" },
    ]);
    expect(decided(decide(workflow, evidence("a"), event("go", agent("coder")))).to).toBe("c");
  });
});

describe("while the task waits for a human", () => {
  const workflow = small([
    { from: "a", to: "b", by: "any" },
    { from: "a", to: "b", event: "answer", by: "human, coder" },
    { from: "a", to: "c", event: "fail", by: "pawl" },
    { from: "a", to: "a", event: "resume", by: "human", when: "waiting" },
  ]);
  const waiting = evidence("a", { waiting: "three rounds" });

  it.each([
    ["next", HUMAN],
    ["answer", HUMAN],
    ["answer", agent("coder")],
    ["fail", PAWL],
  ] as const)("%s is refused, whoever sends it", (name, by) => {
    const outcome = refusedBy(decide(workflow, waiting, event(name, by)));
    expect(outcome.reason).toBe("a waits for a human: three rounds");
    expect(outcome.ways.find((way) => way.event === name)?.blockers[0]).toMatchObject({
      kind: "waiting",
      hint: expect.stringContaining("pawl resume") as string,
    });
  });

  it("a human's own row is open; and closed when there is nothing to wait for", () => {
    expect(decided(decide(workflow, waiting, event("resume"))).to).toBe("a");
    expect(decide(workflow, evidence("a"), event("resume")).kind).toBe("refusal");
    expect(decide(workflow, waiting, event("resume", agent("coder"))).kind).toBe("refusal");
  });
});

describe("evidence", () => {
  const unfit: ArtifactCondition[] = ["missing", "invalid", "stale", "forged", "waived"];
  const conditions = [
    "report.failing",
    "!report.failing",
    "report.failing == false",
    "!(report.failing)",
    "report.failing || true",
    "true || report.failing",
    "!has(report.failing)",
    "has(report.kind) ? true : true",
    "!(report.failing && limits.attempts > 0)",
    '!(report["kind"] == "crash")',
    "visits.fix < 3 || report.failing",
    "[1].exists(n, n == 1 || report.failing)",
  ];
  const withCondition = (when: string): Workflow =>
    parse(
      changed(FIX_A_BUG, [
        "| reproduce | next  | any   | `report.failing`                  |",
        `| reproduce | go  | any   | \`${when.replaceAll("|", "\\|")}\` |`,
      ]),
    );

  it.each(conditions)("that is unfit makes `%s` false, whatever it says", (when) => {
    const workflow = withCondition(when);
    for (const condition of unfit) {
      const report = artifact("report", { failing: true }, condition);
      const outcome = refusedBy(
        decide(workflow, evidence("reproduce", { artifacts: { report }, limits: { attempts: 3 } }), event("go")),
      );
      expect(outcome.ways[0]?.blockers[0], condition).toMatchObject({
        kind: condition === "waived" ? "missing" : condition,
        artifact: "report",
        file: "report.json",
        message: `report.json is ${condition}`,
      });
      expect(outcome.reason).toContain(`report.json is ${condition}`);
    }
    // One that nobody looked at is as good as none.
    expect(decide(workflow, evidence("reproduce", { limits: { attempts: 3 } }), event("go")).kind).toBe("refusal");
  });

  it("that the phase must leave is needed for `next`, though no condition mentions it", () => {
    const workflow = parse(
      changed(FIX_A_BUG, [
        "| reproduce | next  | any   | `report.failing`                  |               | fix    |",
        "| reproduce | next  | any   | | | fix |\n| reproduce | skip  | any   | | | fix |",
      ]),
    );
    const with_ = (condition: ArtifactCondition): Evidence =>
      evidence("reproduce", { artifacts: { report: artifact("report", {}, condition) } });
    expect(decide(workflow, with_("ok"), event("next")).kind).toBe("decision");
    for (const condition of unfit) expect(decide(workflow, with_(condition), event("next")).kind).toBe("refusal");
    // Any other event does not complete the phase.
    expect(decide(workflow, with_("missing"), event("skip")).kind).toBe("decision");
  });

  it("that a decision relied on is named", () => {
    const workflow = parse(FIX_A_BUG);
    const given = evidence("verify", {
      artifacts: { tests: artifact("tests", { overall_pass: true }), report: artifact("report", {}) },
      limits: { attempts: 3 },
    });
    expect(decided(decide(workflow, given, event("next"))).relied).toEqual(["tests"]);
  });

  it("that a phase looks at is its own, what its rows mention, and all that these judge", () => {
    const workflow = parse(FIX_A_BUG);
    expect(relevantArtifacts(workflow, "reproduce")).toEqual(["report"]);
    expect(relevantArtifacts(workflow, "verify").sort()).toEqual(["change", "report", "tests"]);
    expect(relevantArtifacts(workflow, "stuck")).toEqual([]);
  });
});

describe("a condition that cannot be evaluated", () => {
  it.each([
    "event.missing",
    "event.missing == 1",
    "!event.missing",
    "event.text > 1",
    "event.text && true",
    "event.n",
    "event.text",
    "1",
    "nothing.at.all",
    "state.field",
    "limits.unknown > 1",
    "event.list[7] == 1",
    "event.n / 0 > 1",
    "event.text.matches('a')",
    "event.n + event.text == 1",
    "(",
    "event.n ===",
  ])("`%s` opens nothing", (when) => {
    const workflow = small([{ from: "a", to: "b", when }]);
    const outcome = refusedBy(decide(workflow, evidence("a"), event("next", HUMAN, { n: 1, text: "x", list: [] })));
    expect(outcome.ways[0]?.blockers[0]?.kind).toBe("condition");
    expect(outcome.ways[0]?.blockers[0]?.message).toBeTruthy();
  });

  it("does not stand in the way of the next row", () => {
    const workflow = small([
      { from: "a", to: "b", when: "event.missing" },
      { from: "a", to: "c" },
    ]);
    expect(decided(decide(workflow, evidence("a"), event("next"))).to).toBe("c");
  });

  it.each([
    ["visits.b == 0", {}, true],
    ["visits.b < 3", { visits: { b: 3 } }, false],
    ["counters.never == 0", {}, true],
    ["counters.x == 2", { counters: { x: 2 } }, true],
    ["limits.rounds > 2", { limits: { rounds: 3 } }, true],
    ["failures >= limits.attempts", { failures: 3, limits: { attempts: 3 } }, true],
    ["!waiting", {}, true],
    ['state.owner == "ada"', { state: { owner: "ada" } }, true],
    ["state.n == 1.5", { state: { n: 1.5 } }, true],
    ["size(state.list) == 2", { state: { list: [1, 2] } }, true],
  ] as const)("what pawl keeps has a value from the beginning: `%s`", (when, more, holds) => {
    const workflow = small([{ from: "a", to: "b", when }]);
    expect(decide(workflow, evidence("a", more as Partial<Evidence>), event("next")).kind).toBe(
      holds ? "decision" : "refusal",
    );
  });
});

describe("a refusal explains", () => {
  const workflow = parse(FIX_A_BUG);

  it("each part of a condition that does not hold: where, what was expected, what was found", () => {
    const tests = artifact("tests", { overall_pass: false });
    const given = evidence("verify", { artifacts: { tests }, visits: { fix: 3 }, limits: { attempts: 3 } });
    const [passed, again, human] = waysOut(workflow, given);
    expect(passed).toMatchObject({ to: "done", open: false });
    expect(passed?.blockers).toEqual([
      {
        kind: "condition",
        message: "`tests.overall_pass` does not hold (tests.overall_pass = false)",
        expected: "tests.overall_pass",
        found: "tests.overall_pass = false",
        artifact: "tests",
        file: "tests.json",
        pointer: "/overall_pass",
        hint: `row verify → done, line ${passed?.line ?? 0} of bug.md`,
      },
    ]);
    // The other half of it holds, and is not complained of.
    expect(again?.blockers.map(({ expected, found }) => [expected, found])).toEqual([
      ["visits.fix < limits.attempts", "visits.fix = 3, limits.attempts = 3"],
    ]);
    expect(human).toMatchObject({ to: "stuck", open: true, blockers: [] });
  });

  it("a value that is not there", () => {
    const given = evidence("reproduce", { artifacts: { report: artifact("report", { kind: "crash" }) } });
    const { ways, reason } = refusedBy(decide(workflow, given, event("next")));
    expect(ways[0]?.blockers[0]).toMatchObject({ artifact: "report", file: "report.json", pointer: "/failing" });
    expect(reason).toMatch(/^reproduce stays where it is: `report.failing` does not hold/);
  });

  it("a long value is cut", () => {
    const rows: Row[] = [{ from: "a", to: "b", when: 'state.text == ""' }];
    const { ways } = refusedBy(
      decide(small(rows), evidence("a", { state: { text: "x".repeat(1000) } }), event("next")),
    );
    expect(ways[0]?.blockers[0]?.found?.length).toBeLessThan(160);
  });

  it("an event that the phase does not know, and those that it does", () => {
    expect(refusedBy(decide(workflow, evidence("stuck"), event("next"))).reason).toBe(
      "`next` is no event of stuck; expected one of: resume",
    );
  });

  it("the end, and a phase that nobody knows", () => {
    expect(refusedBy(decide(workflow, evidence("done"), event("next"))).reason).toBe(
      "done is the end: no transition leads out of it",
    );
    expect(decide(workflow, evidence("nowhere"), event("next"))).toMatchObject({ kind: "refusal", ways: [] });
  });

  it("no way that only pawl takes is offered to people", () => {
    const rows: Row[] = [
      { from: "a", to: "b" },
      { from: "a", to: "c", event: "fail", by: "pawl" },
    ];
    expect(waysOut(small(rows), evidence("a")).map(({ to }) => to)).toEqual(["b"]);
  });
});

describe("a human's power over the table", () => {
  const workflow = parse(
    changed(FIX_A_BUG, ["limits: { attempts: 3 }", "limits: { attempts: 3 }\nhuman: [override, redo]"]),
  );
  const at = (phase: string, more: Partial<Evidence> = {}): Evidence =>
    evidence(phase, { limits: { attempts: 3 }, ...more });
  const send = (
    name: string,
    to: string | undefined,
    reason: string | undefined,
    phase = "fix",
    by: Sender = HUMAN,
  ): Decision | Refusal =>
    decide(
      workflow,
      at(phase),
      event(name, by, { ...(to === undefined ? {} : { to }), ...(reason === undefined ? {} : { reason }) }),
    );

  it.each(["reproduce", "fix", "verify", "stuck", "done"])(
    "override goes to %s, from anywhere, and says what it skipped",
    (to) => {
      for (const phase of ["reproduce", "fix", "verify", "stuck", "done"]) {
        const decision = decided(send("override", to, " I looked at it ", phase));
        expect(decision).toMatchObject({
          from: phase,
          to,
          row: null,
          actions: [],
          relied: [],
          reason: "I looked at it",
        });
      }
    },
  );

  it("names what stood in the table's own way, or that the table has none", () => {
    expect(decided(send("override", "verify", "r")).skipped).toMatchObject([{ kind: "missing", artifact: "change" }]);
    expect(decided(send("override", "done", "r")).skipped).toMatchObject([
      { kind: "phase", message: "the table has no row from fix to done" },
      { kind: "missing", artifact: "change" },
    ]);
    expect(decided(send("override", "fix", "r", "stuck")).skipped).toEqual([]);
  });

  it.each([undefined, "", "  ", "\n\t\u00a0"])("needs a reason that is not blank, not %j", (reason) => {
    for (const power of ["override", "redo"]) {
      const refusal = refusedBy(send(power, "reproduce", reason));
      expect(refusal.ways[0]?.blockers).toMatchObject([
        { kind: "reason", hint: `pawl ${power} reproduce --reason "…"` },
      ]);
    }
  });

  it.each(["nowhere", "", "Fix", "fix ", "__proto__", undefined])("needs a phase of the workflow, not %j", (to) => {
    for (const power of ["override", "redo"]) {
      expect(refusedBy(send(power, to, "r")).ways[0]?.blockers[0]).toMatchObject({
        kind: "phase",
        expected: "reproduce, fix, verify, stuck, done",
        found: to ?? "",
      });
    }
  });

  it("suggests the phase that was meant", () => {
    expect(refusedBy(send("override", "verfy", "r")).ways[0]?.blockers[0]?.hint).toBe("did you mean verify?");
  });

  it.each([agent("coder"), agent("reviewer"), agent("unknown"), PAWL])("no agent has it: %j", (by) => {
    for (const power of ["override", "redo"]) {
      const refusal = refusedBy(send(power, "reproduce", "I am sure", "fix", by));
      expect(refusal.ways[0]?.blockers).toMatchObject([
        { kind: "sender", expected: "human", found: describeSender(by) },
      ]);
    }
  });

  it.each([
    ["fix", "reproduce", true],
    ["fix", "fix", true],
    ["fix", "verify", false],
    ["verify", "fix", true],
    ["reproduce", "stuck", false],
    ["fix", "done", false],
    ["done", "done", false],
    ["done", "reproduce", true],
    ["done", "verify", true],
  ])("redo from %s to %s: %s", (phase, to, allowed) => {
    const outcome = send("redo", to, "again", phase);
    expect(outcome.kind).toBe(allowed ? "decision" : "refusal");
    if (outcome.kind === "decision") expect(outcome).toMatchObject({ to, skipped: [], reason: "again", row: null });
    else expect(outcome.reason).toMatch(to === "done" ? /done is an end/ : /redo goes back, but/);
  });

  it("frees a task that waits", () => {
    const waiting = at("fix", { waiting: "three rounds" });
    for (const [power, to] of [
      ["override", "verify"],
      ["redo", "reproduce"],
    ] as const)
      expect(decided(decide(workflow, waiting, event(power, HUMAN, { to, reason: "r" }))).to).toBe(to);
  });

  it("is there only where the document grants it", () => {
    const none = parse(FIX_A_BUG);
    const some = parse(changed(FIX_A_BUG, ["limits: { attempts: 3 }", "limits: { attempts: 3 }\nhuman: [redo]"]));
    const ask = (document: Workflow, power: string): string =>
      decide(document, at("fix"), event(power, HUMAN, { to: "reproduce", reason: "r" })).kind;
    expect(["override", "redo"].map((power) => ask(none, power))).toEqual(["refusal", "refusal"]);
    expect(["override", "redo"].map((power) => ask(some, power))).toEqual(["refusal", "decision"]);
  });
});
