/** What stands in the way of a row: its event, its sender, the evidence that it needs, its condition. Nothing: it is open. */
import { evaluateCondition, parseCondition, toCel, valueOf } from "./condition.js";
import type { ArtifactStatus, Blocker, Event, Evidence, Sender, Transition, Workflow } from "./types.js";

export function blockersOf(workflow: Workflow, evidence: Evidence, row: Transition, event: Event): Blocker[] {
  // A condition may be about its own event: what it would make of another one says nothing.
  if (row.event !== event.name) {
    const message = `this way is taken on \`${row.event}\` by ${row.by.join(", ")}, not on \`${event.name}\``;
    return [{ kind: "event", message, expected: row.event, found: event.name }];
  }
  const blockers: Blocker[] = [];
  if (!maySend(row, event.by)) {
    blockers.push({
      kind: "sender",
      message: `only ${row.by.join(", ")} may send \`${row.event}\` here, not ${describeSender(event.by)}`,
      expected: row.by.join(", "),
      found: describeSender(event.by),
    });
  }
  if (evidence.waiting !== null && !row.by.every((sender) => sender === "human")) {
    blockers.push({
      kind: "waiting",
      message: `the task waits for a human: ${evidence.waiting}`,
      expected: "a human's word",
      found: "none yet",
      hint: 'say how to go on: pawl resume --note "…" (or redo, override)',
    });
  }
  const phase = workflow.phases.find(({ name }) => name === row.from);
  const needed = new Set(artifactsIn(workflow, row));
  // `next` completes a phase: what the phase must leave has to be there, whichever way it goes.
  if (row.event === "next") for (const name of phase?.leaves ?? []) needed.add(name);
  const unfit = [...needed].flatMap((name) => artifactBlockers(evidence.artifacts[name], name));
  blockers.push(...unfit);
  if (unfit.length === 0) blockers.push(...conditionBlockers(workflow, evidence, row, event));
  return blockers;
}

function artifactBlockers(status: ArtifactStatus | undefined, name: string): Blocker[] {
  if (status?.condition === "ok") return [];
  const kind = status === undefined || status.condition === "waived" ? "missing" : status.condition;
  const findings = status?.findings ?? [];
  if (findings.length === 0) {
    const file = status?.file;
    return [{ kind, artifact: name, message: `${file ?? name} is ${kind}`, ...(file === undefined ? {} : { file }) }];
  }
  return findings.map((finding) => ({ ...finding, kind, artifact: name }));
}

function conditionBlockers(workflow: Workflow, evidence: Evidence, row: Transition, event: Event): Blocker[] {
  if (row.when === "") return [];
  const parsed = parseCondition(row.when);
  if ("error" in parsed) {
    return [
      {
        kind: "condition",
        message: `the condition of line ${row.line} cannot be read: ${parsed.error.message}`,
        file: workflow.file,
        line: row.line,
        hint: `run \`pawl spec check ${workflow.name}\``,
      },
    ];
  }
  const context = contextFor(workflow, evidence, event, parsed.condition.references);
  const outcome = evaluateCondition(row.when, context);
  if ("value" in outcome && outcome.value) return [];
  return parsed.condition.conjuncts.flatMap((conjunct) => conjunctBlocker(workflow, evidence, row, conjunct, context));
}

function conjunctBlocker(
  workflow: Workflow,
  evidence: Evidence,
  row: Transition,
  conjunct: string,
  context: Record<string, unknown>,
): Blocker[] {
  const outcome = evaluateCondition(conjunct, context);
  if ("value" in outcome && outcome.value) return [];
  const parsed = parseCondition(conjunct);
  const references = "condition" in parsed ? parsed.condition.references : [];
  const found =
    "error" in outcome
      ? outcome.error
      : references.map((path) => `${path.join(".")} = ${formatValue(valueOf(celPath(path), context))}`).join(", ");
  const artifact = references.map(([name = ""]) => name).find((name) => evidence.artifacts[name] !== undefined);
  const file = artifact === undefined ? undefined : evidence.artifacts[artifact]?.file;
  const reference = references.find(([name]) => name === artifact);
  return [
    {
      kind: "condition",
      message: `\`${conjunct}\` does not hold${found === "" ? "" : ` (${found})`}`,
      expected: conjunct,
      found,
      ...(artifact === undefined ? {} : { artifact }),
      ...(file === undefined ? {} : { file }),
      ...(reference !== undefined && reference.length > 1 ? { pointer: `/${reference.slice(1).join("/")}` } : {}),
      hint: `row ${row.from} → ${row.to}, line ${row.line} of ${workflow.file}`,
    },
  ];
}

/** Only what the condition mentions is converted: artifacts may be large. */
export function contextFor(
  workflow: Workflow,
  evidence: Evidence,
  event: Event,
  references: string[][],
): Record<string, unknown> {
  const zero = Object.fromEntries(workflow.phases.map(({ name }) => [name, 0]));
  const counters = Object.fromEntries(
    references.filter(([name]) => name === "counters").map(([, counter = ""]) => [counter, 0]),
  );
  const context: Record<string, unknown> = {
    visits: toCel({ ...zero, ...evidence.visits }),
    counters: toCel({ ...counters, ...evidence.counters }),
    limits: toCel(evidence.limits),
    failures: toCel(evidence.failures),
    waiting: evidence.waiting !== null,
    event: toCel(mentioned(event.payload, "event", references)),
    state: toCel(evidence.state),
  };
  for (const [name = ""] of references) {
    const status = evidence.artifacts[name];
    if (status?.condition === "ok") context[name] = toCel(status.data);
  }
  return context;
}

/** The parts of a value that are read by name; all of it where it is read as a whole. */
function mentioned(value: Record<string, unknown>, name: string, references: string[][]): Record<string, unknown> {
  const paths = references.filter(([first]) => first === name);
  if (paths.some(({ length }) => length === 1)) return value;
  return Object.fromEntries(paths.flatMap(([, key = ""]) => (Object.hasOwn(value, key) ? [[key, value[key]]] : [])));
}

/** The artifacts that a row's condition mentions. */
export function artifactsIn(workflow: Workflow, row: Transition): string[] {
  if (row.when === "") return [];
  const parsed = parseCondition(row.when);
  if ("error" in parsed) return [];
  const mentioned = new Set(parsed.condition.references.map(([name]) => name));
  return workflow.artifacts.map(({ name }) => name).filter((name) => mentioned.has(name));
}

function maySend(row: Transition, by: Sender): boolean {
  return row.by.some((allowed) => {
    if (allowed === "any") return true;
    // A role that is called like a kind of sender does not make one.
    if (allowed === "human" || allowed === "pawl") return allowed === by.kind;
    return by.kind === "agent" && (allowed === "agent" || allowed === by.role);
  });
}

export function describeSender(by: Sender): string {
  if (by.kind === "human") return `a human (${by.name})`;
  return by.kind === "pawl" ? "pawl" : `the agent in the role ${by.role}`;
}

/** A name with a hyphen is a subtraction after a dot. */
function celPath([first = "", ...rest]: string[]): string {
  return first + rest.map((part) => `[${JSON.stringify(part)}]`).join("");
}

function formatValue(value: unknown): string {
  if (value === undefined) return "not there";
  const text =
    JSON.stringify(value, (_key, entry: unknown) => (typeof entry === "bigint" ? Number(entry) : entry)) ?? "";
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
}
