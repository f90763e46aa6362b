/** Every row of the built-in documents, and every non-row: generated from the documents, so that none can be forgotten. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseCondition } from "../../src/workflow/condition.js";
import { decide } from "../../src/workflow/decide.js";
import { parseWorkflow } from "../../src/workflow/parse-workflow.js";
import type { Sender, Transition, Workflow } from "../../src/workflow/types.js";
import { casesFor, type Case } from "../support/evidence-space.js";
import { PACKAGE } from "../support/workspace.js";

const folder = join(PACKAGE, "system", "workflows");
const documents = readdirSync(folder)
  .filter((name) => name.endsWith(".md"))
  .map((name) => parseWorkflow(readFileSync(join(folder, name), "utf8"), name));

function sendersOf(workflow: Workflow): Sender[] {
  const roles = workflow.phases.flatMap(({ who }) => (who.kind === "agent" ? [who.role] : []));
  return [
    { kind: "human", name: "Ada" },
    { kind: "pawl" },
    ...[...new Set([...roles, "unknown"])].map((role): Sender => ({ kind: "agent", role })),
  ];
}

const unique = <T>(items: T[]): T[] => [...new Set(items)];

describe.each(documents.map((workflow) => [workflow.name, workflow] as const))("%s", (_name, workflow) => {
  const { phases, transitions } = workflow;
  const events = unique(transitions.map(({ event }) => event));
  const senders = sendersOf(workflow);
  const known = new Map<string, Promise<Case[]>>();
  const casesOf = (phase: string, event: string): Promise<Case[]> => {
    const key = `${phase} ${event}`;
    const rows = transitions.filter((row) => row.from === phase && row.event === event);
    const cases = known.get(key) ?? casesFor(workflow, rows, PACKAGE);
    known.set(key, cases);
    return cases;
  };

  const rows = transitions.map((row): [string, Transition] => [
    `${row.from} → ${row.to} on ${row.event} (line ${row.line}): ${row.when === "" ? "always" : row.when}`,
    row,
  ]);

  it.each(rows)("%s", async (_title, row) => {
    const cases = await casesOf(row.from, row.event);
    const fires = cases.filter(({ evidence, payload }) =>
      senders.some((by) => {
        const outcome = decide(workflow, evidence, { name: row.event, by, payload });
        return outcome.kind === "decision" && outcome.row === row;
      }),
    );
    expect(
      fires.length,
      `no evidence was found with which this row is taken, in ${cases.length} cases`,
    ).toBeGreaterThan(0);
    for (const { evidence, payload } of fires.slice(0, 20)) {
      for (const by of senders) {
        const outcome = decide(workflow, evidence, { name: row.event, by, payload });
        const role = by.kind === "agent" ? by.role : by.kind;
        const may = row.by.some(
          (allowed) => ["any", role].includes(allowed) || (allowed === "agent" && by.kind === "agent"),
        );
        // Whoever may not send it takes no row at all, or another one that is his.
        if (may) expect(outcome).toMatchObject({ kind: "decision", from: row.from, to: row.to, actions: row.actions });
        else if (outcome.kind === "decision") expect(outcome.row).not.toBe(row);
      }
      // The same evidence opens nothing as soon as any of what the row relies on is unfit.
      for (const name of reliedOn(workflow, row)) {
        for (const condition of ["missing", "invalid", "stale", "forged", "waived"] as const) {
          const status = { ...evidence.artifacts[name]!, condition };
          const unfit = { ...evidence, artifacts: { ...evidence.artifacts, [name]: status } };
          const outcome = decide(workflow, unfit, { name: row.event, by: { kind: "human", name: "Ada" }, payload });
          if (outcome.kind === "decision") expect(outcome.row).not.toBe(row);
        }
      }
    }
  });

  const nowhere = phases.flatMap(({ name }) =>
    [...events, "", "nonsense", "NEXT"]
      .filter((event) => !transitions.some((row) => row.from === name && row.event === event))
      .map((event): [string, string] => [name, event]),
  );
  it.each(nowhere)("in %s nobody gets anywhere with `%s`", async (phase, event) => {
    const cases = (await Promise.all(events.map((other) => casesOf(phase, other)))).flat();
    const bare: Case = {
      evidence: {
        phase,
        artifacts: {},
        visits: {},
        counters: {},
        state: {},
        failures: 0,
        limits: workflow.limits,
        waiting: null,
      },
      payload: {},
    };
    for (const { evidence, payload } of [bare, ...cases]) {
      for (const by of senders) expect(decide(workflow, evidence, { name: event, by, payload }).kind).toBe("refusal");
    }
  });

  /** Where the events of a phase lead, with any evidence and from anybody. */
  const reached = new Map<string, Promise<Set<string>>>();
  const reachedFrom = (phase: string): Promise<Set<string>> => {
    const search = async (): Promise<Set<string>> => {
      const found = new Set<string>();
      for (const event of events) {
        for (const { evidence, payload } of await casesOf(phase, event)) {
          for (const by of senders) {
            const outcome = decide(workflow, evidence, { name: event, by, payload });
            if (outcome.kind === "decision") found.add(outcome.to);
          }
        }
      }
      return found;
    };
    const known = reached.get(phase) ?? search();
    reached.set(phase, known);
    return known;
  };
  const pairs = phases.flatMap((from) => phases.map((to): [string, string] => [from.name, to.name]));
  it.each(pairs)("from %s to %s there is a way if, and only if, a row says so", async (from, to) => {
    const isRow = transitions.some((row) => row.from === from && row.to === to);
    expect((await reachedFrom(from)).has(to)).toBe(isRow);
  });

  it.each(phases.map(({ name }) => name))("no agent gets out of %s by a human's power", (phase) => {
    const evidence = {
      phase,
      artifacts: {},
      visits: {},
      counters: {},
      state: {},
      failures: 0,
      limits: {},
      waiting: null,
    };
    for (const by of senders.filter(({ kind }) => kind !== "human")) {
      for (const name of ["override", "redo"]) {
        for (const { name: to } of phases)
          expect(decide(workflow, evidence, { name, by, payload: { to, reason: "I am sure" } }).kind).toBe("refusal");
      }
    }
  });
});

function reliedOn(workflow: Workflow, row: Transition): string[] {
  const leaves = row.event === "next" ? (workflow.phases.find(({ name }) => name === row.from)?.leaves ?? []) : [];
  const parsed = row.when === "" ? undefined : parseCondition(row.when);
  const mentioned =
    parsed !== undefined && "condition" in parsed ? parsed.condition.references.map(([name]) => name) : [];
  return workflow.artifacts.map(({ name }) => name).filter((name) => leaves.includes(name) || mentioned.includes(name));
}
