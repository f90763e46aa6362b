/** Killed in the middle, and two at once: the next call goes on correctly, nothing is done twice. */
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { appears, PROGRAM } from "../support/cli.js";
import { join } from "node:path";
import { makeTdd, script, STEPS, type TddRun } from "../support/tdd-run.js";

/** Starts a tool; what it printed, when it ends. */
function start(
  run: TddRun,
  tool: string,
  input: unknown,
): { pid: number; ended: Promise<{ code: number | null; out: string }> } {
  const child = spawn(process.execPath, [PROGRAM, "tool", tool], { cwd: run.dir, env: run.env });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.resume();
  child.stdin.on("error", () => undefined).end(JSON.stringify(input));
  return {
    pid: child.pid ?? 0,
    ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, out }))),
  };
}

/** A `git` first on PATH that says when it is called with a word, and waits there to be let go; that call then does nothing. */
function stopGitAt(run: TddRun, word: string): void {
  const real = run.env["PATH"]?.split(":").slice(1).join(":") ?? "";
  script(
    join(run.root, "bin", "git"),
    `PATH=${real}\nfor each in "$@"; do\n  if [ "$each" = ${word} ] && [ ! -e ${run.root}/stopped ]; then touch ${run.root}/stopped; read line < ${run.root}/gate; exit 1; fi\ndone\nexec git "$@"`,
  );
  spawnSync("mkfifo", [join(run.root, "gate")]);
}

describe("kill -9", () => {
  it("during submit_work: the run is lost, nothing is marked, and the next one counts", async () => {
    const run = makeTdd({
      state: { status: "EXECUTING_TDD" },
      pr: { tasks: [{ taskName: "Core", status: "TODO", tdd_steps: STEPS("RED", "RED") }] },
    });
    const begun = join(run.root, "begun");
    const call = start(run, "submit_work", {
      summary: "x",
      test_command: `touch ${begun}; exec sleep 600`,
      expectation: "FAIL",
    });
    await appears(begun);
    expect(run.submit({ test_command: "false", expectation: "FAIL" })).toMatchObject({
      code: 1,
      answer: { status: "FAILURE" },
    });
    process.kill(call.pid, "SIGKILL");
    await call.ended;
    expect(run.turn("get_task")).toMatchObject({
      code: 0,
      output: expect.stringContaining("Do the RED step.") as string,
    });
    expect(run.submit({ test_command: "false", expectation: "FAIL" }).answer.status).toBe("NEEDS_ANALYSIS");
    const { tasks } = run.submit({ analysis_decision: "SUCCESS" }).pr ?? { tasks: [] };
    expect(tasks[0]?.tdd_steps?.map(({ status }) => status)).toEqual(["DONE", "TODO"]);
    expect(run.pawl("verify").code).toBe(0);
  });

  it.each(["checkout", "merge", "update-ref"])("during the merge, at git %s: merged once", async (word) => {
    const run = makeTdd();
    run.git("checkout", "--quiet", "-b", "feat/x");
    run.commit("Feature", { feature: "1\n" });
    run.write("ORCHESTRATION_STATE.json", '{"status": "MERGING_BRANCH", "current_pr_branch": "feat/x"}');
    run.write("ACTIVE_PR.json", '{"tasks": [{"status": "DONE"}]}');
    stopGitAt(run, word);
    const call = start(run, "get_task", {});
    await appears(join(run.root, "stopped"));
    process.kill(call.pid, "SIGKILL");
    writeFileSync(join(run.root, "gate"), "\n");
    await call.ended;
    expect(run.turn("get_task")).toMatchObject({ code: 0, pr: null, state: { status: "INITIALIZING" } });
    expect(run.git("rev-list", "--count", "--merges", "main")).toBe("1");
    expect(run.git("branch", "--format=%(refname:short)")).toBe("main");
    expect(run.git("status", "--porcelain")).toBe("");
    expect(run.pawl("verify").code).toBe(0);
  });

  it("during the reset: what was there is kept, and the next call goes on", async () => {
    const run = makeTdd({ state: { status: "DEBUGGING", debug_attempt_counter: 6, last_error: "Final error" } });
    run.write("readme.md", "work\n");
    run.write("new.js", "new\n");
    stopGitAt(run, "reset");
    const call = start(run, "request_scope_reduction", {});
    await appears(join(run.root, "stopped"));
    process.kill(call.pid, "SIGKILL");
    writeFileSync(join(run.root, "gate"), "\n");
    await call.ended;
    expect(run.turn("request_scope_reduction")).toMatchObject({ code: 0, state: { status: "REPLANNING" } });
    expect(run.read("readme.md")).toBe("one\n");
    expect(run.git("for-each-ref", "--format=%(refname)", "refs/pawl/rescue")).toBe(
      "refs/pawl/rescue/tool-gated-tdd/1",
    );
    expect(run.git("show", "refs/pawl/rescue/tool-gated-tdd/1:new.js")).toBe("new");
  });
});

describe("two at once", () => {
  it("get_task answers both, and makes one branch", async () => {
    const run = makeTdd({
      state: { status: "CREATING_BRANCH" },
      pr: { prTitle: "feat: x", tasks: [{ taskName: "Core", status: "TODO", tdd_steps: STEPS("RED") }] },
    });
    const answers = await Promise.all([1, 2, 3].map(() => start(run, "get_task", {}).ended));
    expect(new Set(answers.map(({ code, out }) => `${code}${out.replace(/^The branch .*\n\n/, "")}`)).size).toBe(1);
    expect(run.git("branch", "--format=%(refname:short)").split("\n")).toEqual(["feat/x", "main"]);
    expect(run.pawl("verify").code).toBe(0);
  });
});
