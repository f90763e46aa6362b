/**
 * The one way to git. Every command runs without hooks, prompts, pager, editor and background maintenance, in the
 * directory it is given and no other repository, whatever the environment pawl was started in says. It sees the objects that
 * are there: what an agent wrote into the repository to have others shown in their place is passed over.
 */
import { stat } from "node:fs/promises";
import { failed, interrupted } from "../errors.js";
import { run, type RunResult } from "../process/run.js";

export interface GitOptions {
  cwd: string;
  env: Record<string, string>;
  input?: string;
  /** Exit codes besides 0 that are an answer, not a failure. */
  allow?: readonly number[];
  /** An index file instead of the repository's own. */
  index?: string;
  /** Given instead of found: a repository's configuration may name another work tree. */
  place?: { gitDir: string; workTree: string } | undefined;
  signal?: AbortSignal | undefined;
}

export interface GitResult {
  stdout: string;
  stderr: string;
  exitCode: number;
}

/** `git` with its place bound. */
export type Git = (
  args: readonly string[],
  options?: Omit<GitOptions, "cwd" | "env" | "signal" | "place"> & { env?: Record<string, string> },
) => Promise<GitResult>;

export const OLDEST_GIT = "2.38";

export async function git(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const env = gitEnvironment(options.env);
  if (options.index !== undefined) env["GIT_INDEX_FILE"] = options.index;
  if (options.place !== undefined) {
    env["GIT_DIR"] = options.place.gitDir;
    env["GIT_WORK_TREE"] = options.place.workTree;
  }
  const result = await run(["git", ...CONFIG, ...args], {
    cwd: options.cwd,
    env,
    keepBytes: KEEP_BYTES,
    ...(options.input === undefined ? {} : { input: options.input }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  if (result.outcome === "exited" && result.exitCode !== null) {
    const { stdout, stderr, exitCode, truncated } = result;
    if (exitCode === 0 || options.allow?.includes(exitCode) === true) {
      if (truncated) throw failed(`git ${args[0]} printed more than pawl can hold`, { hint: `in ${options.cwd}` });
      return { stdout, stderr, exitCode };
    }
  }
  throw await explain(args, options, result);
}

export function gitIn(
  cwd: string,
  env: Record<string, string>,
  signal?: AbortSignal,
  place?: GitOptions["place"],
): Git {
  return (args, options = {}) => git(args, { ...options, cwd, env: { ...env, ...options.env }, signal, place });
}

/** What git printed, without the newline at its end. */
export function line(result: GitResult): string {
  return result.stdout.replace(/\n$/, "");
}

/** The records of a `-z` output. */
export function records(result: GitResult): string[] {
  const parts = result.stdout.split("\0");
  if (parts.at(-1) === "") parts.pop();
  return parts;
}

/** The full name of a commit, or null when there is none of that name. */
export async function resolveCommit(at: Git, name: string): Promise<string | null> {
  const result = await at(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`], { allow: [1] });
  return result.exitCode === 0 ? line(result) : null;
}

export async function treeOf(at: Git, commit: string): Promise<string> {
  return line(await at(["rev-parse", "--verify", "--end-of-options", `${commit}^{tree}`]));
}

export async function isAncestor(at: Git, ancestor: string, descendant: string): Promise<boolean> {
  return (await at(["merge-base", "--is-ancestor", ancestor, descendant], { allow: [1] })).exitCode === 0;
}

export async function mergeBase(at: Git, one: string, other: string): Promise<string | null> {
  const result = await at(["merge-base", one, other], { allow: [1] });
  return result.exitCode === 0 ? line(result) : null;
}

export interface CommitContent {
  tree: string;
  parents: readonly string[];
  message: string;
}

/** A commit object, not yet on any branch. Never signed: nobody is there to enter a passphrase. */
export async function commitTree(at: Git, content: CommitContent, env: Record<string, string>): Promise<string> {
  const parents = content.parents.flatMap((parent) => ["-p", parent]);
  const args = ["commit-tree", "--no-gpg-sign", ...parents, "-F", "-", content.tree];
  return line(await at(args, { input: content.message, env: await identity(at, env) }));
}

/** Environment that gives commits an author where nobody configured one. Configuration is never written for it. */
export async function identity(at: Git, env: Record<string, string>): Promise<Record<string, string>> {
  const pattern = "^(user|author|committer)\\.(name|email)$";
  const listed = records(await at(["config", "-z", "--name-only", "--get-regexp", pattern], { allow: [1] }));
  const missing: Record<string, string> = {};
  for (const role of ["author", "committer"]) {
    for (const [field, value] of Object.entries(PAWL_IDENTITY)) {
      const variable = `GIT_${role}_${field}`.toUpperCase();
      if (env[variable] || listed.includes(`user.${field}`) || listed.includes(`${role}.${field}`)) continue;
      if (field === "email" && env["EMAIL"]) continue;
      missing[variable] = value;
    }
  }
  return missing;
}

/** The environment without what would point git (or a test that uses git) at another repository. */
export function withoutGitLocation(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !LOCATION.has(name)));
}

const PAWL_IDENTITY = { name: "pawl", email: "pawl@localhost" };

const KEEP_BYTES = 256 * 1024 * 1024;

/** `git rev-parse --local-env-vars`, and what changes the meaning of paths and diffs. */
const LOCATION = new Set([
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_COMMON_DIR",
  "GIT_INDEX_FILE",
  "GIT_OBJECT_DIRECTORY",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_NAMESPACE",
  "GIT_PREFIX",
  "GIT_INTERNAL_SUPER_PREFIX",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_GRAFT_FILE",
  "GIT_SHALLOW_FILE",
  "GIT_REPLACE_REF_BASE",
  "GIT_NO_REPLACE_OBJECTS",
  "GIT_CONFIG",
  "GIT_CONFIG_PARAMETERS",
  "GIT_QUARANTINE_PATH",
  "GIT_REFLOG_ACTION",
  "GIT_EXTERNAL_DIFF",
  "GIT_DIFF_OPTS",
  "GIT_LITERAL_PATHSPECS",
  "GIT_GLOB_PATHSPECS",
  "GIT_NOGLOB_PATHSPECS",
  "GIT_ICASE_PATHSPECS",
]);

/** Configuration that would let a user's habits change what pawl's own commands do or print. */
const CONFIG = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "core.splitIndex=false",
  "core.safecrlf=false",
  // A file that git believes without looking at the commits themselves.
  "core.commitGraph=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "submodule.recurse=false",
  "merge.verifySignatures=false",
  "color.ui=false",
].flatMap((setting) => ["-c", setting]);

/** A token that fits no run. */
const NOBODY = "git";

function gitEnvironment(env: Record<string, string>): Record<string, string> {
  return {
    ...withoutGitLocation(env),
    LC_ALL: "C",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_GRAFT_FILE: "/dev/null",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_EDITOR: ":",
    GIT_PAGER: "cat",
    // What a repository has git run, a filter for instance, may be an agent's: it is no human who could answer.
    PAWL_TOKEN: env["PAWL_TOKEN"] ?? NOBODY,
  };
}

async function explain(args: readonly string[], options: GitOptions, result: RunResult): Promise<Error> {
  const command = ["git", ...args].join(" ");
  if (result.outcome === "interrupted") return interrupted(`interrupted: ${command}`);
  const data = { command: ["git", ...args], directory: options.cwd, stderr: result.stderr, exitCode: result.exitCode };
  if (result.outcome !== "exited") {
    if (!(await isDirectory(options.cwd))) {
      return failed(`cannot run git in ${options.cwd}: there is no such directory`, { data });
    }
    const why =
      result.outcome === "not-found" ? "was not found" : `could not be started: ${result.error ?? result.outcome}`;
    return failed(`git ${why}`, {
      hint: `install git ${OLDEST_GIT} or later, and see that it is on the PATH`,
      data,
    });
  }
  const how = result.exitCode === null ? `ended by ${result.signal ?? "a signal"}` : `exit code ${result.exitCode}`;
  const said = result.stderr.trim() || result.stdout.trim() || "(no output)";
  return failed(`\`${command}\` failed in ${options.cwd} (${how}): ${said}`, {
    hint: await hintFor(options, result),
    data,
  });
}

async function hintFor(options: GitOptions, result: RunResult): Promise<string> {
  const said = result.stderr;
  if (/\.lock': File exists|index\.lock/.test(said)) {
    return "another git process is at work there, or died; when none is running, remove the lock file that is named";
  }
  if (said.includes("dubious ownership")) return "run the `git config` command that git suggests, then try again";
  if (result.exitCode === USAGE) {
    const version = await run(["git", "version"], { cwd: options.cwd, env: options.env });
    return `pawl needs git ${OLDEST_GIT} or later; this is ${version.stdout.trim()}`;
  }
  return "run the command by hand in that directory, mend what it says, then try again";
}

/** Git's exit code for a command or option that it does not know. */
const USAGE = 129;

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
