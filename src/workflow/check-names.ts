/** Does every name in the document stand for something? */
import { didYouMean, errorAt, listed, type CheckFinding, type Known } from "./check-finding.js";
import { ENGINE_VARIABLES, isVariableName } from "./condition-types.js";
import type { Artifact, Transition, Workflow } from "./types.js";

const SENDERS = ["any", "human", "agent", "pawl"];
const EVENT_NAME = /^[a-z_][a-z0-9_-]*$/;

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
  yield* phaseNames(workflow);
  for (const artifact of workflow.artifacts) yield* artifactNames(workflow, known, artifact);
  for (const row of workflow.transitions) yield* rowNames(workflow, known, row, phases);
}

function* phaseNames(workflow: Workflow): Generator<CheckFinding> {
  const artifacts = workflow.artifacts.map(({ name }) => name);
  for (const phase of workflow.phases) {
    for (const name of phase.leaves) {
      if (artifacts.includes(name)) continue;
      yield unknownName(workflow, phase.line, "artifact", `what the phase \`${phase.name}\` leaves`, name, artifacts);
    }
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
  if (schema !== undefined && known.schemas[schema] === undefined) {
    const schemas = Object.keys(known.schemas).filter((file) => known.schemas[file] !== undefined);
    yield unknownName(workflow, line, "schema", `the schema of the artifact \`${name}\``, schema, schemas);
  }
  if (madeBy.kind === "orchestrator" && madeBy.action !== "") {
    // An action that a row does may write an artifact too: the record of what it did.
    const done = workflow.transitions.flatMap(({ actions }) => actions.map((call) => call.name));
    const makers = known.actions.filter(({ name: each, kind }) => kind === "maker" || done.includes(each));
    const names = [...new Set(makers.map((maker) => maker.name))];
    if (!names.includes(madeBy.action)) {
      const about = `who makes the artifact \`${name}\``;
      yield unknownName(workflow, line, "maker", about, madeBy.action, ["agent", "human", ...names]);
    }
  }
}

function* rowNames(workflow: Workflow, known: Known, row: Transition, phases: string[]): Generator<CheckFinding> {
  const { line } = row;
  if (!phases.includes(row.from)) yield unknownName(workflow, line, "phase", "From", row.from, phases);
  if (!phases.includes(row.to)) yield unknownName(workflow, line, "phase", "To", row.to, [...phases, "stay"]);
  if (!EVENT_NAME.test(row.event)) {
    const usable = row.event.toLowerCase().replace(/[^a-z0-9_-]+/g, "_");
    yield errorAt(workflow, line, "event", `the name of an event is not usable: "${row.event}"`, {
      expected: "small letters, digits, _ and -",
      found: row.event,
      hint: EVENT_NAME.test(usable) ? `did you mean ${usable}?` : "name it by a verb, such as next",
    });
  }
  const roles = workflow.phases.flatMap(({ who }) => (who.kind === "agent" ? [who.role] : []));
  const senders = [...new Set([...SENDERS, ...roles, ...(known.roles ?? [])])];
  for (const sender of row.by) {
    if (!senders.includes(sender)) yield unknownName(workflow, line, "sender", "By", sender, senders);
  }
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

const KINDS = {
  initial: "a phase",
  phase: "a phase",
  artifact: "an artifact",
  schema: "a file in system/schemas",
  maker: "agent, human, or an action that makes artifacts",
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
): CheckFinding {
  return errorAt(workflow, line, rule, `${place}: expected ${KINDS[rule]}, found \`${found}\``, {
    expected: listed(candidates),
    found,
    hint: didYouMean(found, candidates, `use one of: ${listed(candidates)}`),
  });
}
