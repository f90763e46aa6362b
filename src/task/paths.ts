/** Paths inside a task directory. Nothing that a document, an agent or a user names may lead out of it. */
import { lstatSync } from "node:fs";
import { isAbsolute, join, sep } from "node:path";
import { codeOf, usage, type Finding } from "../errors.js";

const TASK_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export function isTaskId(id: string): boolean {
  return TASK_ID.test(id) && !id.includes("..") && !id.endsWith(".lock");
}

export function requireTaskId(id: string): string {
  if (isTaskId(id)) return id;
  throw usage(`\`${id}\` cannot be a task's id`, {
    hint: "letters, digits, `.`, `_` and `-`, at most 100, beginning with a letter or digit, no `..` and no `/`",
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
