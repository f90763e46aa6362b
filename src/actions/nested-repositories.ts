/** Repositories inside a worktree. Of one, a tree holds no more than the name of a commit: nobody reviews what is in it. */
import { join } from "node:path";
import { refused, type Finding } from "../errors.js";
import { diffPaths } from "./diff.js";
import { line, records, resolveCommit, treeOf } from "./git.js";
import { list } from "./messages.js";
import { others, submodules, withOwnIndex } from "./own-index.js";
import { isEmptyDirectory } from "./paths.js";
import { filesAt, type Files } from "./worktrees.js";

/** Paths of those that are checked out, submodules among them. */
export function nestedRepositories(files: Files): Promise<string[]> {
  return withOwnIndex(files, async (git, excluded) => {
    const withCommit: string[] = [];
    for (const path of await submodules(git)) {
      if (!(await isEmptyDirectory(join(files.path, path)))) withCommit.push(path);
    }
    const without = (await others(git, excluded)).filter((path) => path.endsWith("/"));
    return [...withCommit, ...without.map((path) => path.slice(0, -1))].sort();
  });
}

/** The tests would see files that are not part of the change. */
export async function refuseHiddenFiles(files: Files): Promise<void> {
  const findings = await hiddenFiles(files, "");
  if (findings.length === 0) return;
  const [first] = findings;
  throw refused(
    `the worktree ${files.path} holds files that cannot be part of the change: ` +
      findings.map(({ file, found }) => `${file} (${found})`).join(", "),
    { findings, ...(first?.hint === undefined ? {} : { hint: first.hint }) },
  );
}

async function hiddenFiles(files: Files, prefix: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  const declared = await declaredSubmodules(files);
  for (const path of await nestedRepositories(files)) {
    const file = `${prefix}${path}/`;
    const nested = declared.has(path) ? await filesAt(files, join(files.path, path)) : null;
    const commit = nested === null ? null : await resolveCommit(nested.git, "HEAD");
    if (nested === null || commit === null) {
      findings.push({
        message: "a repository inside the worktree, whose files nobody would review",
        file,
        expected: "files of the project, or a submodule with a commit",
        found: "a repository of its own",
        hint: `remove \`.git\` in ${join(files.path, path)}, or the folder`,
      });
      continue;
    }
    const different = await changedFiles(nested, commit);
    if (different.length > 0) {
      findings.push({
        message: `a submodule with changes that no commit of it holds: ${list(different)}`,
        file,
        expected: `the files of its commit ${commit}`,
        found: `a submodule with ${different.length} uncommitted files`,
        hint: `commit or undo them in ${nested.path}`,
      });
    }
    findings.push(...(await hiddenFiles(nested, file)));
  }
  return findings;
}

async function changedFiles(nested: Files, commit: string): Promise<string[]> {
  const tree = await withOwnIndex(nested, async (git) => line(await git(["write-tree"])));
  const committed = await treeOf(nested.git, commit);
  return tree === committed ? [] : (await diffPaths(nested.git, committed, tree)).map(({ path }) => path);
}

async function declaredSubmodules({ git, path }: Files): Promise<Set<string>> {
  const args = ["config", "--file", join(path, ".gitmodules"), "-z", "--get-regexp", "^submodule\\..*\\.path$"];
  const entries = records(await git(args, { allow: [1] }));
  return new Set(entries.map((entry) => entry.slice(entry.indexOf("\n") + 1)));
}
