import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { activityOf, type Activity } from "../../../src/agents/session/activity.js";
import { waitingPatterns } from "../../../src/agents/session/waiting-patterns.js";
import { loadPreset, presetNames } from "../../../src/agents/preset.js";
import { makeDirectory } from "../../support/workspace.js";

const NOW = Date.parse("2026-05-06T07:08:09Z");
const MINUTE = 60_000;

interface Run {
  dir: string;
  write(name: string, text: string): void;
  /** How it seems so long after it has printed something for the last time. */
  after(ms: number, patterns?: RegExp[]): Activity;
}

function makeRun(): Run {
  const dir = makeDirectory();
  return {
    dir,
    write: (name, text) => writeFileSync(join(dir, name), text),
    after: (ms, patterns = [/proceed\?/]) => {
      utimesSync(join(dir, "output.log"), new Date(NOW - ms), new Date(NOW - ms));
      return activityOf(dir, { patterns, now: NOW });
    },
  };
}

describe("an agent that", () => {
  it("has just printed something works, whatever stands on its screen", () => {
    const run = makeRun();
    run.write("output.log", "proceed?\n");
    run.write("screen.txt", "proceed?\n");
    expect(run.after(2999)).toEqual({ state: "working", lastOutput: NOW - 2999, prompt: null });
  });

  it("asks for something and is quiet waits", () => {
    const run = makeRun();
    run.write("output.log", "noise");
    run.write("screen.txt", `old\n│ Do you want to proceed? │\n  1. Yes\n  2. No\n`);
    expect(run.after(3000)).toEqual({
      state: "waiting",
      lastOutput: NOW - 3000,
      prompt: "│ Do you want to proceed? │",
    });
    expect(run.after(60 * MINUTE).state).toBe("waiting");
  });

  it("is quiet and asks nothing works; for long, it is stalled", () => {
    const run = makeRun();
    run.write("output.log", "thinking\n");
    run.write("screen.txt", "thinking\n");
    expect(run.after(10 * MINUTE - 1)).toMatchObject({ state: "working", prompt: null });
    expect(run.after(10 * MINUTE)).toMatchObject({ state: "stalled", prompt: null });
  });

  it("asked long ago, further up on its screen, does not wait", () => {
    const run = makeRun();
    run.write("output.log", "");
    run.write("screen.txt", `proceed?\n${"more\n\n".repeat(15)}`);
    expect(run.after(MINUTE).state).toBe("working");
  });

  it("has no terminal is seen by the end of what it printed, without its colours", () => {
    const run = makeRun();
    run.write("output.log", `${"x".repeat(100_000)}\n\u001b[1mpro\u001b[31mceed?\u001b[0m `);
    expect(run.after(MINUTE)).toMatchObject({ state: "waiting", prompt: "proceed?" });
  });

  it("has printed nothing yet is as old as its run; where nothing is at all, nothing is known", () => {
    const { dir } = makeRun();
    utimesSync(dir, new Date(NOW - MINUTE), new Date(NOW - MINUTE));
    expect(activityOf(dir, { patterns: [], now: NOW }).lastOutput).toBe(NOW - MINUTE);
    expect(activityOf(join(dir, "nowhere"), { patterns: [], now: NOW })).toEqual({
      state: "working",
      lastOutput: null,
      prompt: null,
    });
  });
});

describe("what an agent may put in the place of its screen", () => {
  it.each([
    ["a link", (path: string) => symlinkSync("/etc/passwd", path)],
    ["a pipe", (path: string) => void execFileSync("mkfifo", [path])],
    ["a directory", (path: string) => mkdirSync(path)],
    ["something huge", (path: string) => void execFileSync("truncate", ["-s", "20G", path])],
  ])("%s is no screen, and not waited for", (_what, make) => {
    const run = makeRun();
    run.write("output.log", "proceed?\n");
    make(join(run.dir, "screen.txt"));
    const { state, prompt } = run.after(MINUTE, [/proceed\?/, /daemon/]);
    expect([state, prompt]).toEqual(_what === "something huge" ? ["working", null] : ["waiting", "proceed?"]);
  });

  it("a line of any length is looked at only so far", () => {
    const run = makeRun();
    run.write("output.log", "");
    run.write("screen.txt", `${"x".repeat(600)}proceed?\n`);
    expect(run.after(MINUTE).state).toBe("working");
  });
});

describe("the patterns by which it is seen", () => {
  const kindOf = async (use: string | undefined, line: string): Promise<string | undefined> =>
    (await waitingPatterns(use, "/nowhere")).find(({ pattern }) => pattern.test(line))?.kind;

  it.each([
    ["human", "Overwrite it? [y/N]", "permission"],
    ["human", "Continue (yes/no)", "permission"],
    ["human", "[sudo] password for ada:", "login"],
    ["human", "Please log in to go on", "login"],
    ["human", "Press Enter to continue", "question"],
    ["human", "Do you trust this place", "trust"],
    ["human", "? Which one (Use arrow keys)", "question"],
    ["human", "What shall I do?", "question"],
    ["claude", " Do you want to proceed?", "permission"],
    ["claude", " ❯ 1. Yes", "permission"],
    ["claude", " Quick safety check: Is this a project you created or one you trust? (Like your own code)", "trust"],
    ["claude", " Select login method:", "login"],
    ["gemini", "│ Allow execution of: 'npm'?", "permission"],
    ["gemini", "│ Do you trust this folder?", "trust"],
    ["gemini", "│ How would you like to authenticate for this project?", "login"],
    ["codex", "  Would you like to run the following command?", "permission"],
    ["codex", "  Do you trust the contents of this directory? Working with untrusted", "trust"],
    ["codex", "> 1. Sign in with ChatGPT", "login"],
    ["opencode", "△ Permission required", "permission"],
    ["aider", "Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]:", "permission"],
    // A command of one's own may run any of them.
    [undefined, "△ Permission required", "permission"],
  ])("%s: %s", async (use, line, kind) => {
    expect(await kindOf(use, line)).toBe(kind);
  });

  it.each([
    "",
    "I have written the file.",
    "Passwords are checked in login.ts",
    "3 files changed",
    "> Type your message",
  ])("nothing is asked by: %s", async (line) => {
    expect(await kindOf(undefined, line)).toBe(undefined);
  });

  it("are quick to look at, whatever the line", async () => {
    const patterns = await waitingPatterns(undefined, "/nowhere");
    const lines = [" ", "a", "?", "(", "password ", "y/n", "│ ", "log "].map((part) => part.repeat(500).slice(0, 500));
    const began = performance.now();
    for (let n = 0; n < 100; n++) for (const line of lines) for (const { pattern } of patterns) pattern.test(line);
    expect((performance.now() - began) / 100).toBeLessThan(50);
  });

  it("of a workspace win over the built-in ones, and are refused where they are none", async () => {
    const dir = makeDirectory();
    mkdirSync(join(dir, "system"));
    const file = join(dir, "system", "waiting.json");
    writeFileSync(file, JSON.stringify({ waiting: [{ kind: "login", pattern: "who are you" }] }));
    expect((await waitingPatterns("human", dir)).map(({ kind }) => kind)).toEqual(["login"]);
    for (const wrong of [
      { kind: "login", pattern: "(" },
      { kind: "other", pattern: "x" },
    ]) {
      writeFileSync(file, JSON.stringify({ waiting: [wrong] }));
      await expect(waitingPatterns("human", dir)).rejects.toMatchObject({ kind: "invalid" });
    }
  });

  it("of a preset that is wrong are refused with it, and are none until it is mended", async () => {
    const dir = makeDirectory();
    mkdirSync(join(dir, "system", "presets"), { recursive: true });
    const preset = JSON.parse(readFileSync("system/presets/codex.json", "utf8")) as { terminal: object };
    preset.terminal = { command: ["codex"], waiting: [{ kind: "login", pattern: "(" }] };
    writeFileSync(join(dir, "system", "presets", "codex.json"), JSON.stringify(preset));
    await expect(loadPreset("codex", dir)).rejects.toMatchObject({
      message: expect.stringContaining("/terminal/waiting/0/pattern expected a regular expression") as string,
    });
    expect((await waitingPatterns("codex", dir)).length).toBe((await waitingPatterns("human", dir)).length);
  });

  it.each(presetNames("/nowhere"))(
    "%s says how it is run in a terminal, and gets its prompt there without typing",
    async (name) => {
      const { terminal, command } = await loadPreset(name, "/nowhere");
      expect(terminal?.command[0]).toBe(command[0]);
      expect(terminal?.command.some((part) => part === "{prompt}" || part === "{prompt_file}")).toBe(true);
      expect(terminal?.waiting?.length).toBeGreaterThan(0);
    },
  );
});
