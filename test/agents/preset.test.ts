import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadPreset, presetCommand, presetNames, type Preset } from "../../src/agents/preset.js";
import { isSecretName } from "../../src/task/mask.js";
import { makeRoot } from "../support/repository.js";

const NAMES = ["aider", "claude", "codex", "gemini", "opencode"];
const VALUES = { prompt: "Do it.", taskDir: "/tasks/t1", runDir: "/tasks/t1/planning/runs/1", promptFile: "/p.md" };

describe("the built-in presets", () => {
  it("are there, in the order of their names", () => {
    expect(presetNames("/nowhere")).toEqual(NAMES);
  });

  it.each(NAMES)("%s names only what looks secret, and secrets that are its own to use", async (name) => {
    const { env } = await loadPreset(name, "/nowhere");
    expect(env.length).toBeGreaterThan(0);
    expect(env.filter((variable) => !isSecretName(variable))).toEqual([]);
  });

  it.each(NAMES)("%s leaves no placeholder behind, and is asked for its version by the same program", async (name) => {
    const preset = await loadPreset(name, "/nowhere");
    const { command } = presetCommand(preset, VALUES);
    expect(command.join(" ")).not.toMatch(/\{[a-z_]+\}/);
    expect(preset.version[0]).toBe(command[0]);
    expect(preset.about?.length).toBeGreaterThan(0);
  });

  it.each(NAMES.filter((name) => name !== "aider"))("%s gets the prompt on standard input", async (name) => {
    expect(presetCommand(await loadPreset(name, "/nowhere"), VALUES).input).toBe("Do it.");
  });

  it.each(["claude", "codex", "gemini"])("%s may write into the task directory", async (name) => {
    expect(presetCommand(await loadPreset(name, "/nowhere"), VALUES).command).toContain("/tasks/t1");
  });

  it("aider leaves its history with the run, not in the worktree", async () => {
    const { command } = presetCommand(await loadPreset("aider", "/nowhere"), VALUES);
    expect(command).toContain("/p.md");
    expect(command).toContain("/tasks/t1/planning/runs/1/aider.chat.history.md");
  });
});

describe("presetCommand", () => {
  const command = (...parts: string[]): Pick<Preset, "command"> => ({ command: parts });

  it("puts the prompt where it is asked for, and then not on standard input", () => {
    expect(presetCommand(command("x", "-p", "{prompt}"), VALUES)).toEqual({ command: ["x", "-p", "Do it."] });
    expect(presetCommand(command("x", "--prompt={prompt}"), VALUES)).toEqual({ command: ["x", "--prompt=Do it."] });
    expect(presetCommand(command("x", "{prompt_file}"), VALUES)).toEqual({ command: ["x", "/p.md"], input: "Do it." });
  });

  it("a prompt that speaks of placeholders or of $& stays what it is", () => {
    const prompt = "Explain {task_dir}, {prompt} and $&.";
    expect(presetCommand(command("x", "{prompt}", "{task_dir}"), { ...VALUES, prompt }).command).toEqual([
      "x",
      prompt,
      "/tasks/t1",
    ]);
  });

  it("what is no placeholder stays", () => {
    expect(presetCommand(command("x", "{other}", "{}"), VALUES).command).toEqual(["x", "{other}", "{}"]);
  });

  it("without a prompt the command can be shown", () => {
    expect(presetCommand(command("x", "{prompt}"), { ...VALUES, prompt: undefined as never })).toEqual({
      command: ["x", "{prompt}"],
    });
  });
});

describe("a workspace's own presets", () => {
  function workspaceWith(name: string, text: string): string {
    const { root } = makeRoot();
    mkdirSync(join(root, "system", "presets"), { recursive: true });
    writeFileSync(join(root, "system", "presets", `${name}.json`), text);
    return root;
  }
  const own = (changes: Record<string, unknown>): string =>
    JSON.stringify({ ...(JSON.parse(readFileSync("system/presets/codex.json", "utf8")) as object), ...changes });

  it("win over the built-in one of the same name, and stand beside the others", async () => {
    const root = workspaceWith("codex", own({ title: "Our Codex" }));
    expect((await loadPreset("codex", root)).title).toBe("Our Codex");
    expect(presetNames(root)).toEqual(NAMES);
    const other = workspaceWith("mine", own({ name: "mine" }));
    expect(presetNames(other)).toEqual([...NAMES, "mine"].sort());
  });

  it.each([
    ["not JSON", "{", /is not JSON/],
    ["a command that is a string", own({ command: "codex exec" }), /\/command expected an array/],
    ["a field that is not known", own({ comand: [] }), /\/comand expected no further field/],
    ["no way to read what it prints", own({ result: {} }), /\/result\/format/],
    ["a name that is not its file's", own({ name: "other" }), /\/name expected "codex"/],
    [
      "a pattern that is none",
      own({ result: { format: "text", cost: { pattern: "(" } } }),
      /\/result\/cost\/pattern expected a regular expression/,
    ],
    ["a pattern without a group", own({ result: { format: "text", cost: { pattern: "\\d+" } } }), /with a group/],
  ])("%s is refused, with the place", async (_case, text, message) => {
    const root = workspaceWith("codex", text);
    await expect(loadPreset("codex", root)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(message) as string,
    });
  });
});

it.each([
  ["cluade", 'did you mean "use": "claude"?'],
  ["open-code", 'did you mean "use": "opencode"?'],
  ["humna", 'did you mean "use": "human"?'],
  ["something", "put system/presets/something.json into the workspace"],
])("an unknown preset %s is refused with what there is", async (name, hint) => {
  await expect(loadPreset(name, "/nowhere")).rejects.toMatchObject({
    message: `there is no agent preset "${name}"; there are: ${NAMES.join(", ")}`,
    hint: expect.stringContaining(hint) as string,
  });
});

it("a name that leads elsewhere is unknown", async () => {
  await expect(loadPreset("../../package", "/nowhere")).rejects.toMatchObject({ kind: "invalid" });
});
