/** A project's own command line, run by pawl in a shell. What it runs is what an agent wrote. */
import { randomBytes } from "node:crypto";
import { run, type RunResult } from "../process/run.js";
import { withoutGitLocation } from "./git.js";
import type { TaskSettings } from "./types.js";

export interface ShellOptions {
  settings: TaskSettings;
  phase: string;
  cwd: string;
  logFile: string;
  signal?: AbortSignal | undefined;
  /** For both streams as one text, of so many bytes. */
  keepTogether?: number;
  onOutput?: (text: string) => void;
}

export async function runShell(command: string, options: ShellOptions): Promise<RunResult> {
  const { settings, cwd, logFile, signal, keepTogether, onOutput } = options;
  const given = {
    cwd,
    env: shellEnvironment(settings, options.phase),
    timeoutMs: settings.testTimeoutMs,
    logFile,
    marker: "PAWL_TOKEN",
    ...(keepTogether === undefined ? {} : { together: true, keepBytes: keepTogether }),
    ...(onOutput === undefined ? {} : { onOutput }),
    ...(signal === undefined ? {} : { signal }),
  };
  const result = await run(["bash", "-c", command], given);
  return result.outcome === "not-found" ? run(["sh", "-c", command], given) : result;
}

/** A token that fits no run says that these commands are no human who could answer. */
function shellEnvironment(settings: TaskSettings, phase: string): Record<string, string> {
  return {
    ...withoutGitLocation(settings.env),
    PAWL_TASK: settings.id,
    PAWL_TASK_DIR: settings.dir,
    PAWL_PHASE: phase,
    PAWL_TOKEN: randomBytes(32).toString("hex"),
  };
}
