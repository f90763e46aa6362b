import { appendFileSync, closeSync, openSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formatEvent, readHistory, readTail, sealEvent, type HistoryEvent } from "../../src/task/history.js";
import { makeDirectory, makeTask } from "../support/workspace.js";

const CHUNK = 16 * 1024;

function file(content: string | Uint8Array): string {
  const path = join(makeDirectory(), "history.jsonl");
  writeFileSync(path, content);
  return path;
}

function chain(length: number, reason: (n: number) => string): HistoryEvent[] {
  const events: HistoryEvent[] = [];
  for (let seq = 1; seq <= length; seq++) {
    const base = { seq, at: "2026-01-01T00:00:00.000Z", type: "note", by: "Ada", reason: reason(seq) };
    events.push(sealEvent({ ...base, state: "s", prev: events.at(-1)?.hash ?? "" }));
  }
  return events;
}

const tailOf = (content: string | Uint8Array): { last: string | null; torn: string } => {
  const { last, torn } = readTail(file(content));
  return { last, torn: Buffer.from(torn).toString("utf8") };
};

describe("the end of a history", () => {
  it("is nothing where there is no file", () => {
    expect(readTail(join(makeDirectory(), "history.jsonl"))).toEqual({ last: null, torn: Buffer.alloc(0) });
  });

  it.each([
    ["", null, ""],
    ["\n", "", ""],
    ["a", null, "a"],
    ["a\n", "a", ""],
    ["a\nb", "a", "b"],
    ["a\nb\n", "b", ""],
    ["\na\n", "a", ""],
    ["a\n\n", "", ""],
    ["a\nb\nc", "b", "c"],
  ])("of %j is %j and, torn, %j", (content, last, torn) => {
    expect(tailOf(content)).toEqual({ last, torn });
  });

  // Around every border between two chunks, lines that end before, on and after it.
  it.each([CHUNK - 2, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 1, 2 * CHUNK, 4 * CHUNK + 1, 1_000_000])(
    "is whole where a line has %i bytes",
    (length) => {
      const long = "x".repeat(length);
      expect(tailOf(`${long}\n`)).toEqual({ last: long, torn: "" });
      expect(tailOf(`before\n${long}\n`)).toEqual({ last: long, torn: "" });
      expect(tailOf(`before\n${long}\nafter`)).toEqual({ last: long, torn: "after" });
      expect(tailOf(`before\nlast\n${long}`)).toEqual({ last: "last", torn: long });
      expect(tailOf(`${long}\nlast\n`)).toEqual({ last: "last", torn: "" });
    },
  );

  it("keeps characters whole that lie across the border of a chunk", () => {
    for (const char of ["ü", "二", "🦀"]) {
      for (let shift = 0; shift < 5; shift++) {
        const line = `${"a".repeat(shift)}${char.repeat(CHUNK)}`;
        expect(tailOf(`first\n${line}\n`).last).toBe(line);
      }
    }
  });

  it("is found in a history of 20 MB, most of which is no text at all", () => {
    // The beginning is a hole that no line ends in: whoever reads all of it does not find the last line by luck.
    const path = file("");
    truncateSync(path, 20 * 1024 * 1024);
    appendFileSync(path, `\n{"seq":41}\n{"seq":42}\n{"se`);
    const { last, torn } = readTail(path);
    expect({ last, torn: torn.toString() }).toEqual({ last: '{"seq":42}', torn: '{"se' });
  });

  it("is all that a step of a task reads: what stands before is looked at by verify alone", async () => {
    const task = makeTask();
    await task.commit("one", "two");
    const history = task.read("history.jsonl").split("\n");
    task.write("history.jsonl", ["no event", ...history.slice(1)].join("\n"));
    await task.commit("three");
    expect(task.history().findings.map(({ message }) => message)).toContain("line 1 is not an event");
  });

  it("leaves no file open", () => {
    const path = file("a\n");
    const probe = (): number => {
      const fd = openSync(path, "r");
      closeSync(fd);
      return fd;
    };
    const before = probe();
    for (let n = 0; n < 5; n++) readTail(path);
    expect(probe()).toBe(before);
  });
});

describe("the whole history", () => {
  const text = (events: HistoryEvent[]): string => events.map(formatEvent).join("");

  it("gives all events with their lines", () => {
    const events = chain(50, (n) => `event ${n} – 二 🦀 \u2028`);
    expect(readHistory(file(text(events)))).toEqual({ events, lines: events.map(({ seq }) => seq), findings: [] });
  });

  it("does not mind a torn line, which the next writer completes", () => {
    const events = chain(3, String);
    expect(readHistory(file(text(events).slice(0, -5)))).toEqual({
      events: events.slice(0, 2),
      lines: [1, 2],
      findings: [],
    });
  });

  const broken: [string, (lines: string[]) => string[], { line: number; message: RegExp }[]][] = [
    [
      "an edited event",
      (lines) => lines.map((line) => line.replace('"reason":"2"', '"reason":"3"')),
      [{ line: 2, message: /event 2 was changed after it was written/ }],
    ],
    [
      "a removed event",
      (lines) => lines.filter((_line, index) => index !== 1),
      [{ line: 2, message: /event 3 does not follow/ }],
    ],
    [
      "a repeated event",
      ([first = "", ...rest]) => [first, first, ...rest],
      [{ line: 2, message: /event 1 does not follow/ }],
    ],
    [
      "two events in the wrong order",
      ([a = "", b = "", ...rest]) => [b, a, ...rest],
      [
        { line: 1, message: /event 2 does not follow/ },
        { line: 2, message: /event 1 does not follow/ },
        { line: 3, message: /event 3 does not follow/ },
      ],
    ],
    [
      "a line that is no event",
      ([first = "", ...rest]) => [first, "hello", ...rest],
      [{ line: 2, message: /line 2 is not an event/ }],
    ],
    [
      "JSON that is no event",
      ([first = "", ...rest]) => [first, '{"seq":2}', "null", "[]", ...rest],
      [
        { line: 2, message: /is not an event/ },
        { line: 3, message: /is not an event/ },
        { line: 4, message: /is not an event/ },
      ],
    ],
    [
      "events with fields of other types",
      (lines) =>
        lines.map((line, index) => {
          const wrong = [{ seq: "1" }, { at: 5 }, { by: null, data: [] }, { evidence: { a: {} } }][index];
          return JSON.stringify({ ...(JSON.parse(line) as object), ...wrong });
        }),
      [1, 2, 3, 4].map((line) => ({ line, message: /is not an event/ })),
    ],
    ["a beginning that is missing", (lines) => lines.slice(1), [{ line: 1, message: /event 2 does not follow/ }]],
  ];

  it("says which field of an event is wrong", () => {
    const [event] = chain(1, String);
    const line = JSON.stringify({ ...event, data: { owner: { pid: "self", started: "" } } });
    expect(readHistory(file(`${line}\n`)).findings).toEqual([
      {
        message: "line 1 is not an event",
        file: "history.jsonl",
        line: 1,
        pointer: "/data/owner/pid",
        expected: "a whole number from 1 on",
        found: '"self"',
      },
    ]);
  });

  it.each(broken)("names %s", (_name, change, expected) => {
    const lines = text(chain(4, String)).trimEnd().split("\n");
    const { findings } = readHistory(file(`${change(lines).join("\n")}\n`));
    expect(findings.map(({ line }) => line)).toEqual(expected.map(({ line }) => line));
    findings.forEach((finding, index) => {
      expect(finding.message).toMatch(expected[index]?.message ?? /^$/);
      expect(finding).toMatchObject({ file: "history.jsonl" });
      expect(finding.expected).toBeTruthy();
      expect(finding.found).toBeTruthy();
    });
  });
});
