/** Finding and loading workflow documents. A built-in one is parsed when pawl is built; any other, each time it is used. */
import { existsSync, readFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { invalid, nearest } from "../errors.js";
import { sha256 } from "../workflow/hash.js";
import type { Workflow } from "../workflow/types.js";
import { findSystemFile, listSystemFiles, packageRoot, type SystemFile } from "./locate.js";

export const DEFAULT_WORKFLOW = "global-state-machine";

export function listWorkflows(workspace: string): SystemFile[] {
  return listSystemFiles("workflows", ".md", workspace);
}

/** `name` is a workflow's name, or the path of a document. */
export function findWorkflow(name: string, workspace: string): SystemFile {
  const file = findSystemFile("workflows", `${name}.md`, workspace);
  if (file !== undefined) return file;
  if (name.endsWith(".md") && existsSync(resolve(name)))
    return { name: basename(name), path: resolve(name), builtIn: false };
  const names = listWorkflows(workspace).map((each) => each.name.replace(/\.md$/, ""));
  const near = nearest(name, names);
  throw invalid(`there is no workflow \`${name}\`; there are: ${names.join(", ")}`, {
    hint:
      near === undefined
        ? "look with `pawl spec list`, or put system/workflows/<name>.md into the workspace"
        : `did you mean ${near}?`,
  });
}

export async function loadWorkflow(name: string, workspace: string): Promise<Workflow> {
  const { path } = findWorkflow(name, workspace);
  const text = readFileSync(path, "utf8");
  const file = displayPath(path, workspace);
  const compiled = readCompiled()[sha256(text)];
  if (compiled !== undefined) return { ...compiled, file };
  const { parseWorkflow } = await import("../workflow/parse-workflow.js");
  return parseWorkflow(text, file);
}

/** Short for files of the workspace, whole for others. */
export function displayPath(path: string, workspace: string): string {
  const inside = relative(workspace, path);
  return inside.startsWith("..") ? path : inside;
}

let compiledWorkflows: Record<string, Workflow> | undefined;

/** Keyed by the hash of the document's text: an edited document is never taken for the one that was compiled. */
function readCompiled(): Record<string, Workflow> {
  if (compiledWorkflows !== undefined) return compiledWorkflows;
  const file = join(packageRoot(), "dist", "workflows.json");
  return (compiledWorkflows = existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, Workflow>)
    : {});
}
