/** TASK.md: what it shows of a task's state, while others write into it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadWorkflow } from "../../src/system/workflows.js";
import { shownBy, withShown } from "../../src/task/face.js";
import { freshState } from "../../src/task/state.js";
import { loadTask, openTask, type OpenTask } from "../../src/task/store.js";
import { makeRoot } from "../support/repository.js";
import { PACKAGE } from "../support/workspace.js";

const workflow = await loadWorkflow("gated-task", PACKAGE);

interface Space {
  dir: string;
  file: string;
  read(): string;
  write(text: string): void;
  open(): Promise<OpenTask>;
  /** One commit that leads to the phase. */
  move(phase: string): Promise<void>;
}

function makeSpace(): Space {
  const dir = join(makeRoot().root, "tasks", "t1");
  mkdirSync(dir, { recursive: true });
  const file = join(dir, "TASK.md");
  const open = (): Promise<OpenTask> => openTask(dir, workflow, () => new Date());
  return {
    dir,
    file,
    read: () => readFileSync(file, "utf8"),
    write: (text) => writeFileSync(file, text),
    open,
    move: async (phase) => {
      const task = await open();
      try {
        await task.begin("tess");
        await task.commit(
          { ...task.state, phase },
          { type: "transition", by: "tess", from: task.state.phase, to: phase },
        );
      } finally {
        task.close();
      }
    },
  };
}

describe("the front matter", () => {
  it.each([
    ["nothing", ""],
    ["text alone", "# Say hello\n\n- twice\n"],
    [
      "other keys, comments and CRLF",
      "---\r\nowner: tess # who\r\nstatus: pending\r\ntags: [a, b]\r\n---\r\n# Text\r\n",
    ],
    ["a byte-order mark", "\uFEFF---\nstatus: pending\n---\ntext"],
    ["a rule in the text", "---\nstatus: pending\n---\na\n\n---\n\nstatus: done\n"],
    ["no newline at its end", "---\nstatus: pending\n---"],
    ["a key of the same beginning", "---\nstatus_of_mine: x\nstatus: pending\n---\n"],
  ])("is put right in a file with %s, and every other byte stays", (_what, text) => {
    const state = { ...freshState(workflow, "working"), counters: { crash_count: 1 } };
    const shown = withShown(text, shownBy(state, workflow), workflow);
    expect(shown).toMatch(/^status: working *\r?$/m);
    expect(shown).toMatch(/^crash_count: 1 *\r?$/m);
    const own = /^(?:status|review_round|crash_count|clarifications|rescues):/;
    const others = (lines: string): string[] =>
      lines.split(/\r?\n/).filter((line) => !own.test(line) && line !== "---");
    expect(others(shown).join("\n").trim()).toBe(others(text).join("\n").trim());
    expect(withShown(shown, shownBy(state, workflow), workflow)).toBe(shown);
  });

  it("that pawl showed before is an editor's old copy, and is put right without a word", async () => {
    const space = makeSpace();
    await space.move("working");
    const old = space.read();
    await space.move("agent-review");
    space.write(`${old}\nand more\n`);
    expect(loadTask(space.dir, workflow).face).toEqual({ kind: "old" });
    (await space.open()).close();
    expect(space.read()).toMatch(/^---\nstatus: agent-review[\s\S]*and more\n$/);
    expect(loadTask(space.dir, workflow).state.lastEvent?.type).toBe("transition");
  });

  it.each([
    ["another status", (text: string) => text.replace("status: working", "status: done   ")],
    ["another counter", (text: string) => text.replace(/crash_count: 0/, "crash_count: 9")],
    ["a status of its own", (text: string) => text.replace("status: working", "status: finished")],
    ["a second status", (text: string) => text.replace("---\n", "---\nstatus: done\n")],
  ])("with %s by hand moves nothing: it is put right, and on record", async (_what, edit) => {
    const space = makeSpace();
    await space.move("working");
    space.write(`${edit(space.read())}\nmy words\n`);
    expect(loadTask(space.dir, workflow)).toMatchObject({ state: { phase: "working" }, face: { kind: "edited" } });
    (await space.open()).close();
    expect(space.read().match(/^status: .*$/gm)).toEqual(["status: working      "]);
    expect(space.read()).toContain("my words\n");
    expect(loadTask(space.dir, workflow)).toMatchObject({
      state: { phase: "working", lastEvent: { type: "face.restored", by: "pawl" } },
      face: { kind: "right" },
    });
  });

  it("that was begun and never closed is left as it is, and said", async () => {
    const space = makeSpace();
    await space.move("working");
    space.write("---\nstatus: working\n\n# no end\n");
    await expect(space.open()).rejects.toThrow("the front matter that begins in line 1 has no end");
    expect(space.read()).toBe("---\nstatus: working\n\n# no end\n");
  });

  it("written by hand, without any records, is where the task begins", async () => {
    const space = makeSpace();
    space.write("---\nstatus: agent-review\nreview_round: 1\n---\n\n## Handoff\n\nDONE\n");
    expect(loadTask(space.dir, workflow)).toMatchObject({
      origin: "imported",
      state: { phase: "agent-review", counters: { review_round: 1 } },
    });
    space.write("---\nstatus: nowhere\n---\n");
    expect(() => loadTask(space.dir, workflow)).toThrow("`nowhere` is no phase of gated-task");
  });
});

const EDITS = 200;
/** How editors and agents write: at the end, over the file, into a new one that takes its place. */
const WRITER = `
const fs = require("node:fs");
const [file, edits] = process.argv.slice(1);
const over = (text) => fs.writeFileSync(file, text);
const instead = (text) => { fs.writeFileSync(file + ".mine", text); fs.renameSync(file + ".mine", file); };
process.stdin.once("data", () => {
  for (let n = 0; n < Number(edits); n++) {
    const line = "edit " + n + ";\\n";
    if (n % 3 === 0) fs.appendFileSync(file, line);
    else (n % 3 === 1 ? over : instead)(fs.readFileSync(file, "utf8") + line);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, n % 7);
  }
  process.exit(0);
});
console.log("ready");`;

describe("somebody else writes at the same time", () => {
  it(`and of ${EDITS} edits while the status changes ${EDITS} times none is lost`, async () => {
    const space = makeSpace();
    await space.move("working");
    const child = spawn(process.execPath, ["-e", WRITER, space.file, String(EDITS)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    const ended = once(child, "exit");
    child.stdin.write("go\n");
    for (let n = 0; n < EDITS; n++) await space.move(n % 2 === 0 ? "agent-review" : "working");
    expect(await ended).toEqual([0, null]);
    (await space.open()).close();
    const text = space.read();
    const missing = Array.from({ length: EDITS }, (_, n) => n).filter((n) => !text.includes(`edit ${n};\n`));
    expect(missing).toEqual([]);
    expect(text).toMatch(/^---\nstatus: working {6}\n/);
    expect(text.match(/^status:/gm)).toHaveLength(1);
    expect(existsSync(`${space.file}.mine`)).toBe(false);
    expect(loadTask(space.dir, workflow).face).toEqual({ kind: "right" });
  });
});
