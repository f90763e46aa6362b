/** What a prompt can say about a task: the slots of the files in system/agents. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gitRecord } from "../actions/git-record.js";
import type { Slots } from "../agents/prompt.js";
import { loadSchema } from "../system/schemas.js";
import { actorOf, type TaskState } from "../task/state.js";
import { countersOf } from "../workflow/counters.js";
import type { Phase, Workflow } from "../workflow/types.js";
import type { TaskContext } from "./context.js";

/** Long evidence is cut in a prompt; its file has all of it. */
const MAX_EVIDENCE = 24 * 1024;
const NOTHING = "(nothing)";

export async function promptSlots(
  context: TaskContext,
  state: TaskState,
  phase: Phase,
  attempt: number,
): Promise<Slots> {
  const settings = await context.settings();
  const actor = actorOf(state, phase.name);
  const note = state.fields["note"];
  const { limits = {} } = await context.config();
  return {
    task: context.id,
    title: settings.title,
    brief: settings.brief === "" ? settings.title : settings.brief,
    phase: phase.name,
    purpose: phase.purpose,
    attempt: String(attempt),
    plan: evidenceText(context, ["plan"]),
    evidence: evidenceText(context, judgedBy(context, phase)),
    came_from:
      actor.cause === undefined ? "This is the first time." : `From ${actor.cause.from}: ${actor.cause.reason}.`,
    review_findings:
      actor.cause === undefined
        ? NOTHING
        : evidenceText(
            context,
            actor.cause.artifacts.filter((name) => name !== "plan"),
          ),
    last_failure: actor.lastFailure ?? NOTHING,
    ...faceSlots(context, state, settings.title),
    branch: settings.repo === null ? "(no repository)" : settings.branch,
    base: gitRecord(state.fields).start ?? "HEAD",
    ...counterSlots(context.workflow, state, limits),
    human_note: typeof note === "string" && note !== "" ? note : NOTHING,
    artifacts: artifactsText(context, phase),
    questions: questionsText(context, phase),
    next_action: nextAction(context, phase),
  };
}

/** For a task that is shown in a Markdown file. */
function faceSlots({ workflow, dir }: TaskContext, { fields }: TaskState, title: string): Slots {
  const summary = fields["summary"];
  return { summary: typeof summary === "string" ? summary : title, task_file: join(dir, workflow.state.file) };
}

/** `{{review_round}}` and `{{limits.review_rounds}}`: what the document counts, and its bounds. */
function counterSlots(workflow: Workflow, { counters }: TaskState, limits: Record<string, number>): Slots {
  const counts = countersOf(workflow).map((name) => [name, String(counters[name] ?? 0)]);
  const bounds = Object.entries({ ...workflow.limits, ...limits }).map(([name, n]) => [`limits.${name}`, String(n)]);
  return Object.fromEntries([...counts, ...bounds]) as Slots;
}

/** Artifacts that the agent itself has to leave, with their absolute paths. */
export function agentArtifacts(context: TaskContext, { leaves }: Phase): Record<string, string> {
  return placesOf(context, leaves);
}

/** Those that it may leave besides. */
export function optionalArtifacts(context: TaskContext, { mayLeave }: Phase): Record<string, string> {
  return placesOf(context, mayLeave);
}

function placesOf(context: TaskContext, names: string[]): Record<string, string> {
  const own = context.workflow.artifacts.filter(({ name, madeBy }) => names.includes(name) && madeBy.kind === "agent");
  return Object.fromEntries(own.map(({ name, file }) => [name, join(context.dir, file)]));
}

function judgedBy(context: TaskContext, phase: Phase): string[] {
  return [
    ...new Set(
      context.workflow.artifacts.filter(({ name }) => phase.leaves.includes(name)).flatMap(({ judges }) => judges),
    ),
  ];
}

function evidenceText(context: TaskContext, names: string[]): string {
  const parts = context.workflow.artifacts
    .filter(({ name }) => names.includes(name))
    .map(({ file }) => ({ file, path: join(context.dir, file) }))
    .filter(({ path }) => existsSync(path))
    .map(({ file, path }) => {
      const text = readFileSync(path, "utf8").trimEnd();
      const shown =
        text.length > MAX_EVIDENCE ? `${text.slice(0, MAX_EVIDENCE)}\n[… cut here; all of it is in ${path}]` : text;
      return `${file}:\n\n${shown}`;
    });
  return parts.length === 0 ? NOTHING : parts.join("\n\n");
}

function artifactsText(context: TaskContext, phase: Phase): string {
  const own = agentArtifacts(context, phase);
  const parts = Object.entries(own).map(([name, path]) => {
    const { schema, section } = context.workflow.artifacts.find((artifact) => artifact.name === name) ?? {};
    if (section !== undefined) return `Write \`${name}\` as a section \`## ${section}\` at the end of ${path}`;
    if (schema === undefined) return `Write \`${name}\` to ${path}`;
    return `Write \`${name}\`, one JSON document, to ${path}\nIt has to fit this JSON Schema:\n\n${JSON.stringify(loadSchema(schema, context.workspace.root).schema, null, 2)}`;
  });
  return parts.length === 0
    ? "No file besides the change itself: edit the files of the working directory."
    : [...parts, ...printInstead(own)].join("\n\n");
}

/** How to ask, where the phase lets its agent ask. */
function questionsText(context: TaskContext, phase: Phase): string {
  const parts = Object.entries(optionalArtifacts(context, phase)).map(([name, path]) => {
    const schema = context.workflow.artifacts.find((artifact) => artifact.name === name)?.schema;
    const form =
      schema === undefined
        ? ""
        : ` (it has to fit ${JSON.stringify(loadSchema(schema, context.workspace.root).schema)})`;
    return `If you cannot go on without an answer, write \`${name}\`, one JSON document${form}, to ${path}, and stop; or call \`pawl tool ask_question\`. You are started again with the answer.`;
  });
  return parts.length === 0 ? NOTHING : parts.join("\n\n");
}

function nextAction(context: TaskContext, phase: Phase): string {
  const own = agentArtifacts(context, phase);
  const paths = Object.values(own);
  if (paths.length === 0)
    return "Make the change in the working directory, then stop. pawl derives the difference itself.";
  const write = `Write ${paths.join(" and ")}, then stop.`;
  return [write, "pawl checks it and decides what comes next.", ...printInstead(own)].join(" ");
}

/** For agents without tools, or in a sandbox; pawl takes from their output what is the only thing missing, and JSON. */
export function printInstead(own: Record<string, string>): string[] {
  const [path, ...others] = Object.values(own);
  if (path?.endsWith(".json") !== true || others.length > 0) return [];
  return ["If you cannot write that file, print exactly that one JSON document instead, and no other."];
}
