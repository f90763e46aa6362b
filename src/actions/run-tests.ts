/** The project's own test commands, run by pawl, and the report that no agent can write. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { interrupted, refused, type Finding } from "../errors.js";
import { run, type RunResult } from "../process/run.js";
import { acceptedChange } from "./evidence.js";
import { objectOf } from "./git-record.js";
import { resolveCommit, withoutGitLocation } from "./git.js";
import { ABOUT } from "./names.js";
import { openRepository, type Repository } from "./repository.js";
import { takeSnapshot, type Snapshot } from "./snapshot.js";
import { parseTestCounts, type TestCounts } from "./test-counts.js";
import { restoreWorktree } from "./test-leftovers.js";
import type { Made, Maker, MakerContext } from "./types.js";

export const runTests: Maker = { name: "run-tests", about: ABOUT["run-tests"], make, check };

interface Suite {
  name: string;
  command: string;
  exit_code: number | null;
  outcome: "passed" | "failed" | "timeout" | "not-run";
  duration_ms: number;
  log: string;
  output_tail: string;
  tests?: TestCounts;
}

async function make(context: MakerContext): Promise<Made> {
  const { settings } = context;
  if (settings.test.length === 0) {
    throw refused("no test command is configured, so that nothing can show that the change works", {
      hint: 'set "test": ["npm test"] in pawl.json',
    });
  }
  if (settings.repo === null) return report(await runSuites(context, settings.dir), [], {});

  const repository = await openRepository(settings, context.signal);
  const before = await takeSnapshot(repository, settings, context.signal);
  const head = await resolveCommit(before.worktree.git, "HEAD");
  const notes: string[] = [];
  let suites: Suite[];
  try {
    suites = await runSuites(context, settings.worktree);
  } finally {
    // Also after an interruption: without its signal, or nothing would run any more.
    notes.push(...(await restore(context, before, head)));
  }
  return report(suites, notes, { tree: before.tree });
}

/** A report about another tree than the one that was reviewed proves nothing about it. */
async function check(context: Parameters<NonNullable<Maker["check"]>>[0], data: unknown): Promise<Finding | null> {
  const tested = objectOf(data)["tree"];
  const change = acceptedChange(context.artifacts);
  if (change === null || tested === change.tree) return null;
  return {
    message: "the tests ran on something else than the change that was reviewed",
    file: "eval/eval-report.json",
    pointer: "/tree",
    expected: change.tree,
    found: typeof tested === "string" ? tested : "no tree",
    hint: 'pawl redo test --reason "…"',
  };
}

async function restore(context: MakerContext, before: Snapshot, head: string | null): Promise<string[]> {
  const repository: Repository = await openRepository(context.settings);
  const notes = await restoreWorktree(repository, context.settings, before, context);
  const now = await resolveCommit(repository.git, `refs/heads/${context.settings.branch}`);
  if (now !== head) notes.push(`The test run moved the branch ${context.settings.branch} from ${head} to ${now}.`);
  return notes;
}

async function runSuites(context: MakerContext, cwd: string): Promise<Suite[]> {
  const suites: Suite[] = [];
  for (const [index, command] of context.settings.test.entries()) {
    const suite = await runSuite(context, cwd, command, `${index + 1}.log`);
    context.progress(`${command}: ${suite.outcome}`);
    suites.push(suite);
  }
  return suites;
}

async function runSuite(context: MakerContext, cwd: string, command: string, log: string): Promise<Suite> {
  const logFile = join(context.runDir, log);
  const result = await runShell(context, cwd, command, logFile);
  if (result.outcome === "interrupted") throw interrupted(`interrupted while the tests ran: ${command}`);
  const output = result.error ?? (await readEnd(logFile));
  const tests = parseTestCounts(output);
  return {
    name: command,
    command,
    exit_code: result.exitCode,
    outcome: outcomeOf(result),
    duration_ms: result.durationMs,
    log: `${context.runPath}/${log}`,
    output_tail: output.slice(-TAIL_CHARACTERS),
    ...(tests === null ? {} : { tests }),
  };
}

async function runShell(context: MakerContext, cwd: string, command: string, logFile: string): Promise<RunResult> {
  const options = {
    cwd,
    env: withoutGitLocation(context.settings.env),
    timeoutMs: context.settings.testTimeoutMs,
    logFile,
    ...(context.signal === undefined ? {} : { signal: context.signal }),
  };
  const result = await run(["bash", "-c", command], options);
  return result.outcome === "not-found" ? run(["sh", "-c", command], options) : result;
}

function outcomeOf({ outcome, exitCode }: RunResult): Suite["outcome"] {
  if (outcome === "timeout") return "timeout";
  if (outcome !== "exited") return "not-run";
  return exitCode === 0 ? "passed" : "failed";
}

function report(suites: Suite[], notes: string[], more: { tree?: string }): Made {
  const passed = suites.filter(({ exit_code, outcome }) => exit_code === 0 && outcome === "passed").length;
  return {
    data: {
      overall_pass: suites.length > 0 && passed === suites.length,
      summary: { passed, failed: suites.length - passed, skipped: 0 },
      suites,
      ...more,
      ...(notes.length === 0 ? {} : { notes }),
    },
    notes,
  };
}

/** The end of a log, without reading all of it. */
async function readEnd(file: string): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - END_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
    return buffer.subarray(0, bytesRead).toString("utf8");
  } finally {
    await handle.close();
  }
}

const TAIL_CHARACTERS = 4000;
const END_BYTES = 64 * 1024;
