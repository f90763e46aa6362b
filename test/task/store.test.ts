import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatEvent, hashEvent } from "../../src/task/history.js";
import { sha256 } from "../../src/workflow/hash.js";
import { hashState, overridesOf, withOverride } from "../../src/task/state.js";
import { adoptTask, loadTask, openTask } from "../../src/task/store.js";
import { errorOf, thrownBy } from "../support/errors.js";
import { commitNote, makeDirectory, makeTask, NOW, WORKFLOW, type TestTask } from "../support/workspace.js";

const load = (task: TestTask): ReturnType<typeof loadTask> => loadTask(task.dir, WORKFLOW);
const adopt = (task: TestTask, reason = "I looked at it"): ReturnType<typeof adoptTask> =>
  adoptTask(task.dir, WORKFLOW, { by: "Ada", reason, now: () => NOW });

/** The last line of the history, as bytes. */
function lastLine(task: TestTask): { before: Buffer; line: Buffer } {
  const bytes = task.bytes("history.jsonl");
  const begin = bytes.lastIndexOf(0x0a, bytes.length - 2) + 1;
  return { before: bytes.subarray(0, begin), line: bytes.subarray(begin) };
}

/** Puts a value where a JSON pointer leads. */
function put(state: Record<string, unknown>, pointer: string, value: unknown): void {
  const keys = pointer.split("/").slice(1);
  const last = keys.pop() ?? "";
  const parent = keys.reduce((object, key) => object[key] as Record<string, unknown>, state);
  parent[last] = value;
}

/** Nobody can go on from here, and nothing of it is overwritten. */
async function expectRefused(task: TestTask, message: RegExp): Promise<void> {
  const files = ["state.json", "history.jsonl"].filter((file) => task.has(file));
  const before = files.map((file) => sha256(task.bytes(file)));
  for (const error of [thrownBy(() => load(task)), await errorOf(task.open())]) {
    expect(error.kind).toBe("invalid");
    expect(error.message).toMatch(message);
    expect(error.hint).toBeTruthy();
    expect(error.findings[0]).toMatchObject({
      expected: expect.any(String) as string,
      found: expect.any(String) as string,
    });
  }
  expect(files.map((file) => sha256(task.bytes(file)))).toEqual(before);
}

describe("a task that pawl has not seen", () => {
  it("is fresh in an empty directory, and looking at it leaves nothing there", () => {
    const task = makeTask();
    expect(load(task)).toMatchObject({ origin: "fresh", bytes: null, unrecorded: "" });
    expect(load(task).state).toMatchObject({ phase: "reproduce", revision: 0, waiting: null, lastEvent: null });
    expect(task.has("state.json") || task.has("history.jsonl")).toBe(false);
  });

  it("is put on record once", async () => {
    const task = makeTask();
    await task.with((open) => open.begin("Bob"));
    await task.with((open) => open.begin("Bob"));
    expect(task.history().events).toMatchObject([
      { seq: 1, type: "task.created", by: "Ada", to: "reproduce", prev: "" },
    ]);
  });

  it("is imported where a state file lies without a history, which is recorded as it was", async () => {
    const task = makeTask();
    const original = '{ "phase": "verify", "owner": "Käthe", "counters": { "x": 3 } }\r\n';
    task.write("state.json", original);
    expect(load(task)).toMatchObject({ origin: "imported", state: { phase: "verify", fields: { owner: "Käthe" } } });
    expect(task.read("state.json")).toBe(original);
    await task.commit("on");
    expect(task.history()).toMatchObject({
      findings: [],
      events: [{ type: "task.imported", to: "verify", data: { original } }, { type: "note" }],
    });
    expect(load(task)).toMatchObject({ origin: "stored", state: { phase: "verify", fields: { owner: "Käthe" } } });
  });

  it("is imported without what only pawl can vouch for", async () => {
    const task = makeTask();
    const git = { merged: { commit: "HEAD", base: "main", before: "HEAD~1" } };
    task.write("state.json", JSON.stringify({ phase: "verify", git, overrides: [null], note: "go on", title: "T" }));
    expect(load(task).state.fields).toEqual({ title: "T" });
    await task.commit("on");
    expect(load(task).state.fields).toEqual({ title: "T", notes: ["on"] });
  });

  it.each(["fix/runs/1", "verify/runs"])(
    "is not imported, nor begun anew, where agents ran before: %s",
    async (runs) => {
      const task = makeTask();
      mkdirSync(join(task.dir, runs), { recursive: true });
      await expectRefused(task, /missing, but the task has been run before/);
      task.write("state.json", '{ "phase": "verify" }');
      await expectRefused(task, /has no history, but the task has been run before/);
    },
  );
});

describe("a commit", () => {
  it("writes the state and a chained event", async () => {
    const task = makeTask();
    const last = await task.commit("one", "two");
    const { events, findings } = task.history();
    expect(findings).toEqual([]);
    expect(events.map(({ seq, type, reason }) => ({ seq, type, reason }))).toEqual([
      { seq: 1, type: "task.created", reason: undefined },
      { seq: 2, type: "note", reason: "one" },
      { seq: 3, type: "note", reason: "two" },
    ]);
    expect(events.map(({ prev }) => prev)).toEqual(["", events[0]?.hash, events[1]?.hash]);
    for (const event of events) expect(event.hash).toBe(hashEvent(event));
    expect(events[2]?.state).toBe(hashState(last));
    expect(events[2]?.at).toBe(NOW.toISOString());
    expect(load(task)).toMatchObject({
      origin: "stored",
      unrecorded: "",
      state: { revision: 3, lastEvent: events[2] },
    });
    expect(load(task).state).toEqual(last);
  });

  it("counts revisions by itself, whatever it is given", async () => {
    const task = makeTask();
    const state = await task.with(async (open) => {
      await open.commit({ ...open.state, revision: 99, lastEvent: null }, { type: "note", by: "Ada" });
      return open.state;
    });
    expect(state.revision).toBe(2);
  });

  it("keeps every further field of the state file, of any type", async () => {
    const task = makeTask();
    const fields = { a: [1, null, { b: "ü\u2028\ud800" }], empty: {}, "": 0, n: -1.5e-7, __proto__x: true };
    await task.with((open) => open.commit({ ...open.state, fields }, { type: "note", by: "Ada" }));
    expect(load(task).state.fields).toEqual(fields);
  });

  it("is refused when the file was changed by hand since it was read", async () => {
    const task = makeTask();
    await task.commit("one");
    const open = await task.open();
    task.editState((state) => (state["phase"] = "done"));
    const edited = task.read("state.json");
    const history = task.read("history.jsonl");
    expect(await errorOf(commitNote(open, "two"))).toMatchObject({
      kind: "invalid",
      message: /changed by hand meanwhile/,
    });
    open.close();
    expect([task.read("state.json"), task.read("history.jsonl")]).toEqual([edited, history]);
  });

  it("is refused when the file was deleted, or put there, since it was read", async () => {
    const task = makeTask();
    const open = await task.open();
    task.write("state.json", '{"phase":"done"}');
    expect((await errorOf(open.begin("Ada"))).kind).toBe("invalid");
    open.close();
    task.remove("state.json");
    await task.commit("one");
    const again = await task.open();
    task.remove("state.json");
    expect((await errorOf(commitNote(again, "two"))).kind).toBe("invalid");
    again.close();
  });

  it("is refused when the state could not be read again: nothing is written", async () => {
    const task = makeTask();
    await task.commit("one");
    const before = task.read("state.json");
    const fields = { long: "x".repeat(17 * 1024 * 1024) };
    const error = await errorOf(
      task.with((open) => open.commit({ ...open.state, fields }, { type: "note", by: "Ada" })),
    );
    expect(error).toMatchObject({
      kind: "invalid",
      findings: [{ file: "state.json", expected: expect.stringContaining("at most") as string }],
    });
    expect(task.read("state.json")).toBe(before);
    await task.commit("two");
  });

  it("leaves no temporary file behind", async () => {
    const task = makeTask();
    await task.commit("one", "two");
    const { readdirSync } = await import("node:fs");
    expect(readdirSync(task.dir).sort()).toEqual(["history.jsonl", "state.json"]);
  });
});

describe("secrets", () => {
  const token = `ghp_${"aB3".repeat(12)}`;
  const said = `use ${token} and open sesame!`;
  const environment = { DOOR_PASSWORD: "open sesame!", DOOR: "oak" };
  const event = { type: "note", by: "Ada", reason: said, data: { deep: [{ note: said, n: 1, none: null }] } };

  it("do not reach the history, neither by their form nor by their value, and the chain holds", async () => {
    const task = makeTask();
    const open = await openTask(task.dir, WORKFLOW, () => NOW, environment);
    await open.begin("Ada");
    const committed = await open.commit(open.state, event);
    open.close();
    const masked = "use [masked] and [masked]";
    expect(committed).toMatchObject({ reason: masked, data: { deep: [{ note: masked, n: 1, none: null }] } });
    expect(task.history()).toMatchObject({ findings: [], events: { 1: committed } });
    expect(task.read("state.json") + task.read("history.jsonl")).not.toMatch(/ghp_|sesame/);
    expect(load(task).state.lastEvent).toEqual(committed);
  });

  it("are known by their form where the environment is not", async () => {
    const task = makeTask();
    await task.with((open) => open.commit(open.state, event));
    expect(task.history().events.at(-1)?.reason).toBe("use [masked] and open sesame!");
  });

  it("do not reach the records with the reason of an adoption", async () => {
    const task = makeTask();
    await task.commit("one");
    task.write("state.json", "{");
    await adoptTask(task.dir, WORKFLOW, { by: "Ada", reason: said, now: () => NOW, environment });
    expect(task.history().events.at(-1)?.reason).toBe("use [masked] and [masked]");
    expect(task.read("state.json") + task.read("history.jsonl")).not.toMatch(/ghp_|sesame/);
  });
});

describe("a crash between the state and its history", () => {
  it("is finished by the next writer, once, and shown to readers meanwhile", async () => {
    const task = makeTask();
    await task.commit("one", "zwei – 二 🦀");
    const { before, line } = lastLine(task);
    const complete = task.read("history.jsonl");
    task.write("history.jsonl", before);
    expect(load(task)).toMatchObject({ origin: "stored", unrecorded: line.toString("utf8"), torn: 0 });
    expect(task.bytes("history.jsonl")).toEqual(before);
    for (let writer = 0; writer < 3; writer++) (await task.open()).close();
    expect(task.read("history.jsonl")).toBe(complete);
  });

  it("is finished wherever in the line it came, even inside a character", async () => {
    const task = makeTask();
    await task.commit("zwei – 二 🦀");
    const state = load(task).state;
    const { before, line } = lastLine(task);
    const complete = task.read("history.jsonl");
    for (let cut = 0; cut < line.length; cut++) {
      task.write("history.jsonl", Buffer.concat([before, line.subarray(0, cut)]));
      const open = await task.open();
      open.close();
      expect(open.state, `cut after ${cut} bytes`).toEqual(state);
      expect(task.read("history.jsonl"), `cut after ${cut} bytes`).toBe(complete);
    }
  });

  it("is no excuse for a line that is not the beginning of that event", async () => {
    const task = makeTask();
    await task.commit("one");
    const { before } = lastLine(task);
    task.write("history.jsonl", Buffer.concat([before, Buffer.from('{"seq":2,"at":"1999')]));
    await expectRefused(task, /does not end with the event/);
  });

  it("may leave a temporary file, which the next writer removes when its process is gone", async () => {
    const task = makeTask();
    await task.commit("one");
    const { pid } = spawnSync(process.execPath, ["--version"]);
    task.write(`.state.json.${pid}.0.tmp`, '{"phase":');
    task.write(`.state.json.${pid}.17.tmp`, "");
    // A process that lives may still be at it; the rest is somebody else's.
    const others = [
      `.state.json.${process.pid}.0.tmp`,
      `.state.json.${pid}.tmp`,
      `.state.json.${pid}.0.tmp.bak`,
      `.state.json.0${pid}.0.tmp`,
      `state.json.${pid}.0.tmp`,
      `.other.json.${pid}.0.tmp`,
      `sub/.state.json.${pid}.0.tmp`,
    ];
    for (const file of others) task.write(file, "theirs");
    mkdirSync(join(task.dir, `.state.json.${pid}.1.tmp`));
    await task.commit("two");
    expect(task.history().events).toHaveLength(3);
    expect([0, 17].filter((n) => task.has(`.state.json.${pid}.${n}.tmp`))).toEqual([]);
    expect([...others, `.state.json.${pid}.1.tmp`].filter((file) => !task.has(file))).toEqual([]);
  });
});

describe("state and history that tell different stories", () => {
  /** The state file before the last two events. */
  let older = "";
  const cases: [string, RegExp, (task: TestTask) => void][] = [
    [
      "the history is ahead by an event",
      /does not end with the event/,
      (task) => {
        const event = task.history().events.at(-1)!;
        const { hash: _hash, ...rest } = { ...event, seq: event.seq + 1, prev: event.hash };
        task.write("history.jsonl", `${task.read("history.jsonl")}${formatEvent({ ...rest, hash: hashEvent(rest) })}`);
      },
    ],
    [
      "the history lacks two events",
      /does not end with the event/,
      (task) => {
        task.write("history.jsonl", task.read("history.jsonl").split("\n").slice(0, -3).join("\n") + "\n");
      },
    ],
    [
      "the history's last event is another",
      /does not end with the event/,
      (task) => {
        const { before } = lastLine(task);
        const event = { ...task.history().events.at(-1)!, reason: "another" };
        task.write("history.jsonl", `${before.toString()}${formatEvent({ ...event, hash: hashEvent(event) })}`);
      },
    ],
    [
      "the history's last line is no event",
      /last line is not an event/,
      (task) => {
        task.write("history.jsonl", `${task.read("history.jsonl")}hello\n`);
      },
    ],
    [
      "the history ends with an empty line",
      /last line is not an event/,
      (task) => {
        task.write("history.jsonl", `${task.read("history.jsonl")}\n`);
      },
    ],
    ["the history is gone", /does not end with the event/, (task) => task.remove("history.jsonl")],
    ["the history is empty", /does not end with the event/, (task) => task.write("history.jsonl", "")],
    ["the state is gone", /missing, but there is a history/, (task) => task.remove("state.json")],
    [
      "the state is an older one",
      /does not end with the event/,
      (task) => {
        task.write("state.json", older);
      },
    ],
    ["the state names no event", /names no last event/, (task) => task.write("state.json", '{"phase":"done"}')],
    [
      "the phase was edited",
      /says `done`, the history says `reproduce`/,
      (task) => task.editState((state) => (state["phase"] = "done")),
    ],
    ["a counter was edited", /changed by hand/, (task) => task.editState((state) => (state["counters"] = { x: 1 }))],
    ["a further field was edited", /changed by hand/, (task) => task.editState((state) => (state["notes"] = []))],
    ["a further field was added", /changed by hand/, (task) => task.editState((state) => (state["new"] = 1))],
    ["the revision was edited", /changed by hand/, (task) => task.editState((state) => (state["revision"] = 0))],
    [
      "the event in the state was edited",
      /last event was changed/,
      (task) => task.editState((state) => (state["lastEvent"] = { ...(state["lastEvent"] as object), to: "done" })),
    ],
    [
      "phase and event were edited together",
      /last event was changed/,
      (task) =>
        task.editState((state) => {
          state["phase"] = "done";
          state["lastEvent"] = { ...(state["lastEvent"] as object), to: "done" };
        }),
    ],
  ];

  it.each(cases)("%s", async (_name, message, change) => {
    const task = makeTask();
    await task.with(async (open) => {
      await open.commit(open.state, { type: "note", by: "Ada", to: "reproduce" });
      older = task.read("state.json");
      await commitNote(open, "two");
      await open.commit(open.state, { type: "moved", by: "Ada", to: "reproduce" });
    });
    change(task);
    await expectRefused(task, message);
  });

  it("an edited last line of the history: told with the hash that it should have", async () => {
    const task = makeTask();
    await task.commit("one");
    const { hash } = task.history().events.at(-1) ?? { hash: "" };
    task.write("history.jsonl", task.read("history.jsonl").replace('"reason":"one"', '"reason":"two"'));
    const found = hashEvent(task.history().events.at(-1)!);
    expect(thrownBy(() => load(task)).findings).toEqual([
      {
        message: "the line of event 2 was changed after it was written",
        file: "history.jsonl",
        expected: `hash ${hash.slice(0, 12)}`,
        found: `hash ${found.slice(0, 12)}`,
      },
    ]);
    task.write("history.jsonl", task.read("history.jsonl").replace('"reason":"two"', '"reason": "one"'));
    expect(thrownBy(() => load(task)).findings).toMatchObject([{ found: "the same event, written in another way" }]);
  });

  it.each(["phase", "counters"])("names the task in what to do about an edited %s", async (field) => {
    const task = makeTask();
    await task.commit("one");
    task.editState((state) => (state[field] = field === "phase" ? "done" : []));
    expect(thrownBy(() => load(task)).hint).toMatch(/`pawl verify t1`/);
    task.write("state.json", "{");
    expect(thrownBy(() => load(task)).hint).toContain('pawl verify --adopt "why" t1');
  });

  it("a rewritten chain is believed by nobody: whoever forges the event has to forge the state's hash too", async () => {
    const task = makeTask();
    await task.commit("one");
    task.editState((state) => {
      state["phase"] = "done";
      const event = { ...(state["lastEvent"] as Parameters<typeof hashEvent>[0]), to: "done" };
      state["lastEvent"] = { ...event, hash: hashEvent(event) };
    });
    await expectRefused(task, /changed by hand/);
  });
});

describe("a state file that cannot be read", () => {
  const deep = (levels: number): string => `{"phase":"fix","x":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  const cases: [string, string | Uint8Array, RegExp][] = [
    ["empty", "", /not JSON: an empty file/],
    ["blank", " \n\t\n", /not JSON: an empty file/],
    ["cut off", '{"phase": "fix", "rev', /is not JSON/],
    ["two documents", '{"phase":"fix"}{"phase":"done"}', /is not JSON/],
    ["NaN", '{"phase":"fix","revision":NaN}', /is not JSON/],
    ["a comment", '{"phase":"fix"} // done', /is not JSON/],
    ["a trailing comma", '{"phase":"fix",}', /is not JSON/],
    ["a repeated key", '{"phase":"fix","phase":"done"}', /"phase" twice/],
    ["a repeated key, escaped", '{"phase":"fix","ph\\u0061se":"done"}', /"phase" twice/],
    ["a byte-order mark", '\uFEFF{"phase":"fix"}', /byte-order mark/],
    ["NUL bytes", '{"phase":"fix"}\0\0\0', /is not JSON/],
    ["only NUL bytes", new Uint8Array(512), /is not JSON/],
    ["wrong UTF-8", Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), /not UTF-8/],
    ["UTF-16", Buffer.from('{"phase":"fix"}', "utf16le"), /is not JSON/],
    ["deeply nested", deep(100_000), /nested deeper/],
    ["just too deeply nested", deep(64), /nested deeper/],
    ["huge", `{"phase":"fix","x":"${"x".repeat(17 * 1024 * 1024)}"}`, /has \d+ bytes/],
    ["an array", '["fix"]', /expected a JSON object/],
    ["a text", '"fix"', /expected a JSON object/],
    ["null", "null", /expected a JSON object/],
    ["no phase", '{"phases":"fix"}', /expected the name of a phase, found nothing/],
    ["a phase that is no text", '{"phase":["fix"]}', /expected the name of a phase, found \["fix"\]/],
    ["an unknown phase", '{"phase":"fixx"}', /`fixx` is no phase of fix-a-bug; expected one of: reproduce, fix/],
    ["a phase in other letters", '{"phase":"DONE"}', /`DONE` is no phase/],
    ["an empty phase", '{"phase":""}', /`` is no phase/],
    ["a phase with a blank", '{"phase":"done "}', /is no phase/],
    ["actors that are no object", '{"phase":"fix","actors":[]}', /\/actors expected an object/],
    ["a workflow without a name", '{"phase":"fix","workflow":{}}', /\/workflow\/name expected text, found nothing/],
    ["an event that is none", '{"phase":"fix","lastEvent":[]}', /\/lastEvent expected an object/],
  ];

  it.each(cases)("%s", async (_name, content, message) => {
    const task = makeTask();
    task.write("state.json", content);
    await expectRefused(task, message);
    expect(load.bind(null, task)).toThrow(expect.objectContaining({ kind: "invalid" }) as Error);
  });

  it.each(cases.slice(0, 4))(
    "%s, with a history: kept, and the last phase on record is adopted",
    async (_name, content) => {
      const task = makeTask();
      await task.with(async (open) => {
        await open.commit(
          { ...open.state, phase: "fix" },
          { type: "transition", by: "Ada", from: "reproduce", to: "fix" },
        );
        await commitNote(open, "after it");
      });
      task.write("state.json", content);
      await expectRefused(task, /is not JSON/);
      const { state, kept } = await adopt(task);
      expect(state).toMatchObject({ phase: "fix", evidence: {} });
      expect(task.read(kept ?? "")).toBe(content);
      expect(load(task).state).toEqual(state);
      expect(task.history()).toMatchObject({
        findings: [],
        events: { length: 4, 3: { type: "task.adopted", seq: 4 } },
      });
    },
  );

  it.each([
    ["revision", "1", /\/revision expected a whole number/],
    ["waiting", "soon", /\/waiting expected null or an object/],
    ["counters", [], /\/counters expected an object/],
    ["evidence", null, /\/evidence expected an object/],
    ["workflow", "global", /\/workflow expected an object/],
    ["actors", 1, /\/actors expected an object/],
  ] as const)("a field of pawl's own with another type: %s", async (key, value, message) => {
    const task = makeTask();
    await task.commit("one");
    task.editState((state) => (state[key] = value));
    await expectRefused(task, message);
  });

  /** What stands where, and where the finding points to, if further inside. */
  const wrongInside: [string, string, unknown, string, string?][] = [
    ["no event", "/lastEvent", {}, "a whole number from 1 on", "/seq"],
    ["an event that is a text", "/lastEvent", "x", "an object"],
    ["an event without a time", "/lastEvent/at", undefined, "text"],
    ["data that are a list", "/lastEvent/data", [], "an object"],
    ["an owner that is no process", "/lastEvent/data", { owner: null }, "an object", "/owner"],
    ["no override", "/overrides", [null], "an object", "/0"],
    ["overrides that only have a length", "/overrides", { length: 3 }, "a list"],
    ["a note that is none", "/note", { a: 1 }, "text"],
    ["a record of git that is none", "/git", 5, "an object"],
    ["a path instead of a number", "/actors/reproduce/runs", "../../../../x", "a whole number"],
    ["a phase that is a text", "/actors", { "fix/~": "x" }, "an object", "/fix~1~0"],
    ["a phase that is null", "/actors/fix", null, "an object"],
    ["visits below 0", "/actors/reproduce/visits", -1, "a whole number, 0 or more"],
    ["half an attempt", "/actors/reproduce/attempts", 0.5, "a whole number"],
    ["endless failures", "/actors/reproduce/failures", 1e300, "a whole number"],
    ["an unknown status", "/actors/reproduce/status", "well", "one of: idle, running"],
    ["a run of nobody", "/actors/reproduce/run", { number: 1, since: "" }, "an object", "/owner"],
    ["a counter that is a text", "/counters/x", "1", "a whole number"],
    ["half a counter", "/counters/x", 1.5, "a whole number"],
    ["a workflow without a name", "/workflow", {}, "text", "/name"],
    ["a workflow with another name", "/workflow/name", { a: 1 }, "text"],
    ["evidence that is a text", "/evidence/report", "x", "an object"],
    ["no inputs", "/evidence/report", { inputs: null }, "an object", "/inputs"],
    ["an input that is a number", "/evidence/report", { inputs: { a: 5 } }, "text", "/inputs/a"],
    ["a waiver that is a number", "/evidence/report", { inputs: {}, waived: 1 }, "true or false", "/waived"],
    ["an archive elsewhere", "/evidence/report", { inputs: {}, archived: "../x" }, "a path inside", "/archived"],
    ["a wait without a reason", "/waiting", { since: "now" }, "text", "/reason"],
    ["moves that are none", "/putAway", [null], "an object", "/0"],
    ["a move to nowhere", "/putAway", [{ from: "a" }], "a path inside the task directory", "/0/to"],
    ["a move to elsewhere", "/putAway", [{ from: "a", to: "/b" }], "a path inside the task directory", "/0/to"],
    ["moves that are no list", "/putAway", {}, "a list"],
  ];
  it.each(wrongInside)("far inside: %s", async (_what, place, value, expected, further = "") => {
    const task = makeTask();
    await task.commit("one");
    task.editState((state) => put(state, place, value));
    const pointer = `${place}${further}`;
    await expectRefused(task, new RegExp(`^state\\.json: ${pointer} expected ${expected}`));
    expect(thrownBy(() => load(task)).findings[0]).toMatchObject({ file: "state.json", pointer });
    // A human cannot take it over either: the phase on record is taken, and the file kept.
    const edited = task.read("state.json");
    const { kept } = await adopt(task);
    expect(task.read(kept ?? "")).toBe(edited);
    await task.commit("on");
  });

  it("names everything that is wrong at once", async () => {
    const task = makeTask();
    await task.commit("one");
    task.editState((state) => Object.assign(state, { counters: { a: "x" }, revision: -1, waiting: {} }));
    expect(thrownBy(() => load(task)).findings.map(({ pointer }) => pointer)).toEqual([
      "/waiting/reason",
      "/waiting/since",
      "/revision",
      "/counters/a",
    ]);
  });

  it("CRLF is no fault", async () => {
    const task = makeTask();
    await task.commit("one");
    task.write("state.json", task.read("state.json").replaceAll("\n", "\r\n"));
    expect(load(task).origin).toBe("stored");
    await task.commit("two");
    expect(task.history()).toMatchObject({ findings: [], events: { length: 3 } });
  });

  it.each(["state.json", "history.jsonl"])("a directory in the place of %s", (file) => {
    const task = makeTask();
    mkdirSync(join(task.dir, file));
    expect(thrownBy(() => load(task))).toMatchObject({
      kind: "invalid",
      message: `${file} cannot be read: a directory`,
      findings: [{ file, expected: "a readable file", found: "a directory" }],
    });
  });
});

describe("adopting", () => {
  it("takes a phase that was edited by hand, drops what pawl had vouched for, and goes on from there", async () => {
    const task = makeTask();
    await task.with((open) =>
      open.commit(
        { ...open.state, evidence: { tests: { inputs: {}, written: "abc" } }, waiting: { reason: "r", since: "s" } },
        { type: "note", by: "Ada", to: "reproduce" },
      ),
    );
    task.editState((state) => {
      state["phase"] = "verify";
      state["mine"] = "kept";
    });
    const { state, kept } = await adopt(task, "moved by hand on purpose");
    expect(kept).toBeNull();
    expect(state).toMatchObject({ phase: "verify", evidence: {}, waiting: null, fields: { mine: "kept" } });
    expect(task.history().events.at(-1)).toMatchObject({
      type: "task.adopted",
      by: "Ada",
      reason: "moved by hand on purpose",
      to: "verify",
      data: { found: "the phase `verify`", foundPhase: "verify", recordedPhase: "reproduce", kept: null },
    });
    await task.commit("on");
    expect(task.history()).toMatchObject({ findings: [], events: { length: 4 } });
  });

  it("refuses an unknown phase: it cannot be adopted away", async () => {
    const task = makeTask();
    await task.commit("one");
    const before = task.read("history.jsonl");
    for (const edit of [{}, { counters: "and more that is wrong" }]) {
      task.editState((state) => Object.assign(state, { phase: "verfy", ...edit }));
      const edited = task.read("state.json");
      expect(await errorOf(adopt(task))).toMatchObject({
        kind: "invalid",
        message: "state.json: `verfy` is no phase of fix-a-bug; expected one of: reproduce, fix, verify, stuck, done",
        hint: "did you mean verify? Correct it in the file",
      });
      expect([task.read("state.json"), task.read("history.jsonl")]).toEqual([edited, before]);
    }
  });

  it("never overwrites what it keeps, and records what it found and where that went", async () => {
    const task = makeTask();
    await task.commit("one");
    for (const n of [1, 2, 3]) {
      task.write("state.json", `nothing ${n}`);
      expect(await adopt(task)).toMatchObject({ kept: `state.json.kept-${n}`, state: { phase: "reproduce" } });
      expect(task.history().events.at(-1)?.data).toEqual({
        found: expect.stringMatching(/^state\.json is not JSON/) as string,
        foundPhase: null,
        recordedPhase: "reproduce",
        kept: `state.json.kept-${n}`,
      });
    }
    expect([1, 2, 3].map((n) => task.read(`state.json.kept-${n}`))).toEqual([1, 2, 3].map((n) => `nothing ${n}`));
    expect(task.history().findings).toEqual([]);
  });

  it("does not begin anew where the phase on record is no longer one of the workflow", async () => {
    const task = makeTask();
    await task.with((open) => open.commit(open.state, { type: "note", by: "Ada", to: "polish" }));
    task.remove("state.json");
    expect(await errorOf(adopt(task))).toMatchObject({
      kind: "invalid",
      message: "the last phase on record, `polish`, is no phase of fix-a-bug",
      hint: expect.stringContaining('{"phase": "reproduce"}') as string,
    });
    task.write("state.json", '{"phase": "fix"}');
    expect((await adopt(task)).state.phase).toBe("fix");
  });

  it("loses no override, whichever record of them was edited", async () => {
    const task = makeTask();
    const override = { at: NOW.toISOString(), by: "Ada", from: "reproduce", to: "fix", reason: "it is known" };
    await task.with((open) =>
      open.commit(withOverride({ ...open.state, phase: "fix" }, override), { type: "override", ...override }),
    );
    for (const spoil of ["{", '{"phase": "verify"}']) {
      task.write("state.json", spoil);
      await adopt(task);
    }
    expect(overridesOf(load(task).state)).toMatchObject([
      override,
      { from: "fix", to: "fix", reason: "adopted: I looked at it" },
      { from: "fix", to: "verify", reason: "adopted: I looked at it" },
    ]);
    task.remove("history.jsonl");
    await adopt(task);
    expect(overridesOf(load(task).state)).toHaveLength(4);
  });

  it("brings back a state that was deleted", async () => {
    const task = makeTask();
    await task.with((open) =>
      open.commit({ ...open.state, phase: "fix" }, { type: "transition", by: "Ada", to: "fix" }),
    );
    task.remove("state.json");
    expect((await adopt(task)).state).toMatchObject({ phase: "fix", revision: 1 });
    expect(load(task).origin).toBe("stored");
  });

  it("goes on with a new history where the old one was deleted", async () => {
    const task = makeTask();
    await task.commit("one", "two");
    task.remove("history.jsonl");
    expect((await adopt(task)).state.fields["notes"]).toEqual(["one", "two"]);
    expect(task.history()).toMatchObject({ findings: [], events: [{ seq: 1, type: "task.adopted" }] });
  });

  it.each(["hello\n", "hello\nworld\n\n", '{"seq":9}\n', "torn", '{"seq":3,"at":"20'])(
    "goes on after a history that ends with %j, and leaves that where it is",
    async (junk) => {
      const task = makeTask();
      await task.commit("one");
      const before = `${task.read("history.jsonl")}${junk}`;
      task.write("history.jsonl", before);
      expect(thrownBy(() => load(task)).kind).toBe("invalid");
      const { state } = await adopt(task);
      expect(state.fields["notes"]).toEqual(["one"]);
      expect(task.read("history.jsonl").startsWith(before)).toBe(true);
      await task.commit("two");
      const { events, findings } = task.history();
      expect(events.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
        "1 task.created",
        "2 note",
        "3 task.adopted",
        "4 note",
      ]);
      // Only the junk itself is wrong.
      for (const { message } of findings) expect(message).toMatch(/^line \d+ is not an event$/);
    },
  );
});

describe("whatever crashes", () => {
  const moment = fc.record({
    notes: fc.array(fc.string({ unit: "grapheme", maxLength: 12 }), { minLength: 1, maxLength: 4 }),
    /** How much of the last event's line had reached the disk. */
    reached: fc.double({ min: 0, max: 1, noNaN: true }),
    /** A temporary file that the crash left. */
    litter: fc.boolean(),
  });

  it("every commit is in the history exactly once, and the state is that of the last", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(moment, { minLength: 1, maxLength: 4 }), async (moments) => {
        let task = makeTask(makeDirectory());
        const said: string[] = [];
        for (const { notes, reached, litter } of moments) {
          await task.commit(...notes);
          said.push(...notes);
          // The machine stops here: what is on the disk is all there is.
          task = task.copy();
          const { before, line } = lastLine(task);
          const cut = Math.floor(reached * line.length);
          task.write("history.jsonl", Buffer.concat([before, line.subarray(0, cut)]));
          if (litter) task.write(".state.json.1.0.tmp", line.subarray(0, cut));
          expect(load(task).state.fields["notes"]).toEqual(said);
        }
        (await task.open()).close();
        const { events, findings } = task.history();
        expect(findings).toEqual([]);
        expect(events.map(({ reason }) => reason).slice(1)).toEqual(said);
        expect(load(task)).toMatchObject({ unrecorded: "", state: { revision: said.length + 1 } });
      }),
      { numRuns: 25 },
    );
  });
});
