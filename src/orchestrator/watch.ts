/**
 * What nobody may change while the work of a phase goes on: the records of the task, what the phase rests on, and the rules
 * that it is judged by. Whoever did it, the agent or somebody else meanwhile, a human has to look before anything opens.
 */
import { lstatSync } from "node:fs";
import { join, relative } from "node:path";
import { codeOf, type Finding } from "../errors.js";
import { listSystemFiles, type SystemFolder } from "../system/locate.js";
import { readPlainFile } from "../task/plain-file.js";
import type { TaskState } from "../task/state.js";
import { relevantArtifacts } from "../workflow/decide.js";
import { sha256 } from "../workflow/hash.js";
import { allLeft } from "../workflow/leaves.js";
import type { Phase } from "../workflow/types.js";
import { CONFIG_FILE } from "../workspace/config.js";
import type { TaskContext } from "./context.js";
import { evidenceFor } from "./look.js";

/** Name of a thing → hash of it; one that is not there has no entry. */
export type Hashes = Record<string, string>;

export interface Watch {
  state: TaskState;
  phase: Phase;
  evidence: Hashes;
  rules: Hashes;
}

export interface Disturbance {
  /** The ground of the work was taken away: what it came to counts for nothing. */
  groundless: boolean;
  findings: Finding[];
}

export async function startWatch(context: TaskContext, state: TaskState, phase: Phase): Promise<Watch> {
  return { state, phase, evidence: await evidenceHashes(context, state, phase), rules: ruleHashes(context) };
}

/** `now` is the state on the disk when the work is done; null when nothing was disturbed. */
export async function disturbanceOf(context: TaskContext, watch: Watch, now: TaskState): Promise<Disturbance | null> {
  const ground = [
    ...(now.lastEvent?.hash === watch.state.lastEvent?.hash ? [] : [recordsChanged(watch.state, now)]),
    ...changed(watch.evidence, await evidenceHashes(context, watch.state, watch.phase)),
  ];
  const findings = [...ground, ...changed(watch.rules, ruleHashes(context))];
  return findings.length === 0 ? null : { groundless: ground.length > 0, findings };
}

/** Everything that the phase looks at and does not make itself. */
async function evidenceHashes(context: TaskContext, state: TaskState, phase: Phase): Promise<Hashes> {
  const accepted = Object.keys(state.evidence).filter((name) => state.evidence[name]?.accepted !== undefined);
  const names = new Set([...relevantArtifacts(context.workflow, phase.name), ...accepted]);
  for (const name of allLeft(phase)) names.delete(name);
  const statuses = await evidenceFor(context, state, [...names]);
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const { file, hash } = statuses[name] ?? {};
      return file === undefined || hash === undefined ? [] : [[file, hash]];
    }),
  );
}

/** Settings, the brief, and the workspace's own documents, schemas, personas and presets. */
export function ruleHashes({ workspace: { root }, id }: TaskContext): Hashes {
  const own = SYSTEM_FILES.flatMap(([folder, ending]) => listSystemFiles(folder, ending, root))
    .filter(({ builtIn }) => !builtIn)
    .map(({ path }) => relative(root, path));
  const files = [CONFIG_FILE, join("tasks", id, "task.md"), ...own];
  return Object.fromEntries(files.flatMap((path) => hashOf(join(root, path)).map((hash) => [path, hash])));
}

const SYSTEM_FILES: [SystemFolder, string][] = [
  ["workflows", ".md"],
  ["agents", ".md"],
  ["schemas", ".json"],
  ["presets", ".json"],
];

function hashOf(path: string): string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || stat.isDirectory()) return [];
  // Whoever writes a file moves this time, and nobody can set it back.
  const version = `${stat.ino} ${stat.size} ${stat.ctimeMs}`;
  const before = known.get(path);
  if (before?.version === version) return [before.hash];
  const hash = contentHash(path);
  known.set(path, { version, hash });
  return [hash];
}

/** A batch looks at the same few files before and after every run. */
const known = new Map<string, { version: string; hash: string }>();

function contentHash(path: string): string {
  try {
    return sha256(readPlainFile(path));
  } catch (error) {
    return `unreadable: ${codeOf(error) ?? ""}`;
  }
}

export function changed(before: Hashes, after: Hashes): Finding[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => ({
      message: `${name} was changed while the work went on`,
      file: name,
      expected: before[name] === undefined ? "no such file" : `what it was (${before[name].slice(0, 12)})`,
      found: after[name] === undefined ? "nothing" : `something else (${after[name].slice(0, 12)})`,
    }));
}

function recordsChanged(before: TaskState, now: TaskState): Finding {
  const name = ({ lastEvent }: TaskState): string =>
    lastEvent === null ? "no event" : `event ${lastEvent.seq}, ${lastEvent.type} (${lastEvent.hash.slice(0, 12)})`;
  return {
    message: "the records of the task were changed while the work went on",
    file: "history.jsonl",
    expected: `to end with ${name(before)}`,
    found: name(now),
  };
}
