/** Where documents, personas and schemas are: those of the workspace stand beside the built-in ones, and win by name. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export type SystemFolder = "workflows" | "schemas" | "agents" | "presets" | "briefings" | "templates";

export interface SystemFile {
  name: string;
  path: string;
  builtIn: boolean;
}

let root: string | undefined;

/** The directory of pawl's own package. */
export function packageRoot(): string {
  if (root !== undefined) return root;
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, "package.json"))) directory = dirname(directory);
  return (root = directory);
}

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as { version: string };
  return version;
}

export function findSystemFile(folder: SystemFolder, name: string, workspace: string): SystemFile | undefined {
  // Names come from documents: a file of the folder, nothing above or below it.
  if (name.includes("/") || name.includes("\\") || name.startsWith(".")) return undefined;
  for (const [base, builtIn] of [
    [workspace, false],
    [packageRoot(), true],
  ] as const) {
    const path = join(base, "system", folder, name);
    if (existsSync(path)) return { name, path, builtIn };
  }
  return undefined;
}

/** All files of a folder, one for each name. */
export function listSystemFiles(folder: SystemFolder, extension: string, workspace: string): SystemFile[] {
  const found = new Map<string, SystemFile>();
  for (const [base, builtIn] of [
    [workspace, false],
    [packageRoot(), true],
  ] as const) {
    const directory = join(base, "system", folder);
    if (!existsSync(directory)) continue;
    for (const name of readdirSync(directory).sort()) {
      if (name.endsWith(extension) && !found.has(name)) found.set(name, { name, path: join(directory, name), builtIn });
    }
  }
  return [...found.values()];
}
