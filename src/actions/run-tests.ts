/** The project's own test commands, run by pawl, and the report that no agent can write. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { interrupted, refused, type Finding } from "../errors.js";
import type { RunResult } from "../process/run.js";
import { maskSecrets } from "../task/mask.js";
import { acceptedChange } from "./evidence.js";
import { objectOf } from "./git-record.js";
import { resolveCommit } from "./git.js";
import { ABOUT } from "./names.js";
import { openRepository, type Repository } from "./repository.js";
import { runShell } from "./shell.js";
import { takeSnapshot, type Snapshot } from "./snapshot.js";
import { parseTestCounts, type TestCounts } from "./test-counts.js";
import { restoreWorktree } from "./test-leftovers.js";
import type { Made, Maker, MakerContext, TaskSettings } from "./types.js";

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
  requireTests(settings);
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

/** Of files that lie somewhere else, and are nobody's: nothing has to be put back. */
export async function testIn(context: MakerContext, directory: string, tree: string): Promise<Made> {
  requireTests(context.settings);
  return report(await runSuites(context, directory), [], { tree });
}

function requireTests({ test }: TaskSettings): void {
  const blank = test.findIndex(doesNothing);
  if (test.length > 0 && blank === -1) return;
  const what = blank === -1 ? "no test command is configured" : `test command ${blank + 1} is blank`;
  throw refused(`${what}, so that nothing can show that the change works`, {
    hint: 'set "test": ["npm test"] in pawl.json',
  });
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
    context.progress(`${command}: ${suite.outcome}\n`);
    suites.push(suite);
  }
  return suites;
}

async function runSuite(context: MakerContext, cwd: string, command: string, log: string): Promise<Suite> {
  const logFile = join(context.runDir, log);
  // An earlier command may have put something in its place; a pipe would wait for a reader for ever.
  await rm(logFile, { recursive: true, force: true });
  // The end of the output is kept as it comes: what lies at the log's place afterwards is up to the command.
  let end = "";
  const result = await runShell(command, {
    settings: context.settings,
    phase: "test",
    cwd,
    logFile,
    signal: context.signal,
    onOutput: (text) => {
      end = (end + text).slice(-END_CHARACTERS);
    },
  });
  if (result.outcome === "interrupted") throw interrupted(`interrupted while the tests ran: ${command}`);
  const output = result.error ?? end;
  const tests = parseTestCounts(output);
  return {
    name: command,
    command,
    exit_code: result.exitCode,
    outcome: outcomeOf(result),
    duration_ms: result.durationMs,
    log: `${context.runPath}/${log}`,
    // Masked first: of a secret that is cut in two, the rest would not be known for one.
    output_tail: maskSecrets(output, context.settings.env).slice(-TAIL_CHARACTERS),
    ...(tests === null ? {} : { tests }),
  };
}

/** Nothing but blanks and comments: a shell would say that it passed. */
function doesNothing(command: string): boolean {
  return command.split("\n").every((text) => /^\s*(#|$)/.test(text));
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

const TAIL_CHARACTERS = 4000;
const END_CHARACTERS = 64 * 1024;
