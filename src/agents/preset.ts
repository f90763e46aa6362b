/** Presets: how the command lines that people have are run without a person. Data in system/presets, never in code. */
import { readFileSync } from "node:fs";
import { invalid, nearest } from "../errors.js";
import { findSystemFile, listSystemFiles } from "../system/locate.js";
import { validatorFor } from "../system/schemas.js";
import { parseStrictJson } from "../task/strict-json.js";

export interface Preset {
  /** What stands after `use` in pawl.json. */
  name: string;
  title: string;
  about?: string[];
  /** An argument list with placeholders. */
  command: string[];
  /** The command that prints its version. */
  version: string[];
  install: string;
  /** Secret-looking environment variables that it needs. */
  env: string[];
  /** Environment variables with fixed values. */
  set: Record<string, string>;
  result: PresetResult;
  /** How it is run in a terminal, and by what it is seen that it waits there for somebody. */
  terminal?: { command: string[]; waiting?: WaitingRule[] };
  /** How to read what it prints with other options, where it is run by a command of one's own. */
  envelopes?: PresetResult[];
  docs: string;
}

/** A line on its screen that asks for something. */
export interface WaitingRule {
  kind: "permission" | "trust" | "login" | "question";
  /** A regular expression. */
  pattern: string;
}

/** How to read what it prints. */
export interface PresetResult {
  format: "json" | "jsonl" | "text";
  text?: { when?: When; at: string; pieces?: boolean };
  /** The event without which the output is not complete. */
  end?: When;
  cost?: NumberRule;
  inputTokens?: NumberRule;
  outputTokens?: NumberRule;
  error?: { when: When; at?: string };
}

/** JSON pointer → the value that has to stand there. */
export type When = Record<string, string | boolean | number>;

export interface NumberRule {
  when?: When;
  /** JSON pointers whose numbers are added up; the first has to be there. */
  at?: string[];
  /** For text: its first group is the number, which may end in k or M. */
  pattern?: string;
  /** Every such event or match reports its own part. */
  sum?: boolean;
}

const SCHEMA = "preset.schema.json";

/** The workspace's own preset of that name, or the built-in one. */
export async function loadPreset(name: string, workspace: string): Promise<Preset> {
  const file = findSystemFile("presets", `${name}.json`, workspace);
  if (file === undefined) throw unknown(name, workspace);
  return readPreset(file.path, name, workspace);
}

export interface PresetValues {
  /** Left out where only the command is to be shown. */
  prompt?: string;
  taskDir: string;
  runDir: string;
  promptFile: string;
}

/** The argument list with its placeholders replaced, and the prompt as input where no argument carries it. */
export function presetCommand(
  preset: Pick<Preset, "command">,
  values: PresetValues,
): { command: string[]; input?: string } {
  const { prompt, taskDir, runDir, promptFile } = values;
  const replacements: Record<string, string | undefined> = {
    prompt,
    task_dir: taskDir,
    run_dir: runDir,
    prompt_file: promptFile,
  };
  // In one pass: a prompt that speaks of {task_dir} stays what it is.
  const command = preset.command.map((part) =>
    part.replace(PLACEHOLDER, (whole, name: string) => replacements[name] ?? whole),
  );
  const carried = preset.command.some((part) => part.includes("{prompt}"));
  return carried || prompt === undefined ? { command } : { command, input: prompt };
}

const PLACEHOLDER = /\{(prompt|task_dir|run_dir|prompt_file)\}/g;

async function readPreset(path: string, name: string, workspace: string): Promise<Preset> {
  const parsed = parseStrictJson(readFileSync(path), path);
  const findings = "error" in parsed ? [parsed.error] : await validatorFor(workspace)(SCHEMA, parsed.value, path);
  if (findings.length > 0) throw invalid(findings[0]?.message ?? "", { findings, hint: `mend ${path}` });
  const preset = (parsed as { value: Preset }).value;
  if (preset.name !== name) {
    const message = `${path}: /name expected "${name}", as its file is called, found "${preset.name}"`;
    throw invalid(message, {
      findings: [{ message, file: path, pointer: "/name", expected: name, found: preset.name }],
      hint: `rename the file to ${preset.name}.json, or mend the name`,
    });
  }
  checkPatterns(preset, path);
  checkWaiting(preset.terminal?.waiting ?? [], path, "/terminal/waiting");
  return preset;
}

/** A schema cannot say whether a regular expression is one. */
function checkPatterns(preset: Preset, path: string): void {
  for (const field of ["cost", "inputTokens", "outputTokens"] as const) {
    const pattern = preset.result[field]?.pattern;
    if (pattern === undefined) continue;
    const pointer = `/result/${field}/pattern`;
    const groups = groupsOf(pattern);
    if (groups !== null && groups > 0) continue;
    const found = groups === null ? "none" : "no group";
    const message = `${path}: ${pointer} expected a regular expression with a group, found ${found}`;
    throw invalid(message, {
      findings: [{ message, file: path, pointer, expected: "a regular expression with a group", found }],
      hint: `mend ${path}`,
    });
  }
}

/** The patterns by which it is seen that an agent waits. */
export function checkWaiting(rules: WaitingRule[], path: string, within: string): void {
  for (const [index, { pattern }] of rules.entries()) {
    if (groupsOf(pattern) !== null) continue;
    const pointer = `${within}/${index}/pattern`;
    const message = `${path}: ${pointer} expected a regular expression, found none`;
    throw invalid(message, {
      findings: [{ message, file: path, pointer, expected: "a regular expression", found: pattern }],
      hint: `mend ${path}`,
    });
  }
}

/** An alternative that matches nothing shows how many groups the others have. */
function groupsOf(pattern: string): number | null {
  try {
    return (new RegExp(`${pattern}|`).exec("")?.length ?? 1) - 1;
  } catch {
    return null;
  }
}

/** Built-in ones and the workspace's, sorted. */
export function presetNames(workspace: string): string[] {
  const files = listSystemFiles("presets", ".json", workspace);
  return files.map(({ name }) => name.slice(0, -".json".length)).sort();
}

/** What `use` may name besides a preset. */
const BUILT_IN = ["human", "rehearsal"];

function unknown(name: string, workspace: string): Error {
  const presets = presetNames(workspace);
  const near = nearest(name, [...presets, ...BUILT_IN]);
  const own = `put system/presets/${name}.json into the workspace`;
  return invalid(`there is no agent preset ${JSON.stringify(name)}; there are: ${presets.join(", ")}`, {
    hint: near === undefined ? own : `did you mean "use": "${near}"? Or ${own}`,
  });
}
