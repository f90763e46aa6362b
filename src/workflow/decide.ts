/**
 * The one place where a transition is chosen. Pure: workflow × evidence × event → decision or refusal; nothing is executed.
 *
 * A refusal lists every way out of the phase and what stands in it, so that the answer to "why not?" is the decision itself.
 */
import { nearest } from "../errors.js";
import { artifactsIn, blockersOf, contextFor, describeSender } from "./blockers.js";
import { conjunctsOf, parseCondition, pathOf, valueOf } from "./condition.js";
import { UPDATE } from "./exits.js";
import { fillSlots, withoutSlots } from "./reason.js";
import type {
  Blocker,
  Decision,
  Event,
  EventPayload,
  Evidence,
  Phase,
  Refusal,
  Sender,
  Transition,
  Way,
  Workflow,
} from "./types.js";

/** Events that stand for a human's power over the table instead of a row of it. */
export const HUMAN_EVENTS = ["override", "redo"] as const;

export function decide(workflow: Workflow, evidence: Evidence, event: Event): Decision | Refusal {
  if (event.name === "override" || event.name === "redo") return decideByHuman(workflow, evidence, event, event.name);
  const rows = workflow.transitions.filter((row) => row.from === evidence.phase);
  for (const row of rows) {
    if (row.event !== event.name) continue;
    if (blockersOf(workflow, evidence, row, event).length > 0) continue;
    return {
      kind: "decision",
      from: row.from,
      to: row.to,
      event: event.name,
      actions: row.actions,
      reason: reasonOf(workflow, evidence, row, event),
      row,
      relied: artifactsIn(workflow, row),
      skipped: [],
    };
  }
  return refusal(workflow, evidence, event, rows);
}

/**
 * Every way out of the phase, each judged as if its own event had come from somebody who may send it. Rows that pawl alone
 * takes (a failed attempt) are no ways that anybody could choose.
 */
export function waysOut(workflow: Workflow, evidence: Evidence): Way[] {
  return workflow.transitions
    .filter((row) => row.from === evidence.phase && !row.by.every((sender) => sender === "pawl"))
    .map((row) => {
      const event: Event = { name: row.event, by: permittedSender(row), payload: askedFor(row) };
      return wayOf(row, blockersOf(workflow, evidence, row, event));
    });
}

/** The artifacts that a decision in this phase may look at, and all that these judge. */
export function relevantArtifacts(workflow: Workflow, phaseName: string): string[] {
  const phase = workflow.phases.find(({ name }) => name === phaseName);
  const found = new Set(phase?.leaves ?? []);
  for (const row of workflow.transitions) {
    if (row.from === phaseName) for (const name of artifactsIn(workflow, row)) found.add(name);
  }
  for (const name of found) {
    for (const judged of workflow.artifacts.find((artifact) => artifact.name === name)?.judges ?? []) found.add(judged);
  }
  return [...found];
}

function refusal(workflow: Workflow, evidence: Evidence, event: Event, rows: Transition[]): Refusal {
  const ways = rows.map((row) => wayOf(row, blockersOf(workflow, evidence, row, event)));
  const asked = ways.filter((way) => way.event === event.name);
  return {
    kind: "refusal",
    phase: evidence.phase,
    event: event.name,
    reason: refusalReason(evidence, event, ways, asked),
    ways,
  };
}

function refusalReason(evidence: Evidence, event: Event, ways: Way[], asked: Way[]): string {
  if (ways.length === 0) return `${evidence.phase} is the end: no transition leads out of it`;
  if (asked.length === 0) {
    const events = [...new Set(ways.map((way) => way.event))].join(", ");
    return `\`${event.name}\` is no event of ${evidence.phase}; expected one of: ${events}`;
  }
  if (evidence.waiting !== null && asked.every((way) => way.blockers.some(({ kind }) => kind === "waiting"))) {
    return `${evidence.phase} waits for a human: ${evidence.waiting}`;
  }
  const blockers = asked.flatMap((way) => way.blockers);
  const first = blockers.find(({ kind }) => kind !== "condition") ?? blockers[0];
  return `${evidence.phase} stays where it is: ${first?.message ?? "no condition holds"}`;
}

function wayOf(row: Transition, blockers: Blocker[]): Way {
  const { to, event, by, when, line } = row;
  const why = withoutSlots(row.why);
  return { to, event, by, when, why, line, open: blockers.length === 0, blockers };
}

/** Nothing in a reason stops a transition: what cannot be worked out is told as unknown. */
function reasonOf(workflow: Workflow, evidence: Evidence, row: Transition, event: Event): string {
  if (row.why !== "") {
    return fillSlots(row.why, (source) => {
      const parsed = parseCondition(source);
      if ("error" in parsed) return undefined;
      return valueOf(source, contextFor(workflow, evidence, event, parsed.condition.references));
    });
  }
  return row.when === "" ? "nothing stands in the way" : `\`${row.when}\` holds`;
}

/** What somebody says who asks for a status: a row that is for another one is not closed for that reason. */
function askedFor({ event, when }: Transition): EventPayload {
  const parsed = event === UPDATE && when !== "" ? parseCondition(when) : undefined;
  if (parsed === undefined || "error" in parsed) return {};
  const said = conjunctsOf(parsed.ast).flatMap((node): [string, string][] => {
    if (node.op !== "==" && node.op !== "!=") return [];
    const [name, key = ""] = pathOf(node.args[0]) ?? [];
    const value: unknown = node.args[1].op === "value" ? node.args[1].args : undefined;
    if (name !== "event" || typeof value !== "string") return [];
    return [[key, node.op === "==" ? value : "…"]];
  });
  return { status: "", summary: "", reason: "", ...Object.fromEntries(said) };
}

function permittedSender(row: Transition): Sender {
  const [first = "any"] = row.by;
  if (first === "any" || first === "human") return { kind: "human", name: "human" };
  return first === "pawl" ? { kind: "pawl" } : { kind: "agent", role: first };
}

function decideByHuman(
  workflow: Workflow,
  evidence: Evidence,
  event: Event,
  power: "override" | "redo",
): Decision | Refusal {
  const target = event.payload.to ?? "";
  const blockers = [...humanBlockers(workflow, evidence, event, power, target)];
  if (blockers.length > 0) {
    const reason = blockers[0]?.message ?? "";
    const way: Way = { to: target, event: power, by: ["human"], when: "", why: "", line: 0, open: false, blockers };
    return { kind: "refusal", phase: evidence.phase, event: power, reason, ways: [way] };
  }
  return {
    kind: "decision",
    from: evidence.phase,
    to: target,
    event: power,
    actions: [],
    reason: event.payload.reason?.trim() ?? "",
    row: null,
    relied: [],
    skipped: power === "override" ? skippedBy(workflow, evidence, target) : [],
  };
}

function* humanBlockers(
  workflow: Workflow,
  evidence: Evidence,
  event: Event,
  power: "override" | "redo",
  target: string,
): Generator<Blocker> {
  const names = workflow.phases.map(({ name }) => name);
  if (!workflow.human[power]) {
    yield {
      kind: "event",
      message: `the workflow ${workflow.name} does not allow ${power}`,
      hint: `its document would have to list it under \`human\``,
    };
  }
  if (event.by.kind !== "human") {
    yield {
      kind: "sender",
      message: `only a human may ${power}, not ${describeSender(event.by)}`,
      expected: "human",
      found: describeSender(event.by),
    };
  }
  const phase = workflow.phases.find(({ name }) => name === target);
  if (phase === undefined) {
    const near = nearest(target, names);
    yield {
      kind: "phase",
      message: `\`${target}\` is no phase of ${workflow.name}; its phases are: ${names.join(", ")}`,
      expected: names.join(", "),
      found: target,
      ...(near === undefined ? {} : { hint: `did you mean ${near}?` }),
    };
  } else if (power === "redo") yield* redoBlockers(workflow, evidence, phase);
  if ((event.payload.reason ?? "").trim() === "") {
    yield {
      kind: "reason",
      message: `${power} needs a reason that is not blank`,
      expected: "a reason",
      found: "nothing",
      hint: `pawl ${power} ${target} --reason "…"`,
    };
  }
}

/** The phases of a document stand in the order of the work; a redo goes back in it, or starts again from the end. */
function* redoBlockers(workflow: Workflow, evidence: Evidence, target: Phase): Generator<Blocker> {
  const current = workflow.phases.findIndex(({ name }) => name === evidence.phase);
  const atTheEnd = workflow.phases[current]?.who.kind === "nobody";
  if (target.who.kind === "nobody") {
    yield {
      kind: "phase",
      message: `${target.name} is an end, there is nothing to redo in it`,
      hint: "redo an earlier phase",
    };
  } else if (!atTheEnd && workflow.phases.indexOf(target) > current) {
    yield {
      kind: "phase",
      message: `redo goes back, but ${target.name} comes after ${evidence.phase}`,
      hint: `to skip what lies between: pawl override ${target.name} --reason "…"`,
    };
  }
}

/** What an override passes over: whatever blocks the table's own way to the target, or the first way out. */
function skippedBy(workflow: Workflow, evidence: Evidence, target: string): Blocker[] {
  const ways = waysOut(workflow, evidence);
  const direct = ways.filter((way) => way.to === target);
  const chosen = direct.find((way) => way.open) ?? direct[0];
  if (chosen !== undefined) return chosen.blockers;
  return [
    { kind: "phase", message: `the table has no row from ${evidence.phase} to ${target}` },
    ...(ways[0]?.blockers ?? []),
  ];
}
