/** The workflow that the README shows, in a workspace of its own: a document that nobody compiled, and a merge without a human. */
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { README_SCHEMA, README_WORKFLOW } from "../support/readme.js";
import { appears, makeCli, refuse, type Cli, type TaskFiles } from "../support/cli.js";
import { writeAt } from "../support/repository.js";

function makeBug(): { cli: Cli; task: TaskFiles } {
  const cli = makeCli();
  cli.write("system/workflows/fix-a-bug.md", README_WORKFLOW);
  cli.write("system/schemas/report.schema.json", README_SCHEMA);
  const coder = cli.agent(
    "coder",
    `if (env.PAWL_PHASE === "reproduce") leave("report", { failing: true });
     else fs.writeFileSync("hello.txt", env.PAWL_ATTEMPT === "1" ? "nothing" : "hello");`,
  );
  cli.config({ test: ["grep -q hello hello.txt"], agents: { coder: { command: coder } } });
  cli.commit("Our own way to mend bugs");
  const task = cli.task();
  task.write("task.md", "---\ntitle: Say hello\nworkflow: fix-a-bug\n---\n\nIt does not say hello.\n");
  return { cli, task };
}

describe("the README's own workflow", () => {
  it("goes from a failing test to a merge, once round the loop", () => {
    const { cli } = makeBug();
    expect(cli.pawl("spec", "check", "fix-a-bug").stdout).toBe("ok  fix-a-bug\n");
    const result = cli.pawl("next", "--auto", "--json");
    expect(result.code, result.stdout).toBe(0);
    expect(result.json().steps.map(({ from, to }) => `${from} → ${to}`)).toEqual([
      "reproduce → fix",
      "fix → verify",
      "verify → fix",
      "fix → verify",
      "verify → done",
    ]);
    expect(cli.read("hello.txt")).toBe("hello");
    expect(cli.pawl("verify", "--json").json()).toMatchObject({ ok: true });
  });

  it("killed after its merge, it neither tests nor merges again", async () => {
    const { cli, task } = makeBug();
    // The merge is done when the worktree is removed; there git waits, until it is killed with pawl.
    const marker = join(cli.root, "removing");
    const script = `case "$*" in *"worktree remove"*) echo $$ > "${marker}.new"; mv "${marker}.new" "${marker}"; exec sleep 600;; esac`;
    const git = cli.git("--exec-path");
    writeAt(join(cli.root, "bin/git"), `#!/bin/sh\n${script}\nexec ${join(git, "git")} "$@"\n`);
    chmodSync(join(cli.root, "bin/git"), 0o755);
    const running = cli.start("next", "--auto", {
      env: { PATH: `${join(cli.root, "bin")}:${process.env["PATH"] ?? ""}` },
    });
    await appears(marker);
    process.kill(running.pid, "SIGKILL");
    process.kill(Number(readFileSync(marker, "utf8")), "SIGKILL");
    expect((await running.finished).code).toBeNull();
    expect(task.readJson("state.json")).toMatchObject({ phase: "verify", lastEvent: { type: "run.finished" } });
    expect(cli.pawl("next", "--auto", "--json").json()).toMatchObject({ phase: "done", stopped: "end" });
    expect(task.has("verify/runs/3")).toBe(false);
    expect(cli.git("rev-list", "--count", "--merges", "main")).toBe("1");
    expect(cli.git("status", "--porcelain", "--untracked-files=no")).toBe("");
  });
});

describe("a section of a Markdown file", () => {
  const document = `---
workflow: essay
version: 1
initial: write
limits: { rounds: 3 }
---

# Essay

## Phases

| Phase | Who           | Leaves | For             |
| ----- | ------------- | ------ | --------------- |
| write | agent \`coder\` | \`text\` | the text        |
| judge | human         |        | is it any good? |
| done  |               |        |                 |

## Artifacts

| Artifact | File       | Section | Schema | Made by | Judges |
| -------- | ---------- | ------- | ------ | ------- | ------ |
| \`text\`   | \`essay.md\` | Text    |        | agent   |        |

## Transitions

| From  | Event  | By    | When                                                       | Do | To    |
| ----- | ------ | ----- | ---------------------------------------------------------- | -- | ----- |
| write | next   | any   | \`text.text != ""\`                                          |    | judge |
| judge | answer | human | \`event.choice == "good"\`                                   |    | done  |
| judge | answer | human | \`event.choice == "bland" && visits.write < limits.rounds\`  |    | write |
`;

  it("opens its gate once: in the next round it has to be written anew", () => {
    const cli = makeCli({ git: false, config: {} });
    cli.write("system/workflows/essay.md", document);
    expect(cli.pawl("spec", "check", "essay").stdout).toContain("ok");
    const task = cli.task();
    task.write("task.md", "---\ntitle: Essay\nworkflow: essay\n---\n");
    task.write("essay.md", "# Essay\n\n## Text\n\nAll is well.\n");
    expect(cli.pawl("next", "--json").json().to).toBe("judge");
    expect(cli.pawl("answer", "bland", "--note", "rewrite it", "--json").json().to).toBe("write");
    const { code, error } = refuse(cli, "next");
    expect(code).toBe(1);
    expect(error.message).toContain("was there before write began");
    task.write("essay.md", "# Essay\n\n## Text\n\nAll is lost.\n");
    expect(cli.pawl("next", "--json").json().to).toBe("judge");
  });
});
