/** What the README shows has to be true. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { registeredNames } from "../../src/actions/registry.js";
import { checkWorkflow } from "../../src/workflow/check.js";
import { readWorkflow } from "../../src/workflow/parse-workflow.js";
import { README, README_WORKFLOW, REPORT_SCHEMA } from "../support/readme.js";

const root = new URL("../../", import.meta.url);
const schema = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL(`system/schemas/${name}`, root), "utf8")) as Record<string, unknown>;

describe("the README", () => {
  it("shows a workflow that passes the check with no finding", () => {
    const { workflow, findings } = readWorkflow(README_WORKFLOW, "fix-a-bug.md");
    expect(findings).toEqual([]);
    const schemas = {
      "report.schema.json": REPORT_SCHEMA,
      "changes.schema.json": schema("changes.schema.json"),
      "eval-report.schema.json": schema("eval-report.schema.json"),
    };
    expect(checkWorkflow(workflow, { actions: [...registeredNames], schemas })).toEqual([]);
    expect(workflow.phases.map(({ name }) => name)).toEqual(["reproduce", "fix", "verify", "done"]);
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
