/** What the README shows has to be true. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openPawl } from "../../src/index.js";
import { README, README_SCHEMA, README_WORKFLOW } from "../support/readme.js";
import { writeAt } from "../support/repository.js";
import { makeDirectory } from "../support/workspace.js";

describe("the README", () => {
  it("shows a workflow that passes the check with no finding, with nothing but what it shows", async () => {
    const directory = makeDirectory();
    writeAt(join(directory, "system/workflows/fix-a-bug.md"), README_WORKFLOW);
    writeAt(join(directory, "system/schemas/report.schema.json"), README_SCHEMA);
    const pawl = openPawl({ directory });
    expect(await pawl.checkSpec("fix-a-bug")).toMatchObject({ ok: true, findings: [] });
    expect((await pawl.newTask({ title: "It is slow", workflow: "fix-a-bug" })).phase).toBe("reproduce");
  });

  it("names only commands that exist, and all of them", async () => {
    const { createProgram } = await import("../../src/surfaces/cli/commands.js");
    const { env } = process;
    const io = { env, out: () => undefined, err: () => undefined } as unknown as Parameters<typeof createProgram>[0];
    const names = createProgram(io, () => undefined).commands.map((command) => command.name());
    const table = /## Commands\n([\s\S]*?)\n\nThe task may/.exec(README)?.[1] ?? "";
    for (const name of names) expect(table, name).toMatch(new RegExp(`\\b${name}\\b`));
    const used = [...README.matchAll(/^pawl (\w+)/gm)]
      .map((match) => match[1] ?? "")
      .filter((word) => !word.includes("fix"));
    expect(used.filter((word) => !names.includes(word))).toEqual([]);
  });

  it("lists the exit codes of the program", async () => {
    const { exitCode } = await import("../../src/errors.js");
    const codes = (["refused", "usage", "invalid", "failed", "halted", "interrupted"] as const).map(exitCode);
    for (const code of codes) expect(README).toMatch(new RegExp(`^\\| ${code} +\\|`, "m"));
  });

  it("speaks of no path of a particular machine", () => {
    expect(README).not.toMatch(/\/(root|home|Users)\//);
  });
});
