/** Moves files out of a work tree, whatever bytes their names are made of: git and the file system know no encoding. */
import { copyFile, lstat, mkdir, readdir, readlink, rename, rm, rmdir, symlink } from "node:fs/promises";
import { codeOf } from "../errors.js";

/** A path as git gave it, relative to `root`, to the same place below `to`. */
export async function moveOut(root: string, path: string, to: string): Promise<void> {
  const parts = await partsOf(root, path);
  const folders = parts.slice(0, -1);
  await mkdir(pathOf(to, folders), { recursive: true });
  await moveAcross(pathOf(root, parts), pathOf(to, parts));
  // Git knows no directories; one that is empty now was made for what is gone from it.
  for (; folders.length > 0; folders.pop()) {
    const removed = await rmdir(pathOf(root, folders)).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}

/** Bytes that are no UTF-8 came as U+FFFD; the file system still knows them. */
async function partsOf(root: string, path: string): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  for (const name of path.split("/").filter((part) => part !== "")) {
    const entries = name.includes("\ufffd") ? await readdir(pathOf(root, parts), { encoding: "buffer" }) : [];
    parts.push(entries.find((entry) => entry.toString("utf8") === name) ?? Buffer.from(name));
  }
  return parts;
}

function pathOf(root: string, parts: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from(root), ...parts.flatMap((part) => [SLASH, part])]);
}

async function moveAcross(from: Buffer, to: Buffer): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (codeOf(error) !== "EXDEV") throw error;
    await copy(from, to);
    await rm(from, { recursive: true, force: true });
  }
}

async function copy(from: Buffer, to: Buffer): Promise<void> {
  const found = await lstat(from);
  if (found.isSymbolicLink()) await symlink(await readlink(from, { encoding: "buffer" }), to);
  else if (found.isFile()) await copyFile(from, to);
  else if (found.isDirectory()) {
    await mkdir(to);
    for (const name of await readdir(from, { encoding: "buffer" })) {
      await copy(Buffer.concat([from, SLASH, name]), Buffer.concat([to, SLASH, name]));
    }
  }
}

const SLASH = Buffer.from("/");
