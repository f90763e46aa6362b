/** Is everything that the document declares made by somebody and used by something? */
import { errorAt, warningAt, type CheckFinding } from "./check-finding.js";
import { parseCondition } from "./condition.js";
import type { Artifact, Phase, Workflow } from "./types.js";

export function* checkUses(workflow: Workflow): Generator<CheckFinding> {
  const mentioned = mentions(workflow);
  for (const phase of workflow.phases) yield* checkLeaves(workflow, phase);
  for (const artifact of workflow.artifacts) yield* checkArtifact(workflow, artifact, mentioned);
  yield* judgingCycles(workflow);
  for (const name of Object.keys(workflow.limits)) {
    if (mentioned.has(`limits.${name}`)) continue;
    const line = workflow.lines[`limits.${name}`] ?? workflow.lines["limits"] ?? 1;
    yield warningAt(workflow, line, "unused-limit", `the limit \`${name}\` bounds nothing: no condition mentions it`, {
      expected: `a condition with limits.${name}`,
      found: "none",
      hint: "use it in the row that it is meant to bound, or remove it",
    });
  }
}

/** A phase must be able to get what it has to leave from whoever works in it. */
function* checkLeaves(workflow: Workflow, phase: Phase): Generator<CheckFinding> {
  for (const name of [...phase.leaves, ...phase.mayLeave]) {
    const artifact = workflow.artifacts.find((each) => each.name === name);
    if (artifact === undefined) continue;
    const maker = artifact.madeBy.kind;
    const worker = phase.who.kind;
    if (worker === "nobody") {
      yield errorAt(workflow, phase.line, "leaves", `the terminal phase \`${phase.name}\` cannot leave \`${name}\``, {
        expected: "somebody under Who, or nothing under Leaves",
        found: `nobody works in it, it leaves ${name}`,
        hint: "say who works in the phase, or let an earlier phase leave the artifact",
      });
    } else if (worker === "orchestrator" && maker !== "orchestrator") {
      yield errorAt(
        workflow,
        phase.line,
        "leaves",
        `pawl works in \`${phase.name}\`, but \`${name}\` is made by ${maker}`,
        {
          expected: `an action that makes \`${name}\``,
          found: maker,
          hint: `name the action under Made by in line ${artifact.line}, or let ${maker === "agent" ? "an agent" : "a human"} work in the phase`,
        },
      );
    } else if (worker !== "orchestrator" && maker !== "orchestrator" && worker !== maker) {
      yield warningAt(
        workflow,
        phase.line,
        "leaves",
        `${article(worker)} works in \`${phase.name}\`, but \`${name}\` is made by ${article(maker)}`,
        {
          expected: `an artifact made by ${article(worker)}`,
          found: maker,
          hint: `change Who here or Made by in line ${artifact.line}`,
        },
      );
    }
  }
}

function* checkArtifact(workflow: Workflow, artifact: Artifact, mentioned: Set<string>): Generator<CheckFinding> {
  const { name, line, madeBy } = artifact;
  const left = workflow.phases.some(({ leaves, mayLeave }) => leaves.includes(name) || mayLeave.includes(name));
  const judged = workflow.artifacts.some((other) => other.name !== name && other.judges.includes(name));
  // What is judged but left by no phase is an input, such as the task's brief; what pawl makes, it makes when it is needed.
  if (!left && !judged && madeBy.kind !== "orchestrator") {
    yield errorAt(workflow, line, "left-by-nobody", `no phase leaves the artifact \`${name}\``, {
      expected: `a phase with \`${name}\` under Leaves`,
      found: "none",
      hint: "name it under Leaves of the phase whose work it is, or remove it",
    });
    return;
  }
  const { kind } = madeBy;
  const recorded =
    kind === "orchestrator" &&
    workflow.transitions.some(({ actions }) => actions.some((call) => call.name === madeBy.action));
  if (mentioned.has(name) || judged || recorded) return;
  yield warningAt(workflow, line, "unused-artifact", `nothing looks at the artifact \`${name}\``, {
    expected: "a condition that mentions it, or another artifact that judges it",
    found: "neither",
    hint: `let a row depend on it, such as \`${name}.…\`, or remove it`,
  });
}

/** In a ring of judgements every new verdict would make the others stale, for ever. */
function* judgingCycles(workflow: Workflow): Generator<CheckFinding> {
  const judges = new Map(workflow.artifacts.map(({ name, judges: names }) => [name, names]));
  const done = new Set<string>();
  const findCycle = (name: string, path: string[]): string[] | undefined => {
    if (path.includes(name)) return path.slice(path.indexOf(name));
    if (done.has(name)) return undefined;
    for (const next of judges.get(name) ?? []) {
      const cycle = findCycle(next, [...path, name]);
      if (cycle !== undefined) return cycle;
    }
    done.add(name);
    return undefined;
  };
  for (const { name, line } of workflow.artifacts) {
    const cycle = findCycle(name, []);
    if (cycle === undefined) continue;
    cycle.forEach((each) => done.add(each));
    const first = workflow.artifacts.find((artifact) => artifact.name === cycle[0]);
    const ring = [...cycle, cycle[0] ?? ""].join(" → ");
    yield errorAt(workflow, first?.line ?? line, "judging-cycle", `artifacts judge each other in a ring: ${ring}`, {
      expected: "an order: what is judged is made before its verdict",
      found: ring,
      hint: "each new one makes the next stale, for ever; remove one of these from Judges",
    });
  }
}

/** Every name that some condition mentions, and every name with its first field. */
function mentions(workflow: Workflow): Set<string> {
  const found = new Set<string>();
  for (const { when } of workflow.transitions) {
    if (when === "") continue;
    const parsed = parseCondition(when);
    if ("error" in parsed) continue;
    for (const [name = "", field = ""] of parsed.condition.references) found.add(name).add(`${name}.${field}`);
  }
  return found;
}

function article(kind: "agent" | "human"): string {
  return kind === "agent" ? "an agent" : "a human";
}
