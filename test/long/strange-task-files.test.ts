/** Where a file is expected, anything may lie. Each case runs in a process of its own: one that waits for ever can be ended. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FIX_A_BUG } from "../support/workflow-text.js";
import { makeDirectory, makeTask, PACKAGE } from "../support/workspace.js";

const LONGEST_MS = 30_000;
const MOST_MEMORY = 400 * 1024 * 1024;

interface Outcome {
  /** Of the error; or the condition of an artifact; or "done". */
  kind: string;
  message: string;
}

/** Every use of the files of a task directory, by the file that it needs. */
const USES: Record<string, string[]> = {
  "state.json": ["load", "open", "adopt"],
  "history.jsonl": ["load", "open", "adopt", "readHistory"],
  "task.md": ["readTaskFile"],
  "transcript.jsonl": ["open", "adopt", "readTranscript", "appendTranscript"],
  "report.json": ["readArtifact"],
};

/** What comes of each use in `dir`, and how much memory that took. */
function tryUses(dir: string, uses: string[]): { outcomes: Outcome[]; memory: number } {
  const source = (path: string): string => JSON.stringify(join(PACKAGE, "src", path));
  const script = join(makeDirectory(), "script.mts");
  writeFileSync(
    script,
    `import { adoptTask, loadTask, openTask } from ${source("task/store.ts")};
     import { readHistory } from ${source("task/history.ts")};
     import { readTaskFile } from ${source("task/task-file.ts")};
     import { appendTranscript, readTranscript } from ${source("task/transcript.ts")};
     import { readArtifact } from ${source("task/artifact.ts")};
     import { parseWorkflow } from ${source("workflow/parse-workflow.ts")};
     const dir = ${JSON.stringify(dir)};
     const workflow = parseWorkflow(${JSON.stringify(FIX_A_BUG)}, "bug.md");
     const now = () => new Date(0);
     const uses = {
       load: () => loadTask(dir, workflow),
       open: async () => (await openTask(dir, workflow, now)).close(),
       adopt: () => adoptTask(dir, workflow, { by: "Ada", reason: "why", now }),
       readHistory: () => readHistory(dir + "/history.jsonl"),
       readTaskFile: () => readTaskFile(dir),
       readTranscript: () => readTranscript(dir),
       appendTranscript: () => appendTranscript(dir, { at: "", kind: "note", by: "Ada", text: "x" }, {}),
       readArtifact: () => readArtifact(dir, workflow.artifacts[0], async () => []),
     };
     const outcomes = [];
     for (const use of ${JSON.stringify(uses)}) {
       try {
         const given = await uses[use]();
         outcomes.push({ kind: given?.condition ?? "done", message: given?.findings?.[0]?.message ?? "" });
       } catch (error) {
         outcomes.push({ kind: error.kind ?? "no PawlError", message: error.message });
       }
     }
     console.log(JSON.stringify({ outcomes, memory: process.resourceUsage().maxRSS * 1024 }));`,
  );
  const options = { cwd: PACKAGE, encoding: "utf8", timeout: LONGEST_MS, killSignal: "SIGKILL" } as const;
  const { stdout, stderr, signal } = spawnSync(process.execPath, ["--import", "tsx", script], options);
  expect(signal, `it waited for ever: ${stderr}`).toBeNull();
  return JSON.parse(stdout) as { outcomes: Outcome[]; memory: number };
}

/** The uses of every file, each in a task directory in which only that one is strange. */
function tryAll(files: string[], put: (path: string) => void): void {
  for (const file of files) {
    const task = makeTask();
    put(join(task.dir, file));
    const { outcomes, memory } = tryUses(task.dir, USES[file] ?? []);
    outcomes.forEach(({ kind, message }, index) => {
      const use = `${USES[file]?.[index] ?? ""} with ${file}`;
      expect(kind, `${use}: ${message}`).toBe("invalid");
      expect(message, use).toContain(file);
    });
    expect(memory, file).toBeLessThan(MOST_MEMORY);
  }
}

const ALL = Object.keys(USES);

describe("in the place of a file", { timeout: 60_000 }, () => {
  it("a pipe keeps nobody waiting", () => {
    tryAll(ALL, (path) => expect(spawnSync("mkfifo", [path]).status).toBe(0));
  });

  it("a directory is named", () => tryAll(ALL, (path) => mkdirSync(path)));

  it("a link to a device that never ends is not read", () => tryAll(ALL, (path) => symlinkSync("/dev/zero", path)));

  it("something huge is refused before it is read", () => {
    tryAll(
      ALL.filter((file) => file !== "transcript.jsonl"),
      (path) => {
        writeFileSync(path, "");
        truncateSync(path, 1.5 * 1024 ** 3);
      },
    );
  });

  it("a link to a file elsewhere is not followed, and that file stays as it is", () => {
    const elsewhere = join(makeDirectory(), "theirs");
    writeFileSync(elsewhere, '{"phase":"fix"}\n');
    tryAll(
      ALL.filter((file) => file !== "task.md"),
      (path) => symlinkSync(elsewhere, path),
    );
    expect(readFileSync(elsewhere, "utf8")).toBe('{"phase":"fix"}\n');
  });

  it("a link to nothing is not filled", () => {
    const nowhere = join(makeDirectory(), "nowhere");
    tryAll(["state.json", "history.jsonl", "transcript.jsonl"], (path) => symlinkSync(nowhere, path));
    expect(() => readFileSync(nowhere)).toThrow("ENOENT");
  });
});
