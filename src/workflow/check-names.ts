/** Does every name in the document stand for something? */
import { didYouMean, errorAt, listed, type CheckFinding, type Known } from "./check-finding.js";
import { ENGINE_VARIABLES, isText, isVariableName } from "./condition-types.js";
import { HUMAN_EVENTS } from "./decide.js";
import type { Artifact, Phase, PromptChoice, Transition, Workflow } from "./types.js";

const SENDERS = ["any", "human", "agent", "pawl"];

export function* checkNames(workflow: Workflow, known: Known): Generator<CheckFinding> {
  const phases = workflow.phases.map(({ name }) => name);
  if (workflow.initial !== "" && !phases.includes(workflow.initial)) {
    yield unknownName(
      workflow,
      workflow.lines["initial"] ?? 1,
      "initial",
      "the initial phase",
      workflow.initial,
      phases,
    );
  }
  const ends = workflow.phases.filter(({ who }) => who.kind === "nobody").map(({ name }) => name);
  for (const name of workflow.failures) {
    if (ends.includes(name)) continue;
    yield unknownName(workflow, workflow.lines["failures"] ?? 1, "phase", "failures: an end", name, ends);
  }
  for (const phase of workflow.phases) yield* phaseNames(workflow, known, phase);
  for (const artifact of workflow.artifacts) yield* artifactNames(workflow, known, artifact);
  for (const choice of workflow.prompts) yield* promptNames(workflow, known, choice);
  for (const row of workflow.transitions) yield* rowNames(workflow, known, row, phases);
}

function* promptNames(
  workflow: Workflow,
  known: Known,
  { phase, prompt, line }: PromptChoice,
): Generator<CheckFinding> {
  const phases = workflow.phases.filter(({ who }) => who.kind === "agent").map(({ name }) => name);
  if (!phases.includes(phase))
    yield unknownName(workflow, line, "phase", "Prompts: a phase that an agent works in", phase, phases);
  if (known.roles.includes(prompt)) return;
  const otherwise = `write system/agents/${prompt}.md, or use one of: ${listed(known.roles)}`;
  yield unknownName(workflow, line, "prompt", "Prompts", prompt, known.roles, otherwise);
}

function* phaseNames(workflow: Workflow, known: Known, phase: Phase): Generator<CheckFinding> {
  const { name: phaseName, line, who, leaves, mayLeave } = phase;
  if (who.kind === "agent" && !known.roles.includes(who.role)) {
    const otherwise = `write its prompt, system/agents/${who.role}.md, or use one of: ${listed(known.roles)}`;
    yield unknownName(workflow, line, "role", `who works in \`${phaseName}\``, who.role, known.roles, otherwise);
  }
  const artifacts = workflow.artifacts.map(({ name }) => name);
  for (const name of [...leaves, ...mayLeave]) {
    if (artifacts.includes(name)) continue;
    yield unknownName(workflow, line, "artifact", `what the phase \`${phaseName}\` leaves`, name, artifacts);
  }
}

function* artifactNames(workflow: Workflow, known: Known, artifact: Artifact): Generator<CheckFinding> {
  const { name, line, schema, madeBy } = artifact;
  if (!isVariableName(name)) {
    const reserved = ENGINE_VARIABLES.includes(name);
    yield errorAt(workflow, line, "artifact-name", `no condition can mention an artifact named \`${name}\``, {
      expected: "letters, digits and _, and no word that CEL or pawl uses itself",
      found: name,
      hint: reserved
        ? `\`${name}\` is what pawl keeps itself; choose another name`
        : `rename it: ${name.replace(/\W/g, "_")}${/\W/.test(name) ? "" : "_artifact"}`,
    });
  }
  const artifacts = workflow.artifacts.map((other) => other.name);
  for (const judged of artifact.judges) {
    if (artifacts.includes(judged)) continue;
    yield unknownName(workflow, line, "artifact", `what the artifact \`${name}\` judges`, judged, artifacts);
  }
  if (schema !== undefined && artifact.section === undefined && isText(artifact)) {
    yield errorAt(workflow, line, "schema", `\`${name}\` is text, which no schema is held against`, {
      expected: "a schema for a JSON file only",
      found: schema,
      hint: "empty the column Schema, or let the artifact be a section, or a whole file that ends with .json",
    });
  } else if (schema !== undefined && known.schemas[schema] === undefined) {
    const schemas = Object.keys(known.schemas).filter((file) => known.schemas[file] !== undefined);
    yield unknownName(workflow, line, "schema", `the schema of the artifact \`${name}\``, schema, schemas);
  }
  if (madeBy.kind === "orchestrator" && madeBy.action !== "")
    yield* makerNames(workflow, known, artifact, madeBy.action);
}

/** Makers are there to make artifacts; some actions leave one too, the record of what they did, when a row does them. */
function* makerNames(
  workflow: Workflow,
  known: Known,
  { name, line }: Artifact,
  maker: string,
): Generator<CheckFinding> {
  const found = known.actions.find((each) => each.name === maker);
  if (found?.kind === "maker") return;
  const makers = known.actions.filter(({ kind, leaves }) => kind === "maker" || leaves?.includes(name));
  const place = `who makes the artifact \`${name}\``;
  if (!makers.some((each) => each.name === maker)) {
    const candidates = ["agent", "human", ...makers.map((each) => each.name)];
    const left = found?.leaves?.join(", ");
    const otherwise = left === undefined ? undefined : `\`${maker}\` leaves ${left}: call the artifact so`;
    yield unknownName(workflow, line, "maker", place, maker, candidates, otherwise);
  } else if (!workflow.transitions.some(({ actions }) => actions.some((call) => call.name === maker))) {
    yield errorAt(workflow, line, "maker", `${place}: no row does \`${maker}\``, {
      expected: `a row with \`${maker}\` under Do`,
      found: "none",
      hint: `name \`${maker}\` under Do of the row that it belongs to`,
    });
  }
}

function* rowNames(workflow: Workflow, known: Known, row: Transition, phases: string[]): Generator<CheckFinding> {
  const { line } = row;
  if (!phases.includes(row.from)) yield unknownName(workflow, line, "phase", "From", row.from, phases);
  if (!phases.includes(row.to)) yield unknownName(workflow, line, "phase", "To", row.to, [...phases, "stay"]);
  const roles = workflow.phases.flatMap(({ who }) => (who.kind === "agent" ? [who.role] : []));
  const senders = [...new Set([...SENDERS, ...roles, ...known.roles])];
  const strangers = row.by.filter((sender) => !senders.includes(sender));
  for (const sender of strangers) yield unknownName(workflow, line, "sender", "By", sender, senders);
  const event = known.events.find(({ name }) => name === row.event);
  if (event === undefined) yield unknownEvent(workflow, known, row);
  else if (strangers.length === 0) yield* silentSenders(workflow, row, event);
  const actions = known.actions.filter(({ kind }) => kind === "action").map(({ name }) => name);
  for (const { name } of row.actions) {
    if (actions.includes(name)) continue;
    if (known.actions.some((maker) => maker.name === name)) {
      yield errorAt(workflow, line, "action", `Do: \`${name}\` makes an artifact, it is nothing that a row can do`, {
        expected: `an action: ${listed(actions)}`,
        found: name,
        hint: "name it under Made by of the artifact, and remove it here",
      });
    } else yield unknownName(workflow, line, "action", "Do", name, actions);
  }
}

function unknownEvent(workflow: Workflow, known: Known, { line, event }: Transition): CheckFinding {
  const names = known.events.map(({ name }) => name);
  const otherwise = HUMAN_EVENTS.some((power) => power === event)
    ? `a human's ${event} needs no row: remove it, and list \`${event}\` under \`human\` in the front matter`
    : `nothing sends it; use one of: ${listed(names)}`;
  return unknownName(workflow, line, "event", "Event", event, names, otherwise);
}

/** A row whose event comes from nobody that it names is never taken. */
function* silentSenders(
  workflow: Workflow,
  { from, event: name, by, line }: Transition,
  event: Known["events"][number],
): Generator<CheckFinding> {
  const phase = workflow.phases.find((each) => each.name === from);
  if (phase === undefined || phase.who.kind === "nobody") return;
  const able = sendersIn(phase, event);
  if (by.some((sender) => able.includes(sender))) return;
  yield errorAt(workflow, line, "sender", `By: in \`${from}\`, \`${name}\` never comes from ${by.join(", ")}`, {
    expected: able.length === 0 ? `another event: in ${from} nobody sends ${name}` : `one of: ${able.join(", ")}`,
    found: by.join(", "),
    hint: able.length === 0 ? "remove the row" : `write ${able[0] ?? ""} under By, or another event`,
  });
}

/** An agent speaks in the phase that it works in, pawl of work that it had done. */
function sendersIn({ who }: Phase, { by }: Known["events"][number]): string[] {
  const able = by.flatMap((kind) => {
    if (kind === "human") return ["human"];
    if (kind === "agent") return who.kind === "agent" ? ["agent", who.role] : [];
    return who.kind === "human" ? [] : ["pawl"];
  });
  return able.length === 0 ? [] : [...able, "any"];
}

const KINDS = {
  initial: "a phase",
  phase: "a phase",
  artifact: "an artifact",
  schema: "a file in system/schemas",
  maker: "agent, human, or an action that makes artifacts",
  role: "a role with a prompt in system/agents",
  prompt: "a prompt in system/agents",
  event: "an event that is sent",
  sender: "a sender or a role",
  action: "an action",
};

function unknownName(
  workflow: Workflow,
  line: number,
  rule: keyof typeof KINDS,
  place: string,
  found: string,
  candidates: readonly string[],
  otherwise = `use one of: ${listed(candidates)}`,
): CheckFinding {
  return errorAt(workflow, line, rule, `${place}: expected ${KINDS[rule]}, found \`${found}\``, {
    expected: listed(candidates),
    found,
    hint: didYouMean(found, candidates, otherwise),
  });
}
