/** Which branch the task starts from and is merged into. */
import { refused } from "../errors.js";
import { gitRecord } from "./git-record.js";
import { line } from "./git.js";
import { branchHead, type Repository } from "./repository.js";
import type { TaskSettings } from "./types.js";

export interface BaseBranch {
  name: string;
  head: string;
}

interface Question {
  settings: Pick<TaskSettings, "baseBranch" | "branch">;
  fields?: Readonly<Record<string, unknown>>;
}

/**
 * The branch that the task began with wins over anything found later: a user who switches branches meanwhile must not
 * redirect the merge.
 */
export async function findBaseBranch(repository: Repository, { settings, fields = {} }: Question): Promise<BaseBranch> {
  const { base: remembered, start = "<commit>" } = gitRecord(fields);
  if (remembered !== undefined) {
    // No other branch takes its place: whoever could delete it could then have the change merged elsewhere.
    const again = `make it again, for instance where this task started: \`git branch ${remembered} ${start}\``;
    return named(repository, remembered, "which this task started from", again);
  }
  if (settings.baseBranch !== null) {
    const hint = `make it (\`git branch ${settings.baseBranch} <commit>\`), or set another "baseBranch" in pawl.json`;
    return named(repository, settings.baseBranch, "which is configured as base branch", hint);
  }

  const looked: string[] = [];
  for (const [where, name] of await candidates(repository)) {
    if (name === null) looked.push(`${where}: not set`);
    else if (name === settings.branch) looked.push(`${where}: ${name}, the task's own branch`);
    else {
      const head = await branchHead(repository, name);
      if (head !== null) return { name, head };
      looked.push(`${where}: no local branch ${name}`);
    }
  }
  await refuseWithoutCommit(repository);
  throw refused(`no base branch found in ${repository.path} (${looked.join("; ")})`, {
    hint: 'set "baseBranch" in pawl.json',
  });
}

async function named(repository: Repository, name: string, role: string, hint: string): Promise<BaseBranch> {
  const head = await branchHead(repository, name);
  if (head !== null) return { name, head };
  await refuseWithoutCommit(repository);
  throw refused(`there is no local branch ${name} in ${repository.path}, ${role}`, { hint });
}

async function candidates({ git }: Repository): Promise<[string, string | null][]> {
  const remote = line(await git(["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"], { allow: [1] }));
  const checkedOut = line(await git(["symbolic-ref", "--quiet", "HEAD"], { allow: [1] }));
  return [
    ["origin/HEAD", withoutPrefix(remote, "refs/remotes/origin/")],
    ["checked out", withoutPrefix(checkedOut, "refs/heads/")],
    ["main", "main"],
    ["master", "master"],
  ];
}

function withoutPrefix(ref: string, prefix: string): string | null {
  return ref.startsWith(prefix) ? ref.slice(prefix.length) : null;
}

async function refuseWithoutCommit({ git, path }: Repository): Promise<void> {
  if ((await git(["rev-list", "--max-count=1", "--all"])).stdout !== "") return;
  throw refused(`the repository ${path} has no commit yet, so there is nothing to branch from`, {
    hint: 'commit something first: `git add -A && git commit -m "Start"`',
  });
}
