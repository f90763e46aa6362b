/** Where the artifacts of a document are: inside the task directory, beside pawl's own records, each in a place of its own. */
import type { Finding } from "../errors.js";
import type { Artifact, Workflow } from "./types.js";

type Document = Pick<Workflow, "file" | "state" | "phases" | "artifacts" | "lines">;

/** What pawl writes into every task directory. The state file is named by the document. */
const JOURNALS = ["history.jsonl", "transcript.jsonl"];
const RECORDS = ["state.json", "task.md", ...JOURNALS];
const REHEARSAL = "rehearsal";
const EXAMPLE = "such as review/report.json";

export function* artifactFileFindings(document: Document): Generator<Finding> {
  yield* stateFileFindings(document);
  for (const artifact of document.artifacts) {
    const finding = unusable(artifact) ?? ownRecord(document, artifact);
    if (finding !== undefined) yield { file: document.file, line: artifact.line, ...finding };
  }
  yield* samePlaces(document);
}

type Problem = Pick<Finding, "message" | "expected" | "found" | "hint">;

function unusable({ name, file }: Artifact): Problem | undefined {
  const problem = pathProblem(file);
  if (problem === undefined) return undefined;
  return {
    message: `artifact \`${name}\` has no usable file: ${problem}`,
    expected: "a path relative to the task directory, without ..",
    found: file === "" ? "nothing" : file,
    hint: `name a file inside the task directory, ${EXAMPLE}`,
  };
}

function pathProblem(file: string): string | undefined {
  if (file === "") return "it is empty";
  if (/^([/\\]|[a-z]:)/i.test(file)) return "it is an absolute path";
  if (segments(file).length === 0 || /[/\\]$/.test(file)) return "it is a directory";
  return segments(file).includes("..") ? "`..` leads out of the task directory" : undefined;
}

/** Whole files are replaced and put away, which would be the end of a record. */
function ownRecord(document: Document, artifact: Artifact): Problem | undefined {
  const { name, file, section, madeBy } = artifact;
  const [first = "", second] = segments(file);
  const place = placeOf(file);
  const isRecord = [...RECORDS, placeOf(document.state.file)].includes(place);
  // Of a Markdown file pawl writes the front matter; a section of it is as good a place for an agent's words as any.
  if (isRecord && section !== undefined && madeBy.kind === "agent" && place.endsWith(".md")) return undefined;
  const what = isRecord ? `${place}, which pawl writes itself` : reservedFolder(document, file, first, second);
  if (what === undefined) return undefined;
  return {
    message: `artifact \`${name}\` would overwrite ${what}`,
    expected: "a file that is none of pawl's own records",
    found: file,
    hint: `give it a file of its own, ${EXAMPLE}`,
  };
}

function reservedFolder(document: Document, file: string, first: string, second?: string): string | undefined {
  if (segments(file).some((part) => part.startsWith("."))) return "a hidden file, which pawl keeps for itself";
  if (first === REHEARSAL) return `${REHEARSAL}/, the script of the rehearsal agent`;
  if (!document.phases.some(({ name }) => name.toLowerCase() === first)) return undefined;
  if (second === undefined) return `${first}/, the directory of the phase`;
  return second === "runs" ? `${first}/runs/, the records of the phase's runs` : undefined;
}

function* stateFileFindings(document: Document): Generator<Finding> {
  const { file: path } = document.state;
  const [first = "", second] = segments(path);
  const isTaken = JOURNALS.includes(placeOf(path));
  const problem =
    pathProblem(path) ??
    (isTaken ? "pawl keeps another record there" : undefined) ??
    (reservedFolder(document, path, first, second) === undefined ? undefined : "pawl keeps that place for itself");
  if (problem === undefined) return;
  yield {
    message: `front matter \`state\`: the state cannot live in ${path === "" ? "no file" : path}: ${problem}`,
    file: document.file,
    line: document.lines["state"] ?? 1,
    expected: "a file of the task directory that nothing else is in",
    found: path,
    hint: "write `state: { file: state.json, field: phase }`, or leave `state` out",
  };
}

/** Two artifacts in one place would each be the other's forgery; a whole file takes its sections with it. */
function* samePlaces({ file: document, artifacts }: Document): Generator<Finding> {
  for (const [index, artifact] of artifacts.entries()) {
    if (artifact.file === "") continue;
    const first = artifacts.slice(0, index).find((other) => overlap(other, artifact));
    if (first === undefined) continue;
    const { file, section } = artifact;
    const where = section === undefined ? file : `${file}, section ${section}`;
    yield {
      message: `\`${artifact.name}\` and \`${first.name}\` are in the same place: ${where}`,
      file: document,
      line: artifact.line,
      expected: "a file or a section of its own for every artifact",
      found: where,
      hint: `\`${first.name}\` has it in line ${first.line}; give one of them another file`,
    };
  }
}

function overlap(one: Artifact, other: Artifact): boolean {
  if (placeOf(one.file) !== placeOf(other.file)) return false;
  if (one.section === undefined || other.section === undefined) return true;
  return one.section.toLowerCase() === other.section.toLowerCase();
}

/** One spelling for one place: some file systems tell neither case nor ways of writing an accent apart. */
function placeOf(file: string): string {
  return segments(file).join("/");
}

function segments(file: string): string[] {
  return file
    .normalize("NFC")
    .toLowerCase()
    .split(/[/\\]/)
    .filter((part) => part !== "" && part !== ".");
}
