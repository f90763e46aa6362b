/** The rooms of ARCHITECTURE.md, and who may import whom, held against the imports that are really there. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const source = join(root, "src");

/** Every room and what it may import besides itself. `errors` is a leaf that all may use. */
const MAY_IMPORT: Record<string, string[]> = {
  workflow: ["errors"],
  process: ["errors"],
  system: ["workflow", "errors"],
  task: ["workflow", "process", "errors"],
  tdd: ["errors"],
  actions: ["tdd", "task", "process", "workflow", "errors"],
  agents: ["task", "system", "process", "workflow", "errors"],
  workspace: ["actions", "task", "system", "errors"],
  orchestrator: ["tdd", "workspace", "agents", "actions", "task", "system", "process", "workflow", "errors"],
  surfaces: ["orchestrator", "workspace", "task", "system", "process", "workflow", "errors"],
  errors: [],
};
/** Files at the top: the edge of the program and the package's main export. */
const TOP = ["main.ts", "index.ts", "errors.ts"];

const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
  (file) => file.endsWith(".ts") && !file.endsWith(".d.ts"),
);

describe("the rooms", () => {
  it("are those of ARCHITECTURE.md", () => {
    const rooms = [...new Set(files.map(roomOf))].filter((room) => room !== "top").sort();
    expect(rooms).toEqual(Object.keys(MAY_IMPORT).sort());
    const text = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
    for (const room of rooms.filter((name) => name !== "errors")) expect(text).toContain(`\`src/${room}/\``);
  });

  it.each(files.filter((file) => !["main.ts", "index.ts"].includes(file)))(
    "%s imports only what its room may",
    (file) => {
      const room = roomOf(file);
      const wrong = importsOf(file).filter((target) => {
        const other = roomOf(target);
        return other !== room && !(MAY_IMPORT[room] ?? []).includes(other);
      });
      expect(wrong).toEqual([]);
    },
  );

  it("the workflow room is pure: no file system, no process, no clock", () => {
    const impure = files
      .filter((file) => roomOf(file) === "workflow")
      .flatMap((file) =>
        [...read(file).matchAll(/from "(node:[^"]+)"|process\.|Date\.now|new Date\(/g)].map(
          (match) => `${file}: ${match[0]}`,
        ),
      )
      .filter((line) => !line.endsWith('from "node:crypto"'));
    expect(impure).toEqual([]);
  });

  it("three files start processes, each in its own way; only the store writes state", () => {
    const using = (pattern: RegExp): string[] => files.filter((file) => pattern.test(read(file))).sort();
    expect(using(/from "node:child_process"/)).toEqual(["process/run.ts", "process/start-detached.ts"]);
    expect(using(/(from |import\(|\)\()"node-pty"/)).toEqual(["process/terminal.ts"]);
    expect(using(/formatState\(/)).toEqual(["task/state.ts", "task/store.ts"]);
    expect(
      using(/\.commit\(/).filter((file) => !file.startsWith("orchestrator/") && !file.startsWith("task/")),
    ).toEqual([]);
    expect(using(/process\.exit\(|console\./)).toEqual(["surfaces/process-io.ts"]);
  });

  it("no import goes round in a circle", () => {
    const graph = new Map(files.map((file) => [file, importsOf(file, { types: false })]));
    const state = new Map<string, "open" | "done">();
    const circles: string[] = [];
    const visit = (file: string, path: string[]): void => {
      if (state.get(file) === "done") return;
      if (state.get(file) === "open") return void circles.push([...path.slice(path.indexOf(file)), file].join(" → "));
      state.set(file, "open");
      for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
      state.set(file, "done");
    };
    for (const file of files) visit(file, []);
    expect(circles).toEqual([]);
  });
});

function roomOf(file: string): string {
  if (file === "errors.ts") return "errors";
  return TOP.includes(file) ? "top" : (file.split("/")[0] ?? "");
}

function importsOf(file: string, { types = true } = {}): string[] {
  const pattern = types
    ? /(?:from|import\() ?"(\.[^"]+)\.js"/g
    : /^(?:import|export) (?!type)[^;]*?from "(\.[^"]+)\.js"/gms;
  return [...read(file).matchAll(pattern)].map(
    (match) => `${relative(source, resolve(source, dirname(file), match[1] ?? ""))}.ts`,
  );
}

function read(file: string): string {
  return readFileSync(join(source, file), "utf8");
}
