/** Makes a worktree fit to work in, as pawl.json says: files that git does not have, and the project's own commands. */
import { cp, rm } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { interrupted, messageOf } from "../errors.js";
import { maskSecrets } from "../task/mask.js";
import { ABOUT } from "./names.js";
import { exists } from "./paths.js";
import { runShell } from "./shell.js";
import type { Maker, MakerContext } from "./types.js";

export const setUp: Maker = {
  name: "set-up",
  about: ABOUT["set-up"],
  make: async (context) => ({ data: await setUpIn(context, context.settings.worktree) }),
};

export interface SetUpReport {
  ok: boolean;
  /** Why not; empty where it went well. */
  problem: string;
  steps: { what: string; ok: boolean; log?: string; output_tail?: string }[];
}

type Given = Pick<MakerContext, "settings" | "runDir" | "runPath" | "progress" | "signal">;

/** Stops at the first step that fails: what comes after it rests on it. */
export async function setUpIn(context: Given, directory: string): Promise<SetUpReport> {
  const { copy, run } = context.settings.setup;
  const steps: SetUpReport["steps"] = [];
  for (const path of copy) {
    const problem = await copyInto(context, directory, path);
    steps.push({ what: `copy ${path}`, ok: problem === null, ...(problem === null ? {} : { output_tail: problem }) });
    if (problem !== null) return { ok: false, problem: `${path} cannot be copied: ${problem}`, steps };
  }
  for (const [index, command] of run.entries()) {
    const log = `set-up-${index + 1}.log`;
    const { ok, tail } = await runStep(context, directory, command, log);
    steps.push({ what: command, ok, log: `${context.runPath}/${log}`, ...(ok ? {} : { output_tail: tail }) });
    if (!ok) return { ok: false, problem: `\`${command}\` failed`, steps };
  }
  return { ok: true, problem: "", steps };
}

/** A path that leads elsewhere would have a setting of the workspace write where nobody expects it. */
async function copyInto({ settings }: Given, directory: string, path: string): Promise<string | null> {
  if (isAbsolute(path) || path.split(/[/\\]/).includes("..")) return "expected a path inside the workspace";
  const source = join(settings.workspace, path);
  if (!(await exists(source))) return `there is no ${source}`;
  try {
    await cp(source, join(directory, path), { recursive: true, verbatimSymlinks: true });
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

async function runStep(
  context: Given,
  cwd: string,
  command: string,
  log: string,
): Promise<{ ok: boolean; tail: string }> {
  const { settings, signal } = context;
  const logFile = join(context.runDir, log);
  await rm(logFile, { recursive: true, force: true });
  let end = "";
  const result = await runShell(command, {
    settings,
    phase: "set-up",
    cwd,
    logFile,
    signal,
    onOutput: (text) => {
      end = (end + text).slice(-TAIL);
    },
  });
  if (result.outcome === "interrupted") throw interrupted(`interrupted while the worktree was set up: ${command}`);
  const ok = result.outcome === "exited" && result.exitCode === 0;
  context.progress(`${command}: ${ok ? "done" : "failed"}\n`);
  return { ok, tail: maskSecrets(result.error ?? end, settings.env) };
}

const TAIL = 4000;
