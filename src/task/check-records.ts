/** Whether a task's records can be trusted: the state file by itself, and held against the end of the history. */
import { invalid, nearest, type Finding } from "../errors.js";
import type { Workflow } from "../workflow/types.js";
import { formatEvent, hashEvent, parseEvent, type HistoryEvent, type HistoryTail } from "./history.js";
import { stateName } from "./paths.js";
import { isObject, showFound } from "./shape.js";
import { hashState, stateFromJson, type TaskState } from "./state.js";
import { parseStrictJson } from "./strict-json.js";

export const HISTORY_FILE = "history.jsonl";

/** The state that the file's bytes mean; `task` is the task's id, for what to do next. */
export function parseState(content: Buffer, workflow: Workflow, task: string): TaskState {
  const file = stateName(workflow);
  const parsed = parseStrictJson(content, file);
  if ("error" in parsed) {
    throw invalid(parsed.error.message, {
      findings: [parsed.error],
      hint: `mend it by hand, or have the last phase on record taken: pawl verify --adopt "why" ${task}; the file is kept as it is`,
    });
  }
  requireKnownPhase(parsed.value, workflow);
  return stateFromJson(parsed.value, workflow, task);
}

/** Whatever else is wrong with a state file: a phase that it names has to be one of the workflow. */
export function requireKnownPhase(value: unknown, workflow: Workflow, file: string = stateName(workflow)): void {
  const { field } = workflow.state;
  const names = workflow.phases.map(({ name }) => name);
  const phase = isObject(value) ? value[field] : undefined;
  if (typeof phase !== "string" || names.includes(phase)) return;
  const near = nearest(phase, names);
  const finding: Finding = {
    message: `${file}: \`${phase}\` is no phase of ${workflow.name}`,
    file,
    pointer: `/${field}`,
    expected: names.join(", "),
    found: phase,
  };
  throw invalid(`${finding.message}; expected one of: ${names.join(", ")}`, {
    findings: [finding],
    hint:
      near === undefined
        ? "correct the phase in the file; an unknown one can be neither run nor overridden"
        : `did you mean ${near}? Correct it in the file`,
  });
}

/** What the history does not have yet of the state's last event. */
export interface Unrecorded {
  /** The event's line; empty where the history has all of it. */
  unrecorded: string;
  /** How many bytes of that line are there already. */
  torn: number;
}

/** Throws when the two tell different stories. */
export function checkAgainstHistory(
  state: TaskState,
  event: HistoryEvent,
  tail: HistoryTail,
  workflow: Workflow,
  task: string,
): Unrecorded {
  const file = stateName(workflow);
  if (hashEvent(event) !== event.hash) {
    const what = "its last event was changed by hand";
    throw disagreement(task, file, what, short(event.hash), short(hashEvent(event)));
  }
  if (hashState(state) !== event.state) {
    const phase =
      event.to !== undefined && event.to !== state.phase
        ? `: it says \`${state.phase}\`, the history says \`${event.to}\``
        : "";
    const what = `it was changed by hand${phase}`;
    throw disagreement(task, file, what, event.to ?? short(event.state), state.phase);
  }
  const line = formatEvent(event);
  if (`${tail.last}\n` === line && tail.torn.length === 0) return { unrecorded: "", torn: 0 };
  const last = lastEvent(tail, task);
  const follows = (last?.hash ?? "") === event.prev && (last?.seq ?? 0) === event.seq - 1;
  if (follows && Buffer.from(line).subarray(0, tail.torn.length).equals(tail.torn))
    return { unrecorded: line, torn: tail.torn.length };
  if (last?.hash === event.hash && `${tail.last}\n` !== line) {
    const what = `the line of event ${event.seq} was changed after it was written`;
    throw disagreement(task, HISTORY_FILE, what, `hash ${short(event.hash)}`, foundHash(last, event));
  }
  throw disagreement(
    task,
    HISTORY_FILE,
    "it does not end with the event that the state names",
    `event ${event.seq} (${short(event.hash)})`,
    last === undefined ? "no event" : `event ${last.seq} (${short(last.hash)})`,
  );
}

function lastEvent({ last }: HistoryTail, task: string): HistoryEvent | undefined {
  if (last === null) return undefined;
  const parsed = parseEvent(last);
  if ("event" in parsed) return parsed.event;
  const { pointer, expected, found } = parsed.misfit;
  const where = pointer === "" ? "" : `: ${pointer} expected ${expected}, found ${showFound(found)}`;
  throw disagreement(task, HISTORY_FILE, `its last line is not an event${where}`, expected, showFound(found), pointer);
}

function foundHash(last: HistoryEvent, event: HistoryEvent): string {
  const hash = hashEvent(last);
  return hash === event.hash ? "the same event, written in another way" : `hash ${short(hash)}`;
}

export function disagreement(
  task: string,
  file: string,
  what: string,
  expected: string,
  found: string,
  pointer?: string,
): Error {
  return invalid(`${file} cannot be trusted: ${what}`, {
    findings: [{ message: what, file, expected, found, ...(pointer === undefined ? {} : { pointer }) }],
    hint: `look with \`pawl verify ${task}\`; undo the edit, or take it over with a reason: pawl verify --adopt "why" ${task}`,
  });
}

function short(hash: string): string {
  return hash.slice(0, 12);
}
