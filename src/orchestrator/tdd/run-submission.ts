/** A submitted test, run by pawl itself: the test, what a GREEN step owes to its RED step, and the project's preflight check. */
import { join } from "node:path";
import { runShell } from "../../actions/shell.js";
import { parseTestCounts } from "../../actions/test-counts.js";
import { changesIn, openWorkTree } from "../../actions/tdd/work-tree.js";
import { records } from "../../actions/git.js";
import { failed, interrupted, refused } from "../../errors.js";
import type { RunResult } from "../../process/run.js";
import type { Current } from "../../tdd/active-pr.js";
import type { Facts, Material } from "../../tdd/facts.js";
import type { RedTest, TddRecord } from "../../tdd/record.js";
import { wrongReason } from "../../tdd/wrong-reason.js";
import type { ResolvedSettings } from "../../workspace/settings.js";
import type { TaskContext } from "../context.js";
import type { LongWork } from "../long-work.js";
import { existsSync } from "node:fs";

export interface Submission {
  command: string;
  expectation: "PASS" | "FAIL";
  current: Current | null;
  record: TddRecord;
  isDebugging: boolean;
}

type Outcome = Pick<Facts, "result" | "problem" | "own"> & Material & { log: string; wrongReason?: string };

/** How much of an output is told and remembered; the log has all of it. */
export const KEEP_BYTES = 64 * 1024;

interface Ran {
  passed: boolean;
  output: string;
  log: string;
  tests: number | null;
  how: string;
  result: RunResult;
}

export async function runSubmission(context: TaskContext, run: LongWork, submission: Submission): Promise<Outcome> {
  const settings = await context.settings();
  let count = 0;
  const shell = (command: string): Promise<Ran> => runOne(context, settings, run, command, ++count);
  const { command, expectation, current, record, isDebugging } = submission;
  const test = await shell(command);
  const material = { command, expectation, log: test.log, own: false };
  if (expectation === "FAIL") {
    if (test.passed)
      return {
        ...material,
        result: "unexpected",
        output: test.output,
        problem: `the test passed unexpectedly: \`${command}\``,
      };
    const reason = settings.verifyRed ? wrongReason({ ...test.result, output: test.output, tests: test.tests }) : null;
    const files = settings.verifyRed ? await addedTests(settings, record, command) : [];
    const redTest = { command, log: test.log, output: test.output, files, tests: test.tests };
    return {
      ...material,
      result: "red",
      output: test.output,
      problem: "",
      redTest,
      ...(reason === null ? {} : { wrongReason: reason }),
    };
  }
  const fail = (ran: Ran, what: string): Outcome => ({
    ...material,
    log: ran.log,
    result: "failed",
    output: ran.output,
    problem: `${what} ${ran.how}`,
  });
  if (!test.passed) return fail(test, `the test failed unexpectedly: \`${command}\``);
  const original = isDebugging && record.failed?.expectation === "PASS" ? record.failed.command : undefined;
  if (original !== undefined && original !== command) {
    const again = await shell(original);
    if (!again.passed)
      return { ...fail(again, `the test that failed before still fails: \`${original}\``), command: original };
  }
  if (settings.verifyRed && current?.step?.type === "GREEN" && record.red?.task === (current.task.taskName ?? ""))
    await requireRedTest(settings, record.red, test, command, shell);
  const preflight = await shell(settings.preflight);
  if (!preflight.passed) return fail(preflight, `the preflight check failed: \`${settings.preflight}\``);
  const own = original !== undefined && current?.step?.type !== "RED";
  return { ...material, result: "passed", output: test.output, problem: "", own };
}

async function runOne(
  context: TaskContext,
  settings: ResolvedSettings,
  run: LongWork,
  command: string,
  number: number,
): Promise<Ran> {
  const { phase } = { phase: run.path.split("/")[0] ?? "" };
  const log = join(run.folder, `${number}.log`);
  context.progress(`$ ${command}\n`);
  const result = await runShell(command, {
    settings,
    phase,
    cwd: settings.worktree,
    logFile: log,
    keepTogether: KEEP_BYTES,
    signal: context.signal,
  });
  if (result.outcome === "interrupted")
    throw interrupted(`interrupted while this ran: ${command}`, { hint: "call submit_work again" });
  if (result.outcome === "not-started" || result.outcome === "not-found")
    throw failed(`no shell could be started for the test: ${result.error ?? ""}`, { hint: "call submit_work again" });
  const output = result.output ?? "";
  const counts = parseTestCounts(output);
  return {
    passed: result.outcome === "exited" && result.exitCode === 0,
    output,
    log,
    tests: counts === null ? null : counts.passed + counts.failed,
    how:
      result.outcome === "timeout"
        ? "(it did not end in time)"
        : `(exit code ${result.exitCode ?? result.signal ?? "?"})`,
    result,
  };
}

/** A GREEN step makes the test of its RED step pass; one that takes the test away has done nothing. */
async function requireRedTest(
  settings: ResolvedSettings,
  red: RedTest,
  test: Ran,
  command: string,
  shell: (command: string) => Promise<Ran>,
): Promise<void> {
  const gone = red.files.filter((file) => !existsSync(join(settings.worktree, file)));
  if (gone.length > 0)
    throw weakened(
      `the test that the RED step added is gone: ${gone.join(", ")}`,
      gone[0] ?? "",
      "the file",
      "nothing",
    );
  if (red.tests === null) return;
  const again = command === red.command ? test : await shell(red.command);
  if (!again.passed)
    throw weakened(
      `the RED step's own test still fails: \`${red.command}\` ${again.how}`,
      red.command,
      "that it passes",
      "that it fails",
    );
  if (again.tests !== null && again.tests >= red.tests) return;
  const found = again.tests === null ? "no count of tests" : `${again.tests} tests`;
  throw weakened(
    `the RED step's test runs fewer tests than before: \`${red.command}\``,
    red.command,
    `at least ${red.tests} tests`,
    found,
  );
}

function weakened(message: string, file: string, expected: string, found: string): Error {
  return refused(`${message}; a GREEN step must leave its RED test as it is`, {
    findings: [{ message, file, expected, found }],
    hint: 'put the test back, make it pass, and call submit_work again ("verifyRed": false in pawl.json turns this off)',
  });
}

/** Files that are new since the last commit, and that are tests by their names or by the command. */
async function addedTests(settings: ResolvedSettings, record: TddRecord, command: string): Promise<string[]> {
  if (settings.repo === null) return [];
  const tree = await openWorkTree(settings);
  const { untracked } = await changesIn(tree);
  const staged =
    tree.head === null ? [] : records(await tree.git(["diff", "--name-only", "-z", "--diff-filter=A", "HEAD"]));
  const added = [...new Set([...untracked.filter((path) => record.untracked?.includes(path) !== true), ...staged])];
  return added.filter((path) => /(^|[^a-z])(tests?|specs?)([^a-z]|$)/i.test(path) || command.includes(path));
}
