/** Which program a command means. */
import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";

/** A path is meant as it stands in pawl.json: from the workspace. What is not there, the worktree may hold. */
export function resolveProgram(program: string, workspace: string): string {
  if (!isRelativePath(program)) return program;
  const path = resolve(workspace, program);
  return existsSync(path) ? path : program;
}

/** A bare name is looked for on PATH instead. */
export function isRelativePath(program: string): boolean {
  return program.includes("/") && !isAbsolute(program);
}
