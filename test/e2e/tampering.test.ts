import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeCli, makeTask, NOT_OK, OK, PLAN, refuse, type Cli } from "../support/cli.js";

const SENT: string[][] = [
  ["next"],
  ["next", "--auto"],
  ["status"],
  ["why"],
  ["suggest"],
  ["next", "--dry-run"],
  ["run", "planning"],
  ["redo", "planning", "--reason", "because"],
  ["override", "accept", "--reason", "because"],
  ["next", "--override", "because"],
  ["resume", "--note", "go on"],
  ["answer", "accepted"],
];

describe("a state file that cannot be read is named, kept, and never replaced", () => {
  const corrupt: [string, string, RegExp][] = [
    ["not JSON", '{"phase": "planning",', /state\.json is not JSON/],
    ["empty", "", /state\.json is not JSON: an empty file/],
    ["null", "null", /state\.json: \/ expected a JSON object, found null/],
    ["no phase", "{}", /state\.json: \/phase expected the name of a phase, found nothing/],
    ["a phase that is no text", '{"phase": 3}', /state\.json: \/phase expected the name of a phase, found 3/],
    ["a key twice", '{"phase": "planning", "phase": "done"}', /state\.json has the key "phase" twice/],
    [
      "an unknown phase",
      '{"phase": "finished"}',
      /`finished` is no phase of global-state-machine; expected one of: planning, plan_review/,
    ],
    ["the wrong case", '{"phase": "Done"}', /`Done` is no phase of global-state-machine/],
  ];
  it("whatever is wrong with it", () => {
    const cli = makeCli();
    const task = makeTask(cli);
    task.write("planning/plan.json", PLAN);
    for (const [what, content, message] of corrupt) {
      task.write("state.json", content);
      for (const args of [["next"], ["override", "done", "--reason", "because"]]) {
        const { code, error } = refuse(cli, ...args);
        expect(code, what).toBe(3);
        expect(error.message).toMatch(message);
        expect(error.findings[0]).toMatchObject({
          file: "state.json",
          expected: expect.any(String) as string,
          found: expect.any(String) as string,
        });
      }
      expect(task.read("state.json")).toBe(content);
    }
    expect(cli.pawl("verify").code).toBe(3);
  });

  it("by every command, and the list of tasks still works", () => {
    const cli = makeCli();
    const task = makeTask(cli);
    task.write("state.json", '{"phase": "reviewing"}');
    for (const args of SENT) {
      const { code, error } = refuse(cli, ...args);
      expect(code, args.join(" ")).toBe(3);
      expect(error.findings[0]).toMatchObject({ file: "state.json", pointer: "/phase", found: "reviewing" });
    }
    task.write("state.json", "rubbish");
    expect(cli.pawl("tasks", "--json").json().tasks).toMatchObject([{ id: "t1", phase: "?" }]);
  });

  it("a torn state file of a task that was under way: a human takes over the last phase on record, and the file is kept", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    const torn = task.read("state.json").slice(0, 100);
    task.write("state.json", torn);
    expect(refuse(cli, "next").error.hint).toContain('pawl verify --adopt "why"');
    expect(refuse(cli, "verify", "--adopt", "  ").code).toBe(2);
    const adopted = cli.pawl("verify", "--adopt", "the disk was full", "--json");
    expect(adopted.json()).toMatchObject({ ok: true });
    expect(task.read("state.json.kept-1")).toBe(torn);
    expect(cli.pawl("status", "--json").json().phase).toBe("plan_review");
    expect(cli.pawl("history", "--json").json().events.at(-1)).toMatchObject({
      type: "task.adopted",
      by: "tess",
      reason: "the disk was full",
    });
  });
});

describe("records that disagree", () => {
  it("an edited phase is noticed by every command, until a human adopts it; what it skipped opens nothing", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    task.write("state.json", task.read("state.json").replace('"phase": "plan_review"', '"phase": "accept"'));
    for (const args of SENT) {
      const { code, error, text } = refuse(cli, ...args);
      expect(code, args.join(" ")).toBe(3);
      expect(text).toContain("it says `accept`, the history says `plan_review`");
      expect(error.findings[0]).toMatchObject({ file: "state.json", expected: "plan_review", found: "accept" });
      expect(error.hint).toContain("pawl verify");
    }
    const verified = cli.pawl("verify", "--json");
    expect(verified.code).toBe(3);
    expect(verified.json()).toMatchObject({ ok: false, findings: [{ file: "state.json" }] });
    expect(cli.pawl("verify", "--adopt", "I know", "--json").code).toBe(0);
    expect(cli.pawl("status", "--json").json().phase).toBe("accept");
    expect(refuse(cli, "answer", "accepted", "--note", "x").code).toBe(1);
    expect(cli.git("log", "--format=%s", "main")).toBe("First");
    expect(cli.pawl("history").stdout).toContain("I know");
    expect(cli.pawl("verify", "--json").json().notes.join()).toContain("I know");
  });

  const edits: [string, (cli: Cli) => void, RegExp][] = [
    [
      "a counter",
      (cli) => edit(cli, '"visits": 1', '"visits": 0'),
      /state\.json cannot be trusted: it was changed by hand/,
    ],
    [
      "the recorded hash of evidence",
      (cli) => edit(cli, /"accepted": "[0-9a-f]{4}/, '"accepted": "0000'),
      /it was changed by hand/,
    ],
    ["the last event", (cli) => edit(cli, '"by": "tess"', '"by": "boss"'), /its last event was changed by hand/],
    [
      "a further field",
      (cli) => edit(cli, '"waiting": null', '"waiting": null, "note": "x"'),
      /it was changed by hand/,
    ],
    [
      "the last event left out",
      (cli) => {
        const { lastEvent: _, ...rest } = cli.task().readJson("state.json");
        cli.task().write("state.json", rest);
      },
      /it names no last event, but there is a history/,
    ],
    [
      "a minimal state in its place",
      (cli) => cli.task().write("state.json", { phase: "accept" }),
      /it names no last event, but there is a history/,
    ],
    [
      "the history deleted",
      (cli) => cli.task().remove("history.jsonl"),
      /history\.jsonl cannot be trusted: it does not end with the event/,
    ],
    ["the history emptied", (cli) => cli.task().write("history.jsonl", ""), /history\.jsonl cannot be trusted/],
    [
      "the history cut",
      (cli) =>
        cli.task().write("history.jsonl", cli.task().read("history.jsonl").split("\n").slice(0, 1).join("\n") + "\n"),
      /history\.jsonl cannot be trusted/,
    ],
    [
      "the end of the history rewritten",
      (cli) =>
        cli.task().write(
          "history.jsonl",
          cli
            .task()
            .read("history.jsonl")
            .replace(/"reason":"the plan is valid[^"]*"/, '"reason":"x"'),
        ),
      /history\.jsonl cannot be trusted/,
    ],
    [
      "rubbish at the end of the history",
      (cli) => cli.task().write("history.jsonl", `${cli.task().read("history.jsonl")}rubbish\n`),
      /history\.jsonl cannot be trusted/,
    ],
    [
      "the state deleted",
      (cli) => cli.task().remove("state.json"),
      /state\.json cannot be trusted: it is missing, but there is a history/,
    ],
    [
      "state minimal and history deleted",
      (cli) => {
        cli.task().write("state.json", { phase: "accept" });
        cli.task().remove("history.jsonl");
      },
      /it has no history, but the task has been run before/,
    ],
  ];
  it("are refused until a human adopts them", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    task.write("review/plan-review.json", OK);
    const restore = task.keep();
    for (const [what, tamper, message] of edits) {
      tamper(cli);
      const { code, error } = refuse(cli, "next");
      expect(code, what).toBe(3);
      expect(error.message, what).toMatch(message);
      expect(error.hint).toContain("pawl verify");
      const verified = cli.pawl("verify");
      expect(verified.code, what).toBe(3);
      expect(verified.stdout).toContain('pawl verify --adopt "why" t1');
      expect(cli.pawl("verify", "--adopt", "looked at it").code, what).toBe(0);
      restore();
    }
    // Nothing was wrong with the task itself.
    expect(cli.pawl("next", "--json").json().to).toBe("codegen");
  });

  it("an edit in the middle of the history is found by verify, with its line", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    const lines = task.read("history.jsonl").split("\n");
    lines[1] = (lines[1] ?? "").replace('"by":"', '"by":"not-');
    task.write("history.jsonl", lines.join("\n"));
    const verified = cli.pawl("verify", "--json");
    expect(verified.code).toBe(3);
    expect(verified.json().findings).toMatchObject([
      { file: "history.jsonl", line: 2, message: "event 2 was changed after it was written" },
    ]);
    lines.splice(1, 1);
    task.write("history.jsonl", lines.join("\n"));
    expect(cli.pawl("verify", "--json").json().findings[0]).toMatchObject({
      line: 2,
      message: "event 3 does not follow the one before it",
    });
  });

  it("there is nothing to adopt where nothing is wrong", () => {
    const cli = makeCli();
    makeTask(cli, "plan_review");
    expect(refuse(cli, "verify", "--adopt", "just so").code).toBe(2);
  });
});

describe("an agent that edits the records gains nothing", () => {
  const tricks: [string, string][] = [
    ["sets the phase", `state.phase = "accept"; save();`],
    ["sets the phase and forgets the last event", `state.phase = "accept"; delete state.lastEvent; save();`],
    [
      "deletes the history and writes a new state",
      `fs.rmSync(path.join(dir, "history.jsonl")); state = { phase: "accept" }; save();`,
    ],
    ["raises its own limits", `state.counters.x = 1; state.actors.plan_review.visits = 0; save();`],
    [
      "sets the phase and adopts it as a human would",
      `state.phase = "accept"; save();
       const { PAWL_TOKEN: _, ...human } = env;
       const { status } = require("node:child_process").spawnSync("pawl", ["verify", "--adopt", "I am human"], { env: human });
       if (status !== 1) process.exit(99);`,
    ],
  ];
  it.each(tricks)("one that %s", (_what, trick) => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    const body = `const dir = env.PAWL_TASK_DIR; const file = path.join(dir, "state.json");
      let state = JSON.parse(fs.readFileSync(file, "utf8"));
      const save = () => fs.writeFileSync(file, JSON.stringify(state));
      leave("plan_review", ${JSON.stringify(OK)}); ${trick}
      fs.copyFileSync(file, path.join(${JSON.stringify(cli.root)}, "edited.json"));`;
    cli.config({ agents: { plan_reviewer: { command: cli.agent("reviewer", body) } } });
    const result = cli.pawl("next");
    expect(result.code).toBe(3);
    expect(result.stderr).toContain("cannot be trusted");
    expect(result.stderr).toContain("pawl verify");
    // Left as it was found: nobody's edit is overwritten, and nobody follows it.
    expect(task.read("state.json")).toBe(readFileSync(join(cli.root, "edited.json"), "utf8"));
    expect(refuse(cli, "next").code).toBe(3);
    expect(cli.pawl("transcript").stdout).toContain("cannot be trusted");
  });
});

describe("what an agent changes while it works makes its task wait for a human", () => {
  /** Adds a sound event to sound records: only whoever knew them before can tell. */
  const forge = (change: string): string => `const { createHash } = require("node:crypto");
    const canonical = (value) => Array.isArray(value) ? "[" + value.map(canonical).join(",") + "]"
      : value !== null && typeof value === "object"
        ? "{" + Object.keys(value).sort().filter((key) => value[key] !== undefined)
            .map((key) => JSON.stringify(key) + ":" + canonical(value[key])).join(",") + "}"
        : JSON.stringify(value);
    const sha = (value) => createHash("sha256").update(canonical(value)).digest("hex");
    const file = path.join(env.PAWL_TASK_DIR, "state.json");
    const { lastEvent: last, phase: _phase, ...rest } = JSON.parse(fs.readFileSync(file, "utf8"));
    const known = ["waiting", "revision", "actors", "counters", "workflow", "evidence", "putAway"];
    const state = { phase: _phase, fields: {} };
    for (const key of Object.keys(rest)) (known.includes(key) ? state : state.fields)[key] = rest[key];
    ${change}
    const event = { seq: last.seq + 1, at: new Date().toISOString(), type: "transition", by: "pawl", state: sha(state), prev: last.hash };
    event.hash = sha(event);
    const { fields, ...top } = state;
    fs.writeFileSync(file, JSON.stringify({ ...top, ...fields, lastEvent: event }));
    fs.appendFileSync(path.join(env.PAWL_TASK_DIR, "history.jsonl"), JSON.stringify(event) + "\\n");`;
  const wipe = `const { PAWL_TASK_DIR: dir } = env;
    for (const part of ["history.jsonl", "state.json", "planning", "plan_review"]) fs.rmSync(path.join(dir, part), { recursive: true });
    fs.writeFileSync(path.join(dir, "state.json"), JSON.stringify({ phase: "codegen" }));`;
  const records = /the records of the task were changed while the work went on/;

  it.each([
    [
      "an event that says it has been approved",
      forge(`state.phase = "codegen"; state.actors.plan_review.run = undefined;`),
    ],
    ["an event that resets a bound", forge(`state.actors.plan_review.visits = 0;`)],
    ["all records gone, and a state further on", wipe],
  ])("%s", (_what, trick) => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    const reviewer = cli.agent("reviewer", `leave("plan_review", ${JSON.stringify(OK)}); ${trick}`);
    cli.config({ agents: { plan_reviewer: { command: reviewer } } });
    const result = cli.pawl("next", "--json");
    expect(result.code, result.stdout).toBe(10);
    expect(result.json().error.message).toMatch(records);
    expect(task.readJson("state.json")).toMatchObject({ phase: "plan_review", actors: { plan_review: { visits: 1 } } });
    expect(task.has("review/plan-review.json")).toBe(false);
    expect(cli.pawl("next").code).toBe(10);
    expect(cli.pawl("history", "--json").json().events.at(-1)).toMatchObject({ type: "run.disturbed" });
  });

  it.each([
    [
      "pawl.json",
      `const file = path.join(dir, "pawl.json"); const config = JSON.parse(fs.readFileSync(file)); config.test = ["true"]; fs.writeFileSync(file, JSON.stringify(config));`,
    ],
    [
      "tasks/t1/task.md",
      `fs.writeFileSync(path.join(env.PAWL_TASK_DIR, "task.md"), "---\\ntitle: x\\ntest: 'true'\\n---\\n");`,
    ],
    [
      "system/schemas/plan-review.schema.json",
      `fs.mkdirSync(path.join(dir, "system/schemas"), { recursive: true }); fs.writeFileSync(path.join(dir, "system/schemas/plan-review.schema.json"), "{}");`,
    ],
  ])("the rules that it is judged by: %s", (file, trick) => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    const body = `const dir = ${JSON.stringify(cli.dir)}; leave("plan_review", ${JSON.stringify(OK)}); ${trick}`;
    cli.config({ test: ["false"], agents: { plan_reviewer: { command: cli.agent("reviewer", body) } } });
    const before = cli.has(file) ? cli.read(file) : null;
    const { error } = cli.pawl("next", "--json").json();
    expect(error).toMatchObject({ kind: "halted", findings: [{ file, expected: expect.any(String) as string }] });
    expect(task.readJson("state.json")).toMatchObject({
      phase: "plan_review",
      waiting: { reason: expect.stringContaining(file) as string },
    });
    // The work itself is sound and kept: once the rules are put back, a human's word lets it count.
    if (before === null) rmSync(join(cli.dir, file));
    else cli.write(file, before);
    expect(cli.pawl("resume", "--note", "put back").code).toBe(0);
    expect(cli.pawl("next", "--json").json().to).toBe("codegen");
    expect(task.has("plan_review/runs/2")).toBe(false);
  });

  it("the plan that its change is measured by, though nobody reviewed it", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    cli.pawl("override", "codegen", "--reason", "the reviewer is down");
    const wider = { ...PLAN, files: [...PLAN.files, { path: "backdoor.txt", intent: "create" }] };
    const body = `fs.writeFileSync("hello.txt", "hello"); fs.writeFileSync("backdoor.txt", "x");
      fs.writeFileSync(path.join(env.PAWL_TASK_DIR, "planning/plan.json"), ${JSON.stringify(JSON.stringify(wider))});`;
    cli.config({ agents: { coder: { command: cli.agent("coder", body) } } });
    const { error } = cli.pawl("next", "--json").json();
    expect(error).toMatchObject({ kind: "halted", findings: [{ file: "planning/plan.json" }] });
    expect(task.readJson("state.json")).toMatchObject({ phase: "codegen" });
    expect(task.has("code/changes.json")).toBe(false);
  });

  it("a review in another task: nobody's, until a person says whose it is", () => {
    const cli = makeCli();
    const other = makeTask(cli, "plan_review", "t2");
    makeTask(cli, "planning");
    const planner = `leave("plan", ${JSON.stringify(PLAN)});
      fs.mkdirSync(path.join(env.PAWL_TASK_DIR, "../t2/review"), { recursive: true });
      fs.writeFileSync(path.join(env.PAWL_TASK_DIR, "../t2/review/plan-review.json"), ${JSON.stringify(JSON.stringify(OK))});`;
    const reviewer = `leave("plan_review", ${JSON.stringify(NOT_OK)});`;
    cli.config({
      agents: {
        planner: { command: cli.agent("planner", planner) },
        plan_reviewer: { command: cli.agent("reviewer", reviewer) },
      },
    });
    expect(cli.pawl("next", "t1", "--json").json().to).toBe("plan_review");
    const { suggestion } = cli.pawl("status", "t2", "--json").json();
    expect(suggestion.action).toBe("work");
    expect(suggestion.reason).toContain("came while an agent was at work on planning of t1");
    const mine = join(cli.root, "mine.json");
    cpSync(join(other.dir, "review/plan-review.json"), mine);
    const restore = other.keep();
    // Its own reviewer is asked, and what it says counts.
    expect(cli.pawl("next", "t2", "--json").json().to).toBe("planning");
    restore();
    expect(cli.pawl("answer", `@${mine}`, "t2", "--json").json().to).toBe("codegen");
    expect(cli.pawl("history", "t2", "--json").json().events).toContainEqual(
      expect.objectContaining({ type: "artifact.left", by: "tess" }),
    );
  });

  it("a human is not taken for an agent because of a token elsewhere, nor an agent for a human without one", () => {
    const cli = makeCli();
    makeTask(cli, "planning", "t2");
    makeTask(cli, "plan_review");
    const body = `const { spawnSync } = require("node:child_process"); const { PAWL_TOKEN: _, ...human } = env;
      const { status } = spawnSync("sh", ["-c", "pawl override accept --reason mine t2"], { env: human });
      leave("plan_review", ${JSON.stringify(OK)}); process.exit(status === 1 ? 0 : 99);`;
    cli.config({ agents: { plan_reviewer: { command: cli.agent("reviewer", body) } } });
    expect(cli.pawl("next", "t1", "--json").json().to).toBe("codegen");
    expect(cli.pawl("status", "t2", "--json").json().phase).toBe("planning");
  });
});

describe("the workflow document", () => {
  const copy = (cli: Cli): void => {
    cli.pawl("spec", "show", "global-state-machine");
    cli.write("system/workflows/global-state-machine.md", cli.pawl("spec", "show", "global-state-machine").stdout);
  };
  const editDocument = (cli: Cli): void => {
    const file = "system/workflows/global-state-machine.md";
    cli.write(file, cli.read(file).replace("plan_rounds: 3", "plan_rounds: 4"));
  };

  it("changed under a running task is reported, not followed; a redo with a reason takes it over", () => {
    const cli = makeCli();
    copy(cli);
    const task = makeTask(cli, "plan_review");
    task.write("review/plan-review.json", OK);
    editDocument(cli);
    for (const args of [["next"], ["run", "plan_review"], ["next", "--auto"], ["answer", "accepted", "--note", "x"]]) {
      const { code, error, text } = refuse(cli, ...args);
      expect(code, args.join(" ")).toBe(3);
      expect(text).toContain("system/workflows/global-state-machine.md is not the document that this task began with");
      expect(error.findings[0]).toMatchObject({
        file: "system/workflows/global-state-machine.md",
        expected: expect.any(String) as string,
        found: expect.any(String) as string,
      });
      expect(error.hint).toContain('pawl redo plan_review --reason "…" t1');
    }
    expect(cli.pawl("status").stdout).toContain("is not the document that this task began with");
    expect(cli.pawl("redo", "plan_review", "--reason", "new rules").code).toBe(0);
    task.write("review/plan-review.json", OK);
    expect(cli.pawl("next", "--json").json().to).toBe("codegen");
  });

  it("changed before a merge stops the merge", () => {
    const cli = makeCli();
    copy(cli);
    makeTask(cli, "accept");
    editDocument(cli);
    expect(refuse(cli, "answer", "accepted", "--note", "x").code).toBe(3);
    expect(cli.git("log", "--format=%s", "main")).toBe("First");
  });

  it("may change as long as the task has not begun", () => {
    const cli = makeCli();
    copy(cli);
    cli.pawl("new", "Say hello", "--id", "t1");
    editDocument(cli);
    cli.task().write("planning/plan.json", PLAN);
    expect(cli.pawl("next", "--json").json().to).toBe("plan_review");
  });

  it("deleted or broken under a task", () => {
    const cli = makeCli();
    copy(cli);
    const own = "system/workflows/own.md";
    cli.write(
      own,
      cli.read("system/workflows/global-state-machine.md").replace("workflow: global-state-machine", "workflow: own"),
    );
    cli.pawl("new", "Say hello", "--id", "t1", "--workflow", "own");
    rmSync(join(cli.dir, own));
    const gone = refuse(cli, "next");
    expect(gone.code).toBe(3);
    expect(gone.error.message).toContain("there is no workflow `own`");
    writeFileSync(join(cli.dir, own), "# Nothing\n");
    const broken = refuse(cli, "next");
    expect(broken.code).toBe(3);
    expect(broken.text).toContain(own);
  });
});

function edit(cli: Cli, from: string | RegExp, to: string): void {
  const task = cli.task();
  const before = task.read("state.json");
  const after = before.replace(from, to);
  expect(after).not.toBe(before);
  task.write("state.json", after);
}
