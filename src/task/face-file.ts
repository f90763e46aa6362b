/** The file that shows a task's state: held against the records, and put right, without losing what others write into it. */
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { codeOf, invalid } from "../errors.js";
import type { Workflow } from "../workflow/types.js";
import {
  findFrontMatter,
  hashOfShown,
  readShown,
  shownBy,
  withDisplay,
  withShown,
  type Display,
  type Shown,
} from "./face.js";
import { resolveInside } from "./paths.js";
import { NO_LINK, openPlainFile, readIfThere } from "./plain-file.js";
import type { TaskState } from "./state.js";
import { MAX_BYTES } from "./strict-json.js";

/** How many faces are remembered: an editor may save a copy that is some changes old. */
const MOST_FACES = 64;

/** The faces that pawl has shown, oldest first; the last is the present one. */
export function facesOf(state: TaskState): string[] {
  return (state.fields["faces"] ?? []) as string[];
}

export function withFace(state: TaskState, workflow: Workflow): TaskState {
  const hash = hashOfShown(shownBy(state, workflow));
  const faces = [...facesOf(state).filter((other) => other !== hash), hash].slice(-MOST_FACES);
  return { ...state, fields: { ...state.fields, faces } };
}

/** What the file says, where pawl has no records yet; null where it says nothing. */
export function shownOnDisk(directory: string, workflow: Workflow): Partial<Shown> | null {
  const text = readFace(directory, workflow);
  const found = text === null ? undefined : findFrontMatter(text);
  return found?.kind === "front matter" ? readShown(found.lines, workflow).shown : null;
}

/**
 * `right`: it shows the state. `old`: what pawl showed before, or nothing, as after a crash or an editor that saved an old copy.
 * `edited`: somebody wrote another state into it, which moves nothing. The next writer puts either right.
 */
export type FaceFound = { kind: "right" } | { kind: "old" } | { kind: "edited"; what: string };

export function checkFace(directory: string, workflow: Workflow, state: TaskState): FaceFound {
  const { file } = workflow.state;
  const text = readFace(directory, workflow);
  if (text === null) return { kind: "old" };
  const found = findFrontMatter(text);
  if (found.kind === "unclosed") throw unclosed(file);
  if (found.kind === "none") return { kind: "old" };
  const { shown, twice } = readShown(found.lines, workflow);
  const [doubled] = twice;
  if (doubled !== undefined) return { kind: "edited", what: `the front matter of ${file} has \`${doubled}\` twice` };
  if (Object.keys(shown).length === 0) return { kind: "old" };
  const expected = shownBy(state, workflow);
  const wrong = Object.keys(expected).find((key) => shown[key] !== undefined && shown[key] !== expected[key]);
  if (wrong === undefined)
    return { kind: Object.keys(expected).every((key) => shown[key] !== undefined) ? "right" : "old" };
  if (facesOf(state).includes(hashOfShown({ ...expected, ...shown } as Shown))) return { kind: "old" };
  const what = `\`${wrong}\` was changed by hand in the front matter of ${file}: it said ${shown[wrong] ?? ""}, on record is ${expected[wrong] ?? ""}`;
  return { kind: "edited", what };
}

/** Shows the state. What somebody else writes into the file at the same moment is kept. */
export function writeFace(directory: string, workflow: Workflow, state: TaskState): void {
  const shown = shownBy(state, workflow);
  const display = displayOf(state);
  editFace(directory, workflow, (text) => withDisplay(withShown(text, shown, workflow), display));
}

function displayOf({ fields }: TaskState): Display {
  const { branch } = (fields["git"] ?? {}) as { branch?: unknown };
  const summary = fields["summary"];
  return {
    ...(typeof branch === "string" ? { branch } : {}),
    ...(typeof summary === "string" ? { summary } : {}),
  };
}

/**
 * Only the front matter may change. Where it keeps its length it is written in its place, and no other byte of the file is
 * touched; otherwise the file is replaced, and taken up again where somebody wrote into the old one meanwhile.
 */
function editFace(directory: string, workflow: Workflow, edit: (text: string) => string): void {
  const path = placeOf(directory, workflow);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const fd = openOrCreate(path);
    try {
      const before = readWhole(fd);
      const text = before.toString("utf8");
      const after = Buffer.from(edit(text));
      if (after.equals(before)) return;
      // What is not UTF-8 would not come back as it was.
      if (!Buffer.from(text).equals(before)) throw notText(workflow.state.file);
      // An editor empties a file before it writes: in another file its words would be lost, in this one they come over ours.
      if (before.length === 0) writeSync(fd, after, 0, after.length, 0);
      else if (after.length === before.length) writeInPlace(fd, before, after);
      else if (!replace(path, fd, before, after)) continue;
      return;
    } finally {
      closeSync(fd);
    }
  }
  throw invalid(`${workflow.state.file} is being written all the time`, { hint: "end what writes it, and try again" });
}

const MOST_ROUNDS = 100;

/** From the first to the last byte that differs: all of it lies in the front matter. */
function writeInPlace(fd: number, before: Buffer, after: Buffer): void {
  let start = 0;
  while (before[start] === after[start]) start++;
  let end = after.length;
  while (before[end - 1] === after[end - 1]) end--;
  writeSync(fd, after, start, end - start, start);
}

/** False where the file was changed, or replaced, since it was read: nothing is done then, or what came is taken up. */
function replace(path: string, fd: number, before: Buffer, after: Buffer): boolean {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.0.tmp`);
  const copy = openSync(temporary, "w", fstatSync(fd).mode);
  try {
    writeSync(copy, after);
  } finally {
    closeSync(copy);
  }
  if (!readWhole(fd).equals(before) || !isStillThere(path, fd)) {
    rmSync(temporary, { force: true });
    return false;
  }
  renameSync(temporary, path);
  // Whoever had it open wrote into the old one: that is put back, and edited anew.
  const late = readWhole(fd);
  if (late.equals(before)) return true;
  const again = openSync(path, "w");
  try {
    writeSync(again, late);
  } finally {
    closeSync(again);
  }
  return false;
}

function isStillThere(path: string, fd: number): boolean {
  try {
    const there = openPlainFile(path, constants.O_RDONLY | NO_LINK);
    try {
      return fstatSync(there).ino === fstatSync(fd).ino;
    } finally {
      closeSync(there);
    }
  } catch {
    return false;
  }
}

function readFace(directory: string, workflow: Workflow): string | null {
  return readIfThere(placeOf(directory, workflow), MAX_BYTES, NO_LINK)?.toString("utf8") ?? null;
}

function placeOf(directory: string, { state: { file } }: Workflow): string {
  const place = resolveInside(directory, file);
  if ("path" in place) return place.path;
  throw invalid(place.error.message, { findings: [place.error], hint: place.error.hint ?? "" });
}

function openOrCreate(path: string): number {
  try {
    return openPlainFile(path, constants.O_RDWR | NO_LINK);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return openSync(path, "wx+");
  }
}

/** From the beginning, wherever the last read ended. */
function readWhole(fd: number): Buffer {
  const { size } = fstatSync(fd);
  const bytes = Buffer.alloc(size);
  let length = 0;
  for (;;) {
    const read = readSync(fd, bytes, length, size - length, length);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}

function notText(file: string): Error {
  return invalid(`${file} is not text in UTF-8`, {
    findings: [{ message: `${file} is not text in UTF-8`, file, expected: "UTF-8", found: "other bytes" }],
    hint: "mend it by hand; pawl leaves it as it is",
  });
}

function unclosed(file: string): Error {
  const message = `${file}: the front matter that begins in line 1 has no end`;
  return invalid(message, {
    findings: [{ message, file, line: 1, expected: "a line `---` after it", found: "none" }],
    hint: "close it with a line `---`; pawl leaves the file as it is",
  });
}
