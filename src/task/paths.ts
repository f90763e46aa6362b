/** Paths inside a task directory. Nothing that a document, an agent or a user names may lead out of it. */
import { lstatSync } from "node:fs";
import { dirname, isAbsolute, join, sep } from "node:path";
import { codeOf, usage, type Finding } from "../errors.js";
import type { Workflow } from "../workflow/types.js";

/** Where the records of work in a directory are; that directory is found from there again. */
export function recordsDirectory(work: string, workflow: string): string {
  return join(work, ".pawl", workflow);
}

/** Where the state file of a task lies: in its directory, or in the directory that it works in. */
export function stateDirectory(directory: string, { state }: Pick<Workflow, "state">): string {
  return state.at === "work" ? dirname(dirname(directory)) : directory;
}

export function stateFile(directory: string, workflow: Pick<Workflow, "state">): string {
  return join(stateDirectory(directory, workflow), stateName(workflow));
}

/**
 * The file that pawl writes its state to. A Markdown file only shows the state, in its front matter: agents and people edit it
 * all the time, and an editor that saves an old copy would take the task back to where it was.
 */
export function stateName({ state }: Pick<Workflow, "state">): string {
  return hasFace({ state }) ? "state.json" : state.file;
}

/** Is the state shown in a Markdown file? */
export function hasFace({ state }: Pick<Workflow, "state">): boolean {
  return state.file.endsWith(".md");
}

/**
 * What an id may not be, and why. It names a directory and, behind `pawl/`, a branch: the last rules are those of
 * `git check-ref-format`.
 */
const RULES: [wrong: RegExp, why: string][] = [
  [/^$/, "it is empty"],
  [/^.{101,}$/s, "it has more than 100 characters"],
  [/[^A-Za-z0-9._-]/, "it has other characters than letters, digits, `.`, `_` and `-`"],
  [/^[^A-Za-z0-9]/, "it does not begin with a letter or a digit"],
  [/\.\./, "it has `..` in it, which git takes in no branch name"],
  [/\.$/, "it ends with `.`, which git takes in no branch name"],
  [/\.lock$/, "it ends with `.lock`, which git takes in no branch name"],
];

export function isTaskId(id: string): boolean {
  return !RULES.some(([wrong]) => wrong.test(id));
}

export function requireTaskId(id: string): string {
  const why = RULES.find(([wrong]) => wrong.test(id))?.[1];
  if (why === undefined) return id;
  throw usage(`\`${id}\` cannot be a task's id: ${why}`, {
    hint: "letters, digits, `.`, `_` and `-`, at most 100, beginning with a letter or digit, as in `fix-login`",
  });
}

/** The absolute path of `relative` below `directory`, or why it is refused: `..`, absolute, or through a symbolic link. */
export function resolveInside(directory: string, relative: string): { path: string } | { error: Finding } {
  const refuse = (found: string): { error: Finding } => ({
    error: {
      message: `${relative} would leave the task directory: ${found}`,
      file: relative,
      expected: "a plain file inside the task directory",
      found,
      hint: "put the file itself there",
    },
  });
  if (relative === "" || isAbsolute(relative)) return refuse(relative === "" ? "an empty path" : "an absolute path");
  const parts = relative.split(/[/\\]/);
  if (parts.includes("..")) return refuse("`..`");
  let path = directory;
  for (const part of parts) {
    path = join(path, part);
    try {
      if (lstatSync(path).isSymbolicLink())
        return refuse(`${path.slice(directory.length + sep.length)} is a symbolic link`);
    } catch (error) {
      if (codeOf(error) === "ENOENT") break;
      if (codeOf(error) === "ENOTDIR") return refuse(`${path.slice(directory.length + sep.length)} is below a file`);
      throw error;
    }
  }
  return { path: join(directory, ...parts) };
}
