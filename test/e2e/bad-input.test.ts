import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listing, makeCli, makeTask, pathWith, PLAN, PROGRAM, refuse } from "../support/cli.js";

describe("words that pawl does not know", () => {
  const cases: [string[], RegExp, RegExp][] = [
    [["nxt"], /there is no command `nxt`/, /did you mean `pawl next`/],
    [["/next"], /there is no command `\/next`/, /did you mean `pawl next`/],
    [["stauts"], /there is no command `stauts`/, /did you mean `pawl status`/],
    [["frobnicate"], /there is no command `frobnicate`/, /pawl --help/],
    [["spec", "chek"], /^unknown command 'chek'$/, /did you mean `check`/],
    [["next", "--dryrun"], /^unknown option '--dryrun'$/, /did you mean `--dry-run`/],
    [["next", "--quite-unlike"], /^unknown option '--quite-unlike'$/, /help/],
    [["next", "--max-steps", "0"], /--max-steps <n>.*'0' is invalid.*whole number above 0/, /help/],
    [["next", "--max-steps", "-1"], /-1/, /help/],
    [["next", "--max-steps", "1e9x"], /whole number above 0/, /help/],
    [["next", "t1", "t2", "t3"], /too many arguments/, /help/],
    [["override"], /missing required argument 'phase'/, /help/],
    [
      ["spec", "graph", "global-state-machine", "--format", "png"],
      /--format expected mermaid, dot, svg, xstate, found `png`/,
      /pawl spec graph/,
    ],
    [["status", "--dir", "/no/such/directory"], /there is no directory \/no\/such\/directory/, /--dir/],
  ];
  it("exit code 2, what was wrong, what was meant", () => {
    const cli = makeCli();
    makeTask(cli);
    for (const [args, message, hint] of cases) {
      const { code, error } = refuse(cli, ...args);
      expect(code, args.join(" ")).toBe(2);
      expect(error.kind).toBe("usage");
      expect(error.message).toMatch(message);
      expect(error.hint).toMatch(hint);
    }
  });

  it("help and version are no errors", () => {
    const cli = makeCli();
    for (const args of [["--help"], ["help"], ["next", "--help"], ["spec", "--help"], ["help", "next"]]) {
      const result = cli.pawl(...args);
      expect(result.code, args.join(" ")).toBe(0);
      expect(result.stdout).toContain("Usage: pawl");
    }
    expect(cli.pawl("--version").stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe("tasks that are not there", () => {
  it("are answered with those that are", () => {
    const cli = makeCli();
    expect(refuse(cli, "next").text).toContain('pawl new "<title>"');
    makeTask(cli, "planning", "mend-login");
    makeTask(cli, "planning", "add-slugs");
    const near = refuse(cli, "status", "mend-logn");
    expect(near.code).toBe(2);
    expect(near.text).toContain("there are: add-slugs, mend-login");
    expect(near.error.hint).toContain("mend-login");
    const which = refuse(cli, "next");
    expect(which.code).toBe(2);
    expect(which.text).toContain("add-slugs, mend-login");
  });

  it("an id that would leave the workspace is refused, and nothing outside is touched", () => {
    const cli = makeCli();
    makeTask(cli);
    mkdirSync(join(cli.root, "x"));
    writeFileSync(join(cli.root, "x", "state.json"), '{"phase":"planning"}');
    symlinkSync(join(cli.root, "x"), join(cli.dir, "tasks", "link"));
    const before = listing(join(cli.root, "x"));
    const ids = [
      "../x",
      "../../x",
      "/etc",
      join(cli.root, "x"),
      "a/b",
      "t1/..",
      "..",
      ".",
      "t1/../../../x",
      "tasks/../../x",
      "link",
      "t1\\..\\x",
      "t1\n",
      "-",
    ];
    for (const id of ids) {
      for (const command of [["status"], ["next"], ["override", "done", "--reason", "x"], ["history"], ["verify"]]) {
        const result = cli.pawl(...command, "--json", "--", id);
        expect(result.code, `${command.join(" ")} ${id}`).toBe(2);
        expect(result.json().error.kind).toBe("usage");
      }
      expect(refuse(cli, "new", "Title", `--id=${id}`).code, id).toBeGreaterThan(0);
    }
    expect(listing(join(cli.root, "x"))).toEqual(before);
    expect(
      cli
        .pawl("tasks", "--json")
        .json()
        .tasks.map(({ id }) => id),
    ).toEqual(["t1"]);
  });
});

describe("--json", () => {
  it("is one JSON document on standard output, for every command", () => {
    const cli = makeCli();
    const task = makeTask(cli);
    task.write("planning/plan.json", PLAN);
    const commands: [string[], number][] = [
      [["tasks"], 0],
      [["suggest"], 0],
      [["next", "--dry-run"], 0],
      [["next"], 0],
      [["run", "plan_review"], 1],
      [["redo", "planning", "--reason", "x"], 0],
      [["override", "accept", "--reason", "x"], 0],
      [["why"], 0],
      [["status"], 0],
      [["answer", "deferred"], 0],
      [["resume", "--note", "x"], 1],
      [["history"], 0],
      [["transcript"], 0],
      [["verify"], 0],
      [["next", "--auto"], 10],
      [["new", "Another"], 0],
      [["init"], 0],
      [["doctor"], 0],
      [["spec", "list"], 0],
      [["spec", "check"], 0],
      [["spec", "check", "global-state-machine"], 0],
      [["spec", "show", "global-state-machine"], 0],
      [["spec", "graph", "global-state-machine"], 0],
      [["nonsense"], 2],
    ];
    for (const [args, code] of commands) {
      const result = cli.pawl(...args, "--json");
      expect(result.code, `${args.join(" ")}: ${result.stdout}${result.stderr}`).toBe(code);
      expect(result.stderr, args.join(" ")).toBe("");
      expect(typeof result.json(), args.join(" ")).toBe("object");
      // The option may stand before its arguments too.
      if (args[0] === "status")
        expect(cli.pawl("status", "--json", "t1").json()).toEqual(cli.pawl("status", "t1", "--json").json());
    }
  });
});

describe("surroundings", () => {
  it("a reader that goes away early is no error", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    for (let n = 0; n < 400; n++)
      task.write(
        "transcript.jsonl",
        `${JSON.stringify({ at: "2026-01-01T00:00:00Z", kind: "note", by: "x", text: "y".repeat(500) })}\n`.repeat(400),
      );
    for (const command of ["history", "transcript", "transcript --json"]) {
      const shell = `set -o pipefail; node ${PROGRAM} ${command} | head -n 1 > /dev/null`;
      const result = spawnSync("bash", ["-c", shell], { cwd: cli.dir, env: cli.env, encoding: "utf8" });
      expect(result.stderr, command).toBe("");
      expect(result.status, command).toBe(0);
    }
  });

  it("a workspace that may not be written to can be looked at; a step says what is wrong", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    task.write("review/plan-review.json", { ok: true, decision: "accepted", reasons: [], blocking_issues: [] });
    // The superuser may write anywhere: somebody else looks.
    const uid = process.getuid?.() === 0 ? 65534 : undefined;
    const as = uid === undefined ? {} : { uid };
    chmodSync(cli.root, 0o755);
    chmodSync(join(cli.root, "home"), 0o755);
    if (uid === undefined) for (const path of [task.dir, cli.dir]) chmodSync(path, 0o555);
    else chownSync(join(cli.root, "home"), uid, uid);
    try {
      const before = listing(cli.dir);
      const git = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "safe.directory", GIT_CONFIG_VALUE_0: "*" };
      for (const command of [["status"], ["next", "--dry-run"], ["why"], ["history"], ["tasks"], ["verify"]])
        expect(cli.pawl(...command, { ...as, env: git }).code, command.join(" ")).toBe(0);
      const step = cli.pawl("next", "--json", { ...as, env: git });
      expect(step.code).toBe(4);
      expect(step.json().error.message).toMatch(/EACCES|permission/);
      expect(step.json().error.hint).toMatch(/\S/);
      expect(cli.pawl("doctor", { ...as, env: git }).code).toBe(4);
      expect(listing(cli.dir)).toEqual(before);
    } finally {
      if (uid === undefined) for (const path of [task.dir, cli.dir]) chmodSync(path, 0o755);
    }
  });

  it("no git on PATH: said as it is, and nothing is lost", () => {
    const cli = makeCli();
    const task = makeTask(cli, "codegen");
    const env = { PATH: pathWith(cli, { node: process.execPath, sh: "/bin/sh" }), PAWL_AGENT: "rehearsal" };
    const doctor = cli.pawl("doctor", "--json", { env });
    expect(doctor.code).toBe(4);
    expect(doctor.json().checks.find(({ name }) => name === "git")).toMatchObject({
      ok: false,
      hint: expect.stringContaining("install git") as string,
    });
    const step = cli.pawl("next", { env });
    expect(step.code).toBe(4);
    expect(step.stderr).toMatch(/^failed: git (was not found|could not be started)/);
    expect(step.stderr).toContain("install git");
    expect(cli.pawl("status", "--json", { env }).json().phase).toBe("codegen");
    expect(cli.pawl("next", "--json", { env: { PAWL_AGENT: "rehearsal" } }).json().to).toBe("review");
    expect(task.has("code/changes.json")).toBe(true);
  });

  it("no HOME, no USER, no TERM", () => {
    const cli = makeCli();
    const task = makeTask(cli, "plan_review");
    task.write("review/plan-review.json", { ok: true, decision: "accepted", reasons: [], blocking_issues: [] });
    const env = { HOME: undefined, USER: undefined, TERM: undefined, XDG_CONFIG_HOME: undefined };
    expect(cli.pawl("status", { env }).code).toBe(0);
    expect(cli.pawl("next", "--json", { env }).json().to).toBe("codegen");
  });

  it("colours only on a terminal, or when they are asked for", () => {
    const cli = makeCli();
    makeTask(cli);
    expect(cli.pawl("status").stdout).not.toContain("\u001b[");
    expect(cli.pawl("status", { env: { FORCE_COLOR: "1" } }).stdout).toContain("\u001b[");
    expect(cli.pawl("status", "--json", { env: { FORCE_COLOR: "1" } }).stdout).not.toContain("\u001b[");
  });
});

describe("pawl.json", () => {
  it("is not needed", () => {
    const cli = makeCli({ config: null });
    const task = makeTask(cli);
    task.write("planning/plan.json", PLAN);
    expect(cli.pawl("next", "--json").json().to).toBe("plan_review");
  });

  it("that is wrong is refused by what needs it: file, pointer, expected, found", () => {
    const cli = makeCli();
    makeTask(cli);
    const cases: [string, string | undefined, string, string][] = [
      ['{"test": "npm test"}', "/test", "an array", '"npm test"'],
      ['{"agents": {"default": {"command": "claude -p"}}}', "/agents/default/command", "an array", '"claude -p"'],
      ['{"agent": {}}', "/agent", "no further field", "one"],
      ['{"limits": {"attempts": "3"}}', "/limits/attempts", "an integer", '"3"'],
      ['{"limits": {"attempts": -1}}', "/limits/attempts", "", "-1"],
      ['{"test": []', undefined, "one JSON document", ""],
      ["[]", "", "an object", "[]"],
    ];
    for (const [content, pointer, expected, found] of cases) {
      cli.write("pawl.json", content);
      for (const args of [["next"], ["status"], ["next", "--dry-run"]]) {
        const { code, error, text } = refuse(cli, ...args);
        expect(code, content).toBe(3);
        const finding = error.findings.find((one) => one.pointer === pointer);
        expect(finding, content).toMatchObject({ file: "pawl.json" });
        expect(finding?.expected).toContain(expected);
        expect(finding?.found).toContain(found);
        expect(text).toContain("pawl.json");
        expect(error.hint).toContain(join(cli.dir, "pawl.json"));
      }
      expect(cli.pawl("doctor").code).toBe(4);
    }
  });

  it("an agent that pawl does not know", () => {
    const cli = makeCli();
    makeTask(cli);
    cli.config({ agents: { default: { use: "clade" } } });
    const result = cli.pawl("next");
    expect(result.code).not.toBe(0);
    expect(result.stderr).toContain("clade");
    expect(result.stderr).toMatch(/next: did you mean .*claude/);
  });

  it("a task.md that is wrong names its line", () => {
    const cli = makeCli();
    const task = makeTask(cli);
    task.write("task.md", "---\ntitle: [a, b]\n---\n");
    expect(refuse(cli, "next").text).toContain("task.md: `title` expected text");
    task.write("task.md", "---\nworkfow: x\n---\n");
    expect(refuse(cli, "next").code).toBe(3);
    task.write("task.md", "---\ntitle: a\ntitle: b\n---\n");
    expect(refuse(cli, "status").text).toMatch(/task\.md:3/);
    rmSync(join(task.dir, "task.md"));
    expect(cli.pawl("status").code).toBe(0);
  });
});
