/**
 * An approved change goes into the base branch as one commit: by a pull request where the repository is on GitHub and `gh` is
 * there, by pawl itself otherwise. One merge at a time; what the base branch will hold is tested before it moves. Safe to repeat:
 * git, or GitHub, is asked first what has happened already.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { failed, refused } from "../errors.js";
import { acquireLock } from "../task/lock.js";
import { findBaseBranch, type BaseBranch } from "./base-branch.js";
import { acceptedChange, type AcceptedChange } from "./evidence.js";
import { exportTree } from "./export-tree.js";
import { objectOf } from "./git-record.js";
import { commitTree, isAncestor, line } from "./git.js";
import { githubOf, type GitHub } from "./github.js";
import { mergeTrees } from "./merge-trees.js";
import { taskMessage } from "./messages.js";
import { moveBaseBranch } from "./move-base-branch.js";
import { ABOUT } from "./names.js";
import { openRepository, type Repository } from "./repository.js";
import { inTurn } from "./repository-lock.js";
import { testIn } from "./run-tests.js";
import { setUpIn } from "./set-up.js";
import type { Made, Maker, MakerContext } from "./types.js";

export const mergeChange: Maker = { name: "merge-change", about: ABOUT["merge-change"], looksAt: ["tests"], make };

/** What came of it: `merge_report`. */
export interface MergeReport {
  outcome: "merged" | "conflict" | "tests_failed";
  how: "pull-request" | "local";
  base: string;
  /** Where the base branch stood. */
  before: string;
  commit?: string;
  url?: string;
  /** That conflict. */
  files: string[];
  /** The tests of what would have been merged. */
  tests?: unknown;
}

/** By which a commit of the base branch is known to be the task's. */
export const HEAD_TRAILER = "Pawl-Head";
const PATIENCE_MS = 60 * 60_000;
const ATTEMPTS = 20;

async function make(context: MakerContext): Promise<Made> {
  const { settings, signal } = context;
  if (settings.repo === null) throw refused("there is no repository to merge into", { hint: "git init" });
  const change = acceptedChange(context.artifacts);
  if (change === null || objectOf(context.artifacts["code_review"]?.data)["decision"] !== "approve")
    throw refused("nothing is merged that was not approved as it is now", { hint: `see \`pawl why ${settings.id}\`` });
  const repository = await openRepository(settings, signal);
  // The queue: the one behind sees what the one before it made of the base branch.
  const lock = await acquireLock(join(repository.commonDir, "pawl-merge-queue"), PATIENCE_MS);
  try {
    const github = await githubOf(repository, settings);
    return github === null
      ? await mergeHere(context, repository, change)
      : await mergeThere(context, repository, change, github);
  } finally {
    lock.release();
  }
}

async function mergeHere(context: MakerContext, repository: Repository, change: AcceptedChange): Promise<Made> {
  const { settings } = context;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const base = await findBaseBranch(repository, context);
    const at = { how: "local" as const, base: base.name, before: base.head, files: [] };
    const found = await findMerged(repository, change, base.head);
    if (found !== null)
      return made({ ...at, ...found, outcome: "merged" }, `Merged into ${base.name} already, as ${found.commit}.`);
    const judged = await judgeMerge(context, repository, change, base);
    if ("outcome" in judged) return made({ ...at, ...judged });
    const commit = await squash(context, repository, change, { base, tree: judged.tree });
    const move = { base: base.name, before: base.head, commit, what: "merge", again: `pawl next ${settings.id}` };
    if (await inTurn(repository, () => moveBaseBranch(repository, move)))
      return made({ ...at, outcome: "merged", commit }, `Merged ${settings.branch} into ${base.name} as ${commit}.`);
    context.progress(`${base.name} was moved meanwhile; merging again\n`);
  }
  throw failed(`the base branch was moved by somebody else ${ATTEMPTS} times while it was being merged into`);
}

async function mergeThere(
  context: MakerContext,
  repository: Repository,
  change: AcceptedChange,
  github: GitHub,
): Promise<Made> {
  const { settings } = context;
  const base = await findBaseBranch(repository, context);
  await github.push(settings.branch, change.head);
  const known = await github.find(settings.branch, change.head);
  const at = { how: "pull-request" as const, base: base.name, files: [] };
  const done = async (commit: string, url: string, before: string): Promise<Made> => {
    const note = await followBase(context, repository, base, await github.fetchBase(base.name));
    return made({ ...at, before, outcome: "merged", commit, url }, `Merged ${url} as ${commit}.`, ...note);
  };
  if (known?.merged != null) return done(known.merged, known.url, base.head);
  const request =
    known ??
    (await github.create({ branch: settings.branch, base: base.name, title: settings.title, id: settings.id }));
  const remote = { name: base.name, head: await github.fetchBase(base.name) };
  const judged = await judgeMerge(context, repository, change, remote);
  if ("outcome" in judged) return made({ ...at, ...judged, before: remote.head, url: request.url });
  const merged = await github.merge(request, change.head);
  if (merged === null) return made({ ...at, outcome: "conflict", before: remote.head, url: request.url, files: [] });
  return done(merged, request.url, remote.head);
}

type Hindrance = Pick<MergeReport, "outcome" | "files"> & { tests?: unknown };

/** The tree that the base branch would get; or why it may not. */
async function judgeMerge(
  context: MakerContext,
  repository: Repository,
  change: AcceptedChange,
  base: BaseBranch,
): Promise<{ tree: string } | Hindrance> {
  const merged = (await isAncestor(repository.git, base.head, change.head))
    ? { kind: "clean" as const, tree: change.tree }
    : await mergeTrees(repository, base.head, change.head);
  if (merged.kind === "conflict") return { outcome: "conflict", files: merged.files };
  const marked = await filesWithMarks(repository, base.head, merged.tree);
  if (marked.length > 0) return { outcome: "conflict", files: marked };
  const tests = context.artifacts["tests"];
  const tested = tests?.condition === "ok" ? objectOf(tests.data) : {};
  if (tested["overall_pass"] === true && tested["tree"] === merged.tree) return { tree: merged.tree };
  const report = await testMerged(context, repository, merged.tree);
  if (objectOf(report)["overall_pass"] === true) return { tree: merged.tree };
  return { outcome: "tests_failed", files: [], tests: report };
}

/** In a place of its own: the task's worktree is what was reviewed, and stays so. */
async function testMerged(context: MakerContext, repository: Repository, tree: string): Promise<unknown> {
  const { settings } = context;
  const directory = join(settings.workspace, ".pawl", "merging", settings.id);
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  try {
    await exportTree(repository, tree, directory);
    const ready = await setUpIn(context, directory);
    if (!ready.ok) return { overall_pass: false, set_up: ready };
    return (await testIn(context, directory, tree)).data;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** What was left of a conflict: nobody means lines of both forms in one file, unless they were there before. */
async function filesWithMarks({ git }: Repository, base: string, tree: string): Promise<string[]> {
  const marked = async (where: string): Promise<string[]> => {
    const all = ["--all-match", "-e", "^<<<<<<< ", "-e", "^>>>>>>> "];
    const found = await git(["grep", "-l", "-z", "-I", ...all, where, "--"], { allow: [1] });
    // Each begins with the name of what was searched.
    return found.stdout.split("\0").flatMap((name) => (name === "" ? [] : [name.slice(where.length + 1)]));
  };
  const before = await marked(base);
  return (await marked(tree)).filter((path) => !before.includes(path));
}

function squash(
  { settings }: MakerContext,
  repository: Repository,
  { head }: AcceptedChange,
  { base, tree }: { base: BaseBranch; tree: string },
): Promise<string> {
  const message = taskMessage(settings.title || settings.id, settings, { [HEAD_TRAILER]: head });
  return commitTree(repository.git, { tree, parents: [base.head], message }, repository.env);
}

/** A merge of this very change, before the crash of whoever made it. */
async function findMerged(
  { git }: Repository,
  { base, head }: AcceptedChange,
  tip: string,
): Promise<{ commit: string; before: string } | null> {
  const args = ["log", "--format=%H %P", "--fixed-strings", `--grep=${HEAD_TRAILER}: ${head}`, `${base}..${tip}`];
  const [first = ""] = line(await git(args)).split("\n");
  const [commit = "", before = ""] = first.split(" ");
  return commit === "" ? null : { commit, before };
}

/** The local branch follows the remote one where it only lags behind. */
async function followBase(
  { settings }: MakerContext,
  repository: Repository,
  base: BaseBranch,
  remote: string,
): Promise<string[]> {
  if (base.head === remote) return [];
  if (!(await isAncestor(repository.git, base.head, remote)))
    return [`The local branch ${base.name} has commits of its own, and was left where it is.`];
  const move = {
    base: base.name,
    before: base.head,
    commit: remote,
    what: "update",
    again: `pawl next ${settings.id}`,
  };
  try {
    await inTurn(repository, () => moveBaseBranch(repository, move));
    return [];
  } catch (error) {
    return [`The local branch ${base.name} was left where it is: ${(error as Error).message}`];
  }
}

function made(data: MergeReport, ...notes: string[]): Made {
  return { data, notes };
}
