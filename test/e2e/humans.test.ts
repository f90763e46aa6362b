import { describe, expect, it } from "vitest";
import { makeCli, makeTask, OK, PLAN, PROGRAM, refuse, rehearse } from "../support/cli.js";

describe("override", () => {
  it("goes where the evidence does not lead, and every later summary shows it", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    const step = cli.pawl("override", "codegen", "--reason", "the reviewer is on holiday", "--json");
    expect(step.json()).toMatchObject({ from: "plan_review", to: "codegen", reason: "the reviewer is on holiday" });
    const shown = { from: "plan_review", to: "codegen", by: "tess", reason: "the reviewer is on holiday" };
    const everywhere = (): void => {
      expect(cli.pawl("status", "--json").json().overrides).toMatchObject([shown]);
      expect(cli.pawl("status").stdout).toContain("plan_review → codegen by tess: the reviewer is on holiday");
      expect(cli.pawl("tasks", "--json").json().tasks).toMatchObject([{ id: "t1", overrides: 1 }]);
      expect(cli.pawl("tasks").stdout).toContain("1 overridden");
      const event = cli
        .pawl("history", "--json")
        .json()
        .events.find(({ type }) => type === "override");
      expect(event).toMatchObject({ ...shown, data: { skipped: ["review/plan-review.json is missing"] } });
      expect(cli.pawl("history").stdout).toContain("the reviewer is on holiday");
      const said = cli
        .pawl("transcript", "--json")
        .json()
        .entries.find(({ kind }) => kind === "override");
      expect(said).toMatchObject({ by: "tess", text: "plan_review → codegen: the reviewer is on holiday" });
      expect(said?.data).toMatchObject({ skipped: ["review/plan-review.json is missing"] });
      expect(cli.pawl("verify", "--json").json()).toMatchObject({
        ok: true,
        notes: [expect.stringContaining("the reviewer is on holiday")],
      });
    };
    everywhere();
    // The review that was passed over stays passed over; what follows is gated as ever.
    task.edit("hello.txt", "hello\n");
    expect(cli.pawl("next", "--json").json().to).toBe("review");
    expect(refuse(cli, "next").code).toBe(1);
    task.write("review/code-review.json", OK);
    expect(cli.pawl("next", "--json").json().to).toBe("test");
    expect(cli.pawl("next", "--json").json().to).toBe("accept");
    expect(cli.pawl("answer", "accepted", "--note", "fine", "--json").json().to).toBe("done");
    everywhere();
  });

  it("next --override goes where the first row leads, or to --to", () => {
    const cli = makeCli();
    makeTask(cli);
    expect(cli.pawl("next", "--override", "no plan needed", "--json").json()).toMatchObject({
      from: "planning",
      to: "plan_review",
    });
    expect(cli.pawl("next", "--override", "straight to it", "--to", "test", "--json").json()).toMatchObject({
      from: "plan_review",
      to: "test",
    });
    expect(cli.pawl("status", "--json").json().overrides).toHaveLength(2);
    // Passing over the change does not make one: the tests say so.
    expect(cli.pawl("next", "--json").json()).toMatchObject({ from: "test", to: "codegen" });
  });

  it("needs a reason that is not blank and a phase that exists", () => {
    const cli = makeCli();
    makeTask(cli, "plan_review");
    const cases: [string[], number, RegExp][] = [
      [["override", "codegen"], 2, /--reason is needed/],
      [["override", "codegen", "--reason", ""], 2, /may not be blank/],
      [["override", "codegen", "--reason", " \t "], 2, /may not be blank/],
      [["next", "--override", ""], 2, /may not be blank/],
      [["next", "--override", "  "], 2, /may not be blank/],
      [
        ["override", "finished", "--reason", "x"],
        2,
        /`finished` is no phase of global-state-machine; its phases are: planning/,
      ],
      [["next", "--override", "x", "--to", "codgen"], 2, /`codgen` is no phase/],
      [["next", "--to", "codegen"], 2, /--to goes with --override/],
      [["next", "--dry-run", "--override", "x"], 2, /exclude each other/],
    ];
    for (const [args, code, message] of cases) {
      const refused = refuse(cli, ...args);
      expect(refused.code, args.join(" ")).toBe(code);
      expect(refused.error.message).toMatch(message);
    }
    expect(cli.pawl("status", "--json").json().overrides).toEqual([]);
  });
});

describe("redo", () => {
  it("goes back, with a reason, and reopens what was done", () => {
    const cli = makeCli();
    const task = makeTask(cli, "accept");
    expect(cli.pawl("answer", "accepted", "--note", "fine").code).toBe(0);
    const step = cli.pawl("redo", "planning", "--reason", "the customer wants more", "--json");
    expect(step.json()).toMatchObject({ from: "done", to: "planning", reason: "the customer wants more" });
    expect(cli.pawl("history", "--json").json().events.at(-1)).toMatchObject({
      type: "redo",
      from: "done",
      to: "planning",
      by: "tess",
    });
    expect(cli.pawl("status", "--json").json().overrides).toEqual([]);
    // Round two ends like round one, on top of it.
    rehearse(cli, "t1", 5);
    expect(cli.pawl("answer", "accepted", "--note", "again", "--json").json().to).toBe("done");
    expect(cli.read("hello.txt")).toBe("hello 2\n");
    expect(task.read("planning/runs/2/prompt.md")).toContain("the customer wants more");
    expect(cli.pawl("verify").code).toBe(0);
  });

  it("does not go forward, and needs a phase and a reason", () => {
    const cli = makeCli();
    makeTask(cli, "plan_review");
    const cases: [string[], number, RegExp][] = [
      [["redo", "codegen", "--reason", "x"], 1, /redo goes back, but codegen comes after plan_review/],
      [["redo", "done", "--reason", "x"], 1, /done is an end/],
      [["redo", "plan", "--reason", "x"], 2, /`plan` is no phase/],
      [["redo", "planning"], 2, /--reason is needed/],
      [["redo", "planning", "--reason", "\n"], 2, /may not be blank/],
      [["redo", "--reason", "x"], 2, /phase/],
    ];
    for (const [args, code, message] of cases) {
      const refused = refuse(cli, ...args);
      expect(refused.code, args.join(" ")).toBe(code);
      expect(refused.error.message).toMatch(message);
    }
    expect(refuse(cli, "redo", "codegen", "--reason", "x").text).toContain("pawl override codegen");
  });
});

describe("answer", () => {
  it("rejected goes to each target, with the note in the next prompt", () => {
    const cli = makeCli();
    const task = makeTask(cli, "accept");
    const git = (): string => cli.git("log", "--format=%s", "main");
    const prompts: Record<string, string> = {
      codegen: "codegen/runs/2/prompt.md",
      review: "review/runs/3/prompt.md",
      planning: "planning/runs/2/prompt.md",
    };
    for (const [target, stepsBack] of [
      ["codegen", 3],
      ["review", 2],
      ["planning", 5],
    ] as const) {
      const note = `not good enough for ${target}`;
      const step = cli.pawl("answer", "rejected", "--to", target, "--note", note, "--json").json();
      expect(step).toMatchObject({ from: "accept", to: target });
      expect(step.reason).toContain(note);
      expect(cli.pawl("history", "--json").json().events.at(-1)).toMatchObject({
        by: "tess",
        data: { choice: "rejected", note, target },
      });
      rehearse(cli, "t1", stepsBack);
      expect(cli.pawl("status", "--json").json().phase).toBe("accept");
      expect(task.read(prompts[target] ?? "")).toContain(note);
    }
    expect(git()).toBe("First");
    expect(cli.pawl("answer", "rejected", "--to", "revert", "--note", "drop it", "--json").json().to).toBe("revert");
  });

  it("deferred stays, on record, and can be decided later", () => {
    const cli = makeCli();
    const task = makeTask(cli, "accept");
    expect(cli.pawl("answer", "deferred", "--note", "after the release", "--json").json()).toMatchObject({
      from: "accept",
      to: "accept",
    });
    expect(task.readJson("accept/decision.json")).toMatchObject({
      verdict: "deferred",
      reasons: ["after the release"],
      decider: "tess",
    });
    const { code, text } = refuse(cli, "next");
    expect(code).toBe(10);
    expect(text).toContain("accept is a human's");
    expect(cli.pawl("answer", "accepted", "--note", "now", "--json").json().to).toBe("done");
    expect(task.readJson("accept/decision.json")).toMatchObject({
      verdict: "accepted",
      evidence: { plan: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
    });
  });

  it("is refused when it says nothing that the phase asks", () => {
    const cli = makeCli();
    makeTask(cli);
    cli.pawl("override", "accept", "--reason", "only the answers matter here");
    const cases: [string[], number, RegExp][] = [
      [["answer", "maybe"], 2, /`maybe` is no answer in accept; expected one of: accepted, rejected, deferred/],
      [["answer", "rejected", "--note", "x"], 2, /\/target expected/],
      [
        ["answer", "rejected", "--to", "test", "--note", "x"],
        2,
        /\/target expected one of "codegen", "review", "planning", "revert", found "test"/,
      ],
      [["answer", "revert"], 2, /is no answer in accept/],
      [["answer"], 2, /choice/],
    ];
    for (const [args, code, message] of cases) {
      const refused = refuse(cli, ...args);
      expect(refused.code, args.join(" ")).toBe(code);
      expect(refused.text).toMatch(message);
    }
  });

  it("by hand, for an agent's review", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    expect(cli.pawl("answer", "needs_changes", "--note", "Name the file.", "--json").json().to).toBe("planning");
    expect(task.readJson("review/plan-review.json")).toMatchObject({
      ok: false,
      decision: "needs_changes",
      reasons: ["Name the file."],
    });
  });
});

describe("run", () => {
  it("does the work of the phase without the step after it, and of no other phase", () => {
    const cli = makeCli();
    const task = makeTask(cli);
    const env = { PAWL_AGENT: "rehearsal" };
    const run = cli.pawl("run", "planning", "--json", { env });
    expect(run.json().suggestion).toMatchObject({
      currentPhase: "planning",
      suggestedNext: "plan_review",
      action: "advance",
    });
    expect(task.readJson("planning/plan.json")).toEqual(PLAN);
    // The phase that the evidence opens is entered first.
    expect(cli.pawl("run", "plan_review", "--json", { env }).json().suggestion).toMatchObject({
      currentPhase: "plan_review",
      suggestedNext: "codegen",
    });
    const skipped = refuse(cli, "run", "test");
    expect(skipped.code).toBe(1);
    expect(skipped.error.hint).toContain("pawl override test");
    expect(refuse(cli, "run", "tests").error.hint).toContain("test");
    expect(refuse(cli, "run", "tests").code).toBe(2);
  });
});

describe("whoever is told", () => {
  it("may answer at once: the task is let go of first", () => {
    const cli = makeCli();
    makeTask(cli, "test");
    const reply = `grep -q '"event":"human"' && ${process.execPath} ${PROGRAM} answer accepted --note "by machine" t1`;
    cli.config({ test: ["grep -q hello hello.txt"], notify: ["sh", "-c", reply] });
    expect(cli.pawl("next", "--json").json().to).toBe("accept");
    expect(cli.pawl("status", "--json").json().phase).toBe("done");
  });
});
