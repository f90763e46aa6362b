/** One artifact as it stands on the disk: read, parsed and held against its schema. Whether it is fresh is decided elsewhere. */
import { codeOf, type Finding } from "../errors.js";
import { sha256 } from "../workflow/hash.js";
import type { Artifact } from "../workflow/types.js";
import { resolveInside } from "./paths.js";
import { foundInstead, isUnfit, NO_LINK, readPlainFile } from "./plain-file.js";
import { MAX_BYTES, parseStrictJson } from "./strict-json.js";

/** Holds a value against a schema; may fill in defaults. No finding means valid. */
export type Validate = (schema: string, value: unknown, file: string) => Promise<Finding[]>;

/** `sections` are the hashes of all sections of the artifact's name, where it is a section: the last one is the artifact. */
export type ReadArtifact =
  | { condition: "missing"; findings: Finding[]; sections?: string[] }
  | { condition: "invalid"; findings: Finding[]; hash?: string; sections?: string[] }
  | { condition: "ok"; data: unknown; hash: string; sections?: string[] };

type MissingArtifact = Extract<ReadArtifact, { condition: "missing" }>;

export async function readArtifact(directory: string, artifact: Artifact, validate: Validate): Promise<ReadArtifact> {
  const { file } = artifact;
  const place = resolveInside(directory, file);
  if ("error" in place) return { condition: "invalid", findings: [place.error] };
  let bytes: Buffer;
  try {
    bytes = readPlainFile(place.path, MAX_BYTES, NO_LINK);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return missingArtifact(artifact);
    return { condition: "invalid", findings: [unreadable(file, error)] };
  }
  if (artifact.section !== undefined)
    return readSectionArtifact(bytes.toString("utf8"), artifact, artifact.section, validate);
  const hash = sha256(bytes);
  if (!file.endsWith(".json")) return { condition: "ok", data: { text: bytes.toString("utf8") }, hash };
  const parsed = parseStrictJson(bytes, file);
  if ("error" in parsed) return { condition: "invalid", findings: [parsed.error], hash };
  const findings = artifact.schema === undefined ? [] : await validate(artifact.schema, parsed.value, file);
  return findings.length > 0 ? { condition: "invalid", findings, hash } : { condition: "ok", data: parsed.value, hash };
}

async function readSectionArtifact(
  text: string,
  artifact: Artifact,
  heading: string,
  validate: Validate,
): Promise<ReadArtifact> {
  const [{ hasContent, readSections, unreadable: unreadableText }, { readVerdict }] = await Promise.all([
    import("./sections.js"),
    import("./verdict.js"),
  ]);
  const problem = unreadableText(text);
  if (problem !== null) return { condition: "invalid", findings: [undivided(artifact.file, heading, problem)] };
  const texts = readSections(text, heading);
  const sections = texts.map(sha256);
  const section = texts.at(-1);
  if (section === undefined || !hasContent(section))
    return { ...missingArtifact(artifact, section !== undefined), sections };
  const data = { text: section, verdict: readVerdict(section) };
  const hash = sha256(section);
  const findings = artifact.schema === undefined ? [] : await validate(artifact.schema, data, artifact.file);
  if (findings.length > 0)
    return { condition: "invalid", findings: findings.map((each) => ofSection(each, heading)), hash, sections };
  return { condition: "ok", data, hash, sections };
}

function undivided(file: string, heading: string, problem: string): Finding {
  return {
    message: `\`## ${heading}\` in ${file} cannot be told from the rest: ${problem}`,
    file,
    expected: "Markdown in which every block has its end",
    found: problem,
    hint: `mend ${file}`,
  };
}

function ofSection(finding: Finding, heading: string): Finding {
  return { ...finding, message: `\`## ${heading}\` in ${finding.message}` };
}

export function missingArtifact(artifact: Artifact, empty = false): MissingArtifact {
  const { file, section, schema, madeBy } = artifact;
  const what = section === undefined ? file : `\`## ${section}\` in ${file}`;
  const expected =
    madeBy.kind === "orchestrator"
      ? `what pawl makes by \`${madeBy.action}\`; nobody else's file counts`
      : section !== undefined
        ? "a section with content"
        : schema === undefined
          ? "a file"
          : `a file that fits ${schema}`;
  return {
    condition: "missing",
    findings: [
      { message: `${what} is ${empty ? "empty" : "missing"}`, file, expected, found: empty ? "no content" : "nothing" },
    ],
  };
}

function unreadable(file: string, error: unknown): Finding {
  const found = foundInstead(error);
  return isUnfit(error)
    ? { message: `${file} is not a plain file`, file, expected: "a file", found }
    : { message: `${file} cannot be read: ${found}`, file, expected: "a readable file", found };
}
