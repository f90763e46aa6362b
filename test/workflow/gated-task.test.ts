/** The gated task held against what is asked of it: the map of its statuses, and who may ask for what. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseWorkflow } from "../../src/workflow/parse-workflow.js";
import { promptName } from "../../src/workflow/prompt-name.js";
import { PACKAGE } from "../support/workspace.js";

const file = join(PACKAGE, "system", "workflows", "gated-task.md");
const workflow = parseWorkflow(readFileSync(file, "utf8"), "gated-task.md");

/** As people agreed on it; a human may also ask for changes. */
const MAP: Record<string, string[]> = {
  pending: ["working", "clarification", "cancelled"],
  clarification: ["working", "cancelled"],
  working: ["agent-review", "clarification", "stuck", "cancelled"],
  "agent-review": ["reviewing", "working", "stuck", "cancelled"],
  reviewing: ["done", "cancelled", "working"],
  stuck: ["working", "agent-review", "cancelled"],
  done: [],
  cancelled: [],
};

describe("the map", () => {
  it.each(Object.entries(MAP))("leads from %s to %j and nowhere else", (from, targets) => {
    const rows = workflow.transitions.filter((row) => row.from === from && row.to !== from);
    expect([...new Set(rows.map(({ to }) => to))].sort()).toEqual([...targets].sort());
  });

  it("has these statuses and no other", () => {
    expect(workflow.phases.map(({ name }) => name).sort()).toEqual(Object.keys(MAP).sort());
  });

  it.each([
    [
      "worker",
      ["clarification → working", "working → agent-review", "working → clarification", "stuck → agent-review"],
    ],
    ["reviewer", ["agent-review → reviewing", "agent-review → working", "agent-review → stuck"]],
  ])("lets a %s ask for its own part alone", (role, ways) => {
    const rows = workflow.transitions.filter(({ by, from, to }) => by.includes(role) && from !== to);
    expect(rows.map(({ from, to }) => `${from} → ${to}`)).toEqual(ways);
    expect(workflow.transitions.filter(({ by }) => by.includes("any") || by.includes("agent"))).toEqual([]);
  });
});

describe("prompts", () => {
  it.each<[string, number, string | undefined]>([
    ["working", 0, undefined],
    ["working", 1, "worker-after-review"],
    ["agent-review", 1, undefined],
    ["agent-review", 2, "reviewer-last-round"],
    ["clarification", 0, "worker-clarification"],
    ["stuck", 2, "worker-stuck"],
    ["reviewing", 1, undefined],
  ])("in %s, round %i", (phase, round, prompt) => {
    const counters = round === 0 ? {} : { review_round: round };
    expect(promptName(workflow, phase, { counters, limits: workflow.limits, visits: {} })).toBe(prompt);
  });
});
