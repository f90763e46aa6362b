/** Small questions to the file system that node has no single call for. */
import { lstat, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { codeOf } from "../errors.js";

export type PathKind = "missing" | "file" | "directory" | "other";

/** What is there, without following a symbolic link. */
export async function kindOf(path: string): Promise<PathKind> {
  try {
    const found = await lstat(path);
    return found.isDirectory() ? "directory" : found.isFile() ? "file" : "other";
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return "missing";
    throw error;
  }
}

export async function exists(path: string): Promise<boolean> {
  return (await kindOf(path)) !== "missing";
}

export async function isEmptyDirectory(path: string): Promise<boolean> {
  return (await kindOf(path)) === "directory" && (await readdir(path)).length === 0;
}

/** The path as git knows it: symbolic links resolved, also when its last parts do not exist yet. */
export async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    if (codeOf(error) !== "ENOENT" || parent === path) throw error;
    return join(await realPath(parent), basename(path));
  }
}

/** The first of `<path><infix>1`, `<path><infix>2`, … that is free. */
export async function freePath(path: string, infix: string): Promise<string> {
  for (let n = 1; ; n++) {
    const candidate = `${path}${infix}${n}`;
    if (!(await exists(candidate))) return candidate;
  }
}
