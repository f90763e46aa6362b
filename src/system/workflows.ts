/** Finding and loading workflow documents. A built-in one is parsed when pawl is built; any other, each time it is used. */
import { existsSync, readFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { invalid, nearest, type Finding, type PawlError } from "../errors.js";
import { sha256 } from "../workflow/hash.js";
import type { Workflow } from "../workflow/types.js";
import { findSystemFile, listSystemFiles, packageRoot, type SystemFile } from "./locate.js";

export const DEFAULT_WORKFLOW = "global-state-machine";
/** The workflow of an agent that pulls its work in a directory, for no task of a workspace. */
export const PULL_WORKFLOW = "tool-gated-tdd";

export function listWorkflows(workspace: string): SystemFile[] {
  return listSystemFiles("workflows", ".md", workspace);
}

/** For a task, which remembers a name: it has to lead to the same document again. */
export async function loadWorkflow(name: string, workspace: string): Promise<Workflow> {
  const file = findSystemFile("workflows", `${name}.md`, workspace);
  if (file === undefined) throw noWorkflow(name, workspace);
  return loadDocument(file, workspace);
}

/** For looking at a document: `name` is a workflow's name, or the path of a file. */
export function findDocument(name: string, workspace: string): SystemFile {
  const file = findSystemFile("workflows", `${name}.md`, workspace);
  if (file !== undefined) return file;
  if (name.endsWith(".md") && existsSync(resolve(name)))
    return { name: basename(name), path: resolve(name), builtIn: false };
  throw noWorkflow(name, workspace);
}

export async function loadDocument({ path }: SystemFile, workspace: string): Promise<Workflow> {
  const text = readFileSync(path, "utf8");
  const file = displayPath(path, workspace);
  const compiled = readCompiled()[sha256(text)];
  const workflow = compiled === undefined ? await parse(text, file) : { ...compiled, file };
  const misnamed = nameFinding(workflow);
  if (misnamed === undefined) return workflow;
  throw invalid(`${file}:${misnamed.line}: ${misnamed.message}`, { findings: [misnamed], hint: misnamed.hint });
}

/** Documents are found by file name, tasks remember the name inside: where the two differ, a task would run another document. */
export function nameFinding({ name, file, lines }: Workflow): (Finding & { line: number; hint: string }) | undefined {
  const expected = basename(file, ".md");
  // That there is none at all is said by the parser.
  if (name === expected || name === "") return undefined;
  return {
    message: `front matter \`workflow\`: expected \`${expected}\`, as its file is called, found \`${name}\``,
    file,
    line: lines["workflow"] ?? 1,
    expected,
    found: name,
    hint: `write \`workflow: ${expected}\`, or call the file ${name}.md`,
  };
}

async function parse(text: string, file: string): Promise<Workflow> {
  const { parseWorkflow } = await import("../workflow/parse-workflow.js");
  return parseWorkflow(text, file);
}

function noWorkflow(name: string, workspace: string): PawlError {
  const names = listWorkflows(workspace).map((each) => each.name.replace(/\.md$/, ""));
  const near = nearest(name, names);
  return invalid(`there is no workflow \`${name}\`; there are: ${names.join(", ")}`, {
    hint:
      near === undefined
        ? "look with `pawl spec list`, or put system/workflows/<name>.md into the workspace"
        : `did you mean ${near}?`,
  });
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
