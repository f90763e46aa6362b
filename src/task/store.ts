/**
 * The task directory's state and history: the only writer of either.
 *
 * A commit is one rename: the state file carries its last event, so the moment it is replaced the event has happened; the
 * history gets it right after, or, when a crash comes between, with the next writer. Whatever does not fit together is
 * refused and left as it is, until a human adopts it.
 */
import { existsSync, readdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { invalid } from "../errors.js";
import { sha256 } from "../workflow/hash.js";
import type { Workflow } from "../workflow/types.js";
import { adoptionRecord, takeOver } from "./adoption.js";
import { RESTORED } from "./agent-mark.js";
import { carryAway, isPending } from "./archive.js";
import { appendDurably, writeFileDurably } from "./atomic-file.js";
import {
  checkAgainstHistory,
  disagreement,
  HISTORY_FILE,
  parseState,
  requireKnownPhase,
  type Unrecorded,
} from "./check-records.js";
import { formatEvent, readHistory, readTail, sealEvent, type HistoryEvent, type NewEvent } from "./history.js";
import { checkFace, shownOnDisk, withFace, writeFace, type FaceFound } from "./face-file.js";
import { clearLitter } from "./litter.js";
import { acquireLock, type Lock } from "./lock.js";
import { maskSecrets, maskTexts } from "./mask.js";
import { hasFace, resolveInside, stateDirectory, stateFile, stateName } from "./paths.js";
import { NO_LINK, readIfThere } from "./plain-file.js";
import { formatState, freshState, hashState, type TaskState, withOverride } from "./state.js";
import { MAX_BYTES } from "./strict-json.js";
import { requireTranscript } from "./transcript.js";

export { HISTORY_FILE };

type Environment = Record<string, string | undefined>;

export interface LoadedTask extends Unrecorded {
  state: TaskState;
  /** `fresh`: nothing there yet; `imported`: a state file that pawl did not write; neither is on record before a commit. */
  origin: "stored" | "fresh" | "imported";
  /** Hash of the state file's bytes; null when there is none. */
  bytes: string | null;
  /** What the file that shows the state says instead: the next writer puts it right. */
  face: FaceFound;
}

const RIGHT: FaceFound = { kind: "right" };

/** Reads and checks; changes nothing. */
export function loadTask(directory: string, workflow: Workflow): LoadedTask {
  for (;;) {
    const content = readState(directory, workflow);
    try {
      return checkTask(directory, workflow, content);
    } catch (error) {
      // Readers take no lock: a commit between reading the state and reading the history looks like a disagreement.
      if (sameBytes(content, readState(directory, workflow))) throw error;
    }
  }
}

function checkTask(directory: string, workflow: Workflow, content: Buffer | null): LoadedTask {
  const file = stateName(workflow);
  const task = basename(directory);
  const tail = readTail(join(directory, HISTORY_FILE));
  const hasHistory = tail.last !== null || tail.torn.length > 0;
  const state = content === null ? freshState(workflow) : parseState(content, workflow, task);
  const bytes = content === null ? null : sha256(content);
  if (state.lastEvent !== null) {
    const unrecorded = checkAgainstHistory(state, state.lastEvent, tail, workflow, task);
    const face = hasFace(workflow) ? checkFace(directory, workflow, state) : RIGHT;
    return { state, origin: "stored", bytes, face, ...unrecorded };
  }
  if (hasHistory) {
    throw content === null
      ? disagreement(task, file, "it is missing, but there is a history", "a state file", "none")
      : disagreement(
          task,
          file,
          "it names no last event, but there is a history",
          "the state that pawl wrote",
          "another one",
        );
  }
  if (hasRuns(directory)) {
    const what = content === null ? "it is missing" : "it has no history";
    throw disagreement(
      task,
      file,
      `${what}, but the task has been run before`,
      HISTORY_FILE,
      "runs of agents without it",
    );
  }
  const nothing = { bytes, face: RIGHT, unrecorded: "", torn: 0 };
  const shown = content === null && hasFace(workflow) ? importedFace(directory, workflow) : null;
  if (shown !== null) return { state: shown, origin: "imported", ...nothing };
  return { state, origin: content === null ? "fresh" : "imported", ...nothing };
}

/** A task that somebody wrote down by hand, as where it stands; null where it says nothing of that. */
function importedFace(directory: string, workflow: Workflow): TaskState | null {
  const { [workflow.state.field]: phase, ...counters } = shownOnDisk(directory, workflow) ?? {};
  if (phase === undefined) return null;
  requireKnownPhase({ [workflow.state.field]: phase }, workflow, workflow.state.file);
  const numbers = Object.entries(counters).map(([name, value]) => [name, Number(value)] as const);
  const unfit = numbers.find(([, value]) => !Number.isSafeInteger(value) || value < 0);
  if (unfit !== undefined) {
    const { file } = workflow.state;
    const message = `${file}: \`${unfit[0]}\` expected a whole number, found ${counters[unfit[0]] ?? ""}`;
    throw invalid(message, {
      findings: [
        { message, file, pointer: `/${unfit[0]}`, expected: "a whole number", found: counters[unfit[0]] ?? "" },
      ],
      hint: `mend the front matter of ${file}`,
    });
  }
  return { ...freshState(workflow, phase), counters: Object.fromEntries(numbers) };
}

/**
 * The task, for one writer. What a crash left unfinished is finished first. The secrets of `environment` do not reach the
 * history; those of a known form never do.
 */
export async function openTask(
  directory: string,
  workflow: Workflow,
  now: () => Date,
  environment: Environment = {},
): Promise<OpenTask> {
  requireTranscript(directory);
  const lock = await acquireLock(join(directory, HISTORY_FILE));
  try {
    const loaded = loadTask(directory, workflow);
    clearLitter(stateDirectory(directory, workflow), stateName(workflow));
    if (loaded.unrecorded !== "") await appendDurably(lock.fd, Buffer.from(loaded.unrecorded).subarray(loaded.torn));
    for (const move of loaded.state.putAway ?? []) await carryAway(directory, move);
    const task = new OpenTask(directory, workflow, now, lock, loaded, environment);
    if (loaded.face.kind === "old") writeFace(directory, workflow, loaded.state);
    if (loaded.face.kind === "edited") await task.restoreFace(loaded.face.what);
    return task;
  } catch (error) {
    lock.release();
    throw error;
  }
}

export class OpenTask {
  state: TaskState;
  private bytes: string | null;
  private closed = false;

  constructor(
    private readonly directory: string,
    private readonly workflow: Workflow,
    private readonly now: () => Date,
    private readonly lock: Lock,
    private readonly loaded: LoadedTask,
    private readonly environment: Environment,
  ) {
    this.state = loaded.state;
    this.bytes = loaded.bytes;
  }

  /** What was there when the task was opened. */
  get origin(): LoadedTask["origin"] {
    return this.loaded.origin;
  }

  /** Puts a task that pawl has not seen before on record. */
  async begin(by: string): Promise<void> {
    if (this.state.lastEvent !== null) return;
    if (this.loaded.origin === "fresh")
      await this.commit(this.state, { type: "task.created", by, to: this.state.phase });
    else {
      const original = readState(this.directory, this.workflow)?.toString("utf8") ?? "";
      const reason = `${this.workflow.state.file} was there without a history`;
      await this.commit(this.state, {
        type: "task.imported",
        by,
        to: this.state.phase,
        reason,
        data: { original },
      });
    }
  }

  /** Nobody moves a task by writing into the file that shows it; that it was tried is on record. */
  async restoreFace(what: string): Promise<void> {
    const { phase } = this.state;
    await this.commit(this.state, { type: RESTORED, by: "pawl", from: phase, to: phase, reason: what });
  }

  /** Writes state and event as one step; returns the event. */
  async commit(next: TaskState, event: NewEvent): Promise<HistoryEvent> {
    this.checkUntouched();
    const last = this.state.lastEvent;
    const { putAway = [], ...rest } = hasFace(this.workflow) ? withFace(next, this.workflow) : next;
    const moves = putAway.filter((move) => isPending(this.directory, move));
    const revised: TaskState = {
      ...rest,
      ...(moves.length > 0 ? { putAway: moves } : {}),
      revision: this.state.revision + 1,
      lastEvent: null,
    };
    const sealed = sealEvent({
      seq: (last?.seq ?? 0) + 1,
      at: this.now().toISOString(),
      ...withoutSecrets(event, this.environment),
      state: hashState(revised),
      prev: last?.hash ?? "",
    });
    await this.write({ ...revised, lastEvent: sealed });
    await appendDurably(this.lock.fd, Buffer.from(formatEvent(sealed)));
    if (hasFace(this.workflow)) writeFace(this.directory, this.workflow, this.state);
    for (const move of moves) await carryAway(this.directory, move);
    return sealed;
  }

  /** May be called again: whoever opened a task closes it, wherever it was closed on the way. */
  close(): void {
    if (!this.closed) this.lock.release();
    this.closed = true;
  }

  private async write(state: TaskState): Promise<void> {
    const text = formatState(state, this.workflow);
    requireReadable(text, this.workflow);
    await writeFileDurably(stateFile(this.directory, this.workflow), text);
    this.state = state;
    this.bytes = sha256(text);
  }

  /** The lock keeps other pawls out, but not an editor or an agent that writes the file by hand. */
  private checkUntouched(): void {
    const content = readState(this.directory, this.workflow);
    const bytes = content === null ? null : sha256(content);
    if (bytes === this.bytes) return;
    throw disagreement(
      basename(this.directory),
      stateName(this.workflow),
      "it was changed by hand meanwhile",
      "the state that was read a moment ago",
      "another one",
    );
  }
}

/** A human takes over what `adoption.ts` says can be taken over, with a reason; a file that cannot be read is kept aside. */
export async function adoptTask(
  directory: string,
  workflow: Workflow,
  adoption: { by: string; reason: string; now: () => Date; environment?: Environment },
): Promise<{ state: TaskState; kept: string | null }> {
  requireTranscript(directory);
  const lock = await acquireLock(join(directory, HISTORY_FILE));
  try {
    const file = stateFile(directory, workflow);
    const content = readState(directory, workflow);
    const { torn } = readTail(join(directory, HISTORY_FILE));
    const history = readHistory(join(directory, HISTORY_FILE));
    const { state, ...about } = takeOver(content, history, workflow, basename(directory));
    let kept: string | null = null;
    if (content !== null && about.foundPhase === null) {
      kept = freeName(file);
      renameSync(file, join(dirname(file), kept));
    }
    // A torn line stays where it is; the next event begins on a line of its own.
    if (torn.length > 0) await appendDurably(lock.fd, Buffer.from("\n"));
    const { by } = adoption;
    const reason = maskSecrets(adoption.reason, adoption.environment);
    const at = adoption.now().toISOString();
    const marked = withOverride(state, adoptionRecord(at, by, about.recordedPhase, state.phase, reason));
    const overridden = hasFace(workflow) ? withFace(marked, workflow) : marked;
    const adopted: TaskState = { ...overridden, revision: state.revision + 1, lastEvent: null };
    // The last line need not be an event: the chain goes on from the last one that is.
    const last = history.events.at(-1);
    const event = sealEvent({
      seq: (last?.seq ?? 0) + 1,
      at,
      type: "task.adopted",
      by,
      to: adopted.phase,
      reason,
      data: { ...about, kept },
      state: hashState(adopted),
      prev: last?.hash ?? "",
    });
    await writeFileDurably(file, formatState({ ...adopted, lastEvent: event }, workflow));
    await appendDurably(lock.fd, Buffer.from(formatEvent(event)));
    if (hasFace(workflow)) writeFace(directory, workflow, adopted);
    return { state: { ...adopted, lastEvent: event }, kept };
  } finally {
    lock.release();
  }
}

/** The state file's bytes; null when there is none. */
function readState(directory: string, workflow: Workflow): Buffer | null {
  const place = resolveInside(stateDirectory(directory, workflow), stateName(workflow));
  if ("error" in place) throw invalid(place.error.message, { findings: [place.error], hint: place.error.hint ?? "" });
  return readIfThere(place.path, MAX_BYTES, NO_LINK);
}

/** Only what somebody said or printed: names of phases and hashes are none of it. */
function withoutSecrets(event: NewEvent, environment: Environment): NewEvent {
  const { reason, data } = event;
  return {
    ...event,
    ...(reason === undefined ? {} : { reason: maskSecrets(reason, environment) }),
    ...(data === undefined ? {} : { data: maskTexts(data, environment) }),
  };
}

/** What is written here has to be read again. */
function requireReadable(text: string, workflow: Workflow): void {
  const file = stateName(workflow);
  const size = Buffer.byteLength(text);
  if (size <= MAX_BYTES) return;
  const message = `${file} would have ${size} bytes`;
  throw invalid(message, {
    findings: [{ message, file, expected: `at most ${MAX_BYTES} bytes`, found: `${size} bytes` }],
    hint: "keep long texts in files of their own; nothing was written",
  });
}

function sameBytes(one: Buffer | null, other: Buffer | null): boolean {
  return one === null || other === null ? one === other : one.equals(other);
}

function hasRuns(directory: string): boolean {
  return readdirSync(directory, { withFileTypes: true }).some(
    (entry) => entry.isDirectory() && existsSync(join(directory, entry.name, "runs")),
  );
}

function freeName(file: string): string {
  for (let n = 1; ; n++)
    if (!existsSync(`${file}.kept-${n}`)) return `${file.slice(file.lastIndexOf("/") + 1)}.kept-${n}`;
}
