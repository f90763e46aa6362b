/** The difference between two commits or trees, as data and as a patch. */
import { readFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { isUtf8 } from "node:buffer";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { records, type Git } from "./git.js";

export interface ChangedFile {
  path: string;
  /** Earlier path of a renamed file. */
  from?: string;
  status: "added" | "modified" | "deleted" | "renamed" | "copied" | "type-changed";
  additions: number;
  deletions: number;
  binary?: boolean;
}

export async function diffFiles(git: Git, from: string, to: string): Promise<ChangedFile[]> {
  const statuses = records(await git([...DIFF, "-M", "-z", "--name-status", from, to]));
  const counts = countsByPath(records(await git([...DIFF, "-M", "-z", "--numstat", from, to])));
  const files: ChangedFile[] = [];
  for (let i = 0; i < statuses.length;) {
    const letter = statuses[i++]?.[0] ?? "M";
    const moved = letter === "R" || letter === "C";
    const first = statuses[i++] ?? "";
    const path = moved ? (statuses[i++] ?? "") : first;
    const count = counts.get(path) ?? { additions: 0, deletions: 0 };
    files.push({ path, ...(moved ? { from: first } : {}), status: STATUS[letter] ?? "modified", ...count });
  }
  return files;
}

/** Every path that differs, without rename detection: a renamed file counts with both its paths. */
export async function diffPaths(git: Git, from: string, to: string): Promise<{ status: string; path: string }[]> {
  const found = records(await git([...DIFF, "--no-renames", "-z", "--name-status", from, to]));
  const pairs: { status: string; path: string }[] = [];
  for (let i = 0; i + 1 < found.length; i += 2) pairs.push({ status: found[i] ?? "", path: found[i + 1] ?? "" });
  return pairs;
}

/** A patch that `git apply` takes back byte for byte, as text. */
export async function diffPatch(
  git: Git,
  from: string,
  to: string,
  options: readonly string[] = ["-M"],
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "pawl-diff-"));
  try {
    const args = [...options, "--binary", "--full-index", "--no-textconv", from, to];
    const whole = await patchBytes(git, directory, args);
    if (isUtf8(whole)) return whole.toString("utf8");
    // Where a file's lines are in another encoding than UTF-8, its difference is written as a binary one.
    const attributes = join(directory, "attributes");
    await writeFile(attributes, "* -diff\n");
    const binary = filesOf(await patchBytes(git, directory, args, attributes));
    const texts = filesOf(whole).map((file, index) => (isUtf8(file) ? file : (binary[index] ?? file)));
    return Buffer.concat(texts).toString("utf8");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function patchBytes(git: Git, directory: string, args: string[], attributes?: string): Promise<Buffer> {
  const output = join(directory, "patch");
  const config = attributes === undefined ? [] : ["-c", `core.attributesFile=${attributes}`];
  await git([...config, ...DIFF, `--output=${output}`, ...args]);
  return readFile(output);
}

/** The parts of a patch, one for each file. No line of a file's content begins like the first of a part. */
function filesOf(patch: Buffer): Buffer[] {
  const parts = patch.toString("latin1").split(/^(?=diff --git )/m);
  return parts.map((part) => Buffer.from(part, "latin1"));
}

interface Count {
  additions: number;
  deletions: number;
  binary?: boolean;
}

function countsByPath(found: string[]): Map<string, Count> {
  const counts = new Map<string, Count>();
  for (let i = 0; i < found.length;) {
    const [additions = "", deletions = "", ...rest] = (found[i++] ?? "").split("\t");
    let path = rest.join("\t");
    if (path === "") {
      // A rename: the old and the new path follow as records of their own.
      path = found[i + 1] ?? "";
      i += 2;
    }
    const binary = additions === "-";
    counts.set(path, {
      additions: binary ? 0 : Number(additions),
      deletions: binary ? 0 : Number(deletions),
      ...(binary ? { binary } : {}),
    });
  }
  return counts;
}

/** Plumbing, because `git diff` follows what users configured for their own eyes. */
const DIFF = ["diff-tree", "-r", "--no-ext-diff"];

const STATUS: Record<string, ChangedFile["status"]> = {
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "type-changed",
};
