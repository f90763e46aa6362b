import { appendFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { appendTranscript, readTranscript, type TranscriptEntry } from "../../src/task/transcript.js";
import { makeTask, NOW } from "../support/workspace.js";

const entry = (text: string, data?: Record<string, unknown>): TranscriptEntry => ({
  at: NOW.toISOString(),
  kind: "command",
  by: "ada@example.org",
  text,
  ...(data === undefined ? {} : { data }),
});

describe("the transcript", () => {
  it("is empty where nothing was said, and keeps the order of what was", () => {
    const task = makeTask();
    expect(readTranscript(task.dir)).toEqual([]);
    const said = [entry("one"), entry("zwei\n二 🦀"), entry("three", { n: [1, { deep: null }] })];
    for (const each of said) appendTranscript(task.dir, each, {});
    expect(readTranscript(task.dir)).toEqual(said);
  });

  it("leaves out a line that a crash tore apart, and no other", () => {
    const task = makeTask();
    appendTranscript(task.dir, entry("one"), {});
    appendFileSync(join(task.dir, "transcript.jsonl"), '{"at":"2026\n');
    appendTranscript(task.dir, entry("two"), {});
    expect(readTranscript(task.dir).map(({ text }) => text)).toEqual(["one", "two"]);
  });

  it.each(["null", "[]", "5", '"x"', "{}", '{"at":"","kind":"note","by":"Ada","text":5}'])(
    "leaves out %s, which is no entry",
    (line) => {
      const task = makeTask();
      appendTranscript(task.dir, entry("one"), {});
      appendFileSync(join(task.dir, "transcript.jsonl"), `${line}\n`);
      expect(readTranscript(task.dir)).toEqual([entry("one")]);
    },
  );

  it("cuts a text that would fill it", () => {
    const task = makeTask();
    appendTranscript(task.dir, entry("x".repeat(1_000_000)), {});
    expect(task.bytes("transcript.jsonl").length).toBeLessThan(10_000);
    expect(readTranscript(task.dir)[0]?.text).toMatch(/x \[…\]$/);
  });

  it("masks secrets in the text and in the data, also those that JSON writes in another way", () => {
    const task = makeTask();
    const secret = 'quote" and \\ back\nslash';
    appendTranscript(task.dir, entry(`say ${secret}`, { deep: [{ text: `and ${secret}!` }] }), { THE_TOKEN: secret });
    expect(readTranscript(task.dir)).toEqual([entry("say [masked]", { deep: [{ text: "and [masked]!" }] })]);
  });

  it.each([
    ["a key that was cut off", `-----BEGIN PRIVATE KEY-----\nabc`, "[masked private key]"],
    ["a port, with a mail address later in the entry", "see http://localhost:3000", "see http://localhost:3000"],
  ])("stays readable around %s", (_what, text, shown) => {
    const task = makeTask();
    const data = { mail: "x@y.org", url: "http://localhost:8080" };
    appendTranscript(task.dir, entry(text, data), {});
    expect(readTranscript(task.dir)).toEqual([entry(shown, data)]);
  });

  it("can be read again whatever was said", () => {
    const task = makeTask();
    const said: string[] = [];
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
        appendTranscript(task.dir, entry(text), {});
        said.push(text);
      }),
      { numRuns: 50 },
    );
    expect(readTranscript(task.dir)).toHaveLength(said.length);
  });
});
