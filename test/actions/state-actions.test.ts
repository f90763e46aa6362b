import { describe, expect, it } from "vitest";
import { archiveEvidence, clear, count, resetRounds, waitForHuman } from "../../src/actions/state-actions.js";
import type { Action, ActionContext } from "../../src/actions/types.js";
import { errorOf } from "../support/errors.js";
import {} from "./story.js";

const context: ActionContext = {
  settings: {} as ActionContext["settings"],
  artifacts: {},
  event: { name: "next", by: { kind: "pawl" }, payload: {} },
  reason: "the plan asks a question",
  from: "planning",
  to: "planning",
  fields: {},
  counters: { debugging: 2 },
  back: `pawl redo codegen --reason "…"`,
  again: "`pawl answer accepted` again",
  now: () => new Date(0),
  progress: () => undefined,
};

const run = (action: Action, ...args: string[]) => action.run(context, { name: action.name, args });

describe("state actions", () => {
  it.each([
    [waitForHuman, [], { waiting: "the plan asks a question" }],
    [resetRounds, [], { resetVisits: true, waiting: null }],
    [archiveEvidence, [], { archive: ["*"], resetVisits: true, waiting: null }],
    [archiveEvidence, ["plan", "tests"], { archive: ["plan", "tests"], resetVisits: true, waiting: null }],
    [count, ["debugging"], { counters: { debugging: 3 } }],
    [count, ["other"], { counters: { other: 1 } }],
    [clear, ["debugging"], { counters: { debugging: 0 } }],
  ])("$0.name $1", async (action, args, patch) => {
    expect(await run(action, ...args)).toEqual({ patch });
  });

  it.each([count, clear])("$name without a counter is an error in the document", async (action) => {
    expect((await errorOf(run(action))).kind).toBe("invalid");
    expect((await errorOf(run(action, "a", "b"))).hint).toContain(`${action.name} <counter>`);
  });
});
