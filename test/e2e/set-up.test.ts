import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listing, makeCli, makeTask, NOT_OK, PACKAGE, refuse, type Cli, type Printed } from "../support/cli.js";

describe("the demo", () => {
  it("npm start goes the whole way, with no model and no network, and leaves nothing behind", () => {
    const cli = makeCli();
    const temporary = join(cli.root, "tmp");
    mkdirSync(temporary);
    const before = listing(join(PACKAGE, "tasks"));
    const result = spawnSync("npm", ["start", "--silent"], {
      cwd: PACKAGE,
      env: { ...cli.env, TMPDIR: temporary },
      encoding: "utf8",
    });
    expect(result.status, result.stderr).toBe(0);
    for (const step of ["plan_review → planning", "test → codegen: the tests failed", "test → accept", "accept → done"])
      expect(result.stdout).toContain(step);
    expect(result.stdout).toContain("Merge Add a slugify function");
    expect(listing(temporary)).toEqual({ [Object.keys(listing(temporary))[0] ?? ""]: "directory" });
    expect(listing(join(PACKAGE, "tasks"))).toEqual(before);
  });

  it("--keep keeps it, --json is one document", () => {
    const cli = makeCli();
    const result = cli.pawl("demo", "--keep", "--json", { env: { TMPDIR: cli.root } });
    const { steps, log, workspace } = result.json();
    expect(steps.at(-1)).toMatchObject({ from: "accept", to: "done" });
    expect(log.join("\n")).toContain("Merge Add a slugify function");
    expect(existsSync(join(workspace, "tasks/add-slugify/history.jsonl"))).toBe(true);
    const status = cli.pawl("status", "--json", "--dir", workspace).json();
    expect(status).toMatchObject({ task: "add-slugify", phase: "done" });
    expect(cli.pawl("verify", "--dir", workspace).code).toBe(0);
  });
});

describe("init", () => {
  it("makes a workspace, and changes nothing that is there", () => {
    const cli = makeCli({ config: null });
    cli.write("package.json", '{ "scripts": { "test": "node --test" } }');
    const first = cli.pawl("init", "--json").json();
    expect(first).toMatchObject({ workspace: cli.dir, created: ["pawl.json", "tasks/"], kept: [] });
    const config = JSON.parse(cli.read("pawl.json")) as { $schema: string; test: string[] };
    expect(config.test).toEqual(["npm test"]);
    // Editors complete pawl.json by it: the file it names is there.
    expect(existsSync(join(cli.dir, config.$schema))).toBe(true);
    cli.write("pawl.json", '{"test": ["make"]}');
    expect(cli.pawl("init", "--json").json()).toMatchObject({ created: [], kept: ["pawl.json", "tasks/"] });
    expect(cli.read("pawl.json")).toBe('{"test": ["make"]}');
    expect(cli.pawl("init").stdout).toContain('pawl new "<title>"');
  });

  const PLACEHOLDER = JSON.stringify({ scripts: { test: 'echo "Error: no test specified" && exit 1' } });
  it.each([
    { files: { "Cargo.toml": "" }, test: ["cargo test"] },
    { files: { "go.mod": "" }, test: ["go test ./..."] },
    { files: { Makefile: "all: test\n\ntest: all\n\ttrue\n" }, test: ["make test"] },
    { files: { Makefile: "check test lint:\n\ttrue\n" }, test: ["make test"] },
    { files: { Makefile: ".PHONY: test\ntest::\n\ttrue\n" }, test: ["make test"] },
    { files: { Makefile: "" }, test: [] },
    { files: { Makefile: ".PHONY: test\ntest := x\nall: test\ntests:\n\ttest: 1\n# test: 2\nunit-test:\n" }, test: [] },
    { files: { "package.json": PLACEHOLDER }, test: [] },
    { files: { "package.json": PLACEHOLDER, "go.mod": "" }, test: ["go test ./..."] },
    { files: { "package.json": "{}", Makefile: "test:\n" }, test: ["make test"] },
  ])("guesses a test command that the project has: $files → $test", ({ files, test }) => {
    const cli = makeCli({ config: null });
    for (const [file, content] of Object.entries(files)) cli.write(file, content);
    cli.pawl("init");
    expect((JSON.parse(cli.read("pawl.json")) as { test: string[] }).test).toEqual(test);
  });

  it("makes one here, not in a workspace above", () => {
    const cli = makeCli();
    cli.write("inner/x", "");
    expect(cli.pawl("init", "--json", { cwd: join(cli.dir, "inner") }).json().workspace).toBe(join(cli.dir, "inner"));
    expect(cli.has("inner/pawl.json")).toBe(true);
  });
});

describe("doctor", () => {
  it("says what it found, and fails when something is amiss", () => {
    const cli = makeCli();
    const result = cli.pawl("doctor", "--json");
    expect(result.json().ok).toBe(true);
    expect(result.json().checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["pawl", "node", "git", "workspace", "repository", "tests", "agents"]),
    );
    cli.write("pawl.json", "{");
    const broken = cli.pawl("doctor");
    expect(broken.code).toBe(4);
    expect(broken.stdout).toMatch(/FAIL pawl\.json +pawl\.json is not JSON/);
  });

  const checked = (cli: Cli, config: unknown): { code: number | null; checks: Printed["checks"] } => {
    cli.config(config);
    const result = cli.pawl("doctor", "--json");
    return { code: result.code, checks: result.json().checks.filter(({ ok, hint }) => !ok || hint !== undefined) };
  };

  it.each([
    ["agents.default", { agents: { default: { use: "cluade" } } }, 'no agent preset "cluade"', '"use": "claude"'],
    ["agents.coder", { agents: { coder: { command: ["/no/such"] } } }, "/no/such was not found", "absolute path"],
    ["agents.coder", { agents: { coder: { command: ["no-such"] } } }, "no-such was not found", "install it"],
    ["agents.coder", { agents: { coder: { command: ["./no.sh"] } } }, "./no.sh was not found", "the task's worktree"],
    ["workflow", { workflow: "global-state-machin" }, "no workflow `global-state-machin`", "global-state-machine"],
    ["baseBranch", { baseBranch: "mian" }, "no branch mian in", "git branch mian"],
    ["limits.atempts", { limits: { atempts: 2 } }, "no workflow has the limit atempts", "did you mean attempts?"],
  ])("fails for a setting that cannot work: %s %j", (name, config, found, hint) => {
    const cli = makeCli();
    const { code, checks } = checked(cli, config);
    expect(code).toBe(4);
    const check = checks.find((one) => one.name === name);
    expect(check, JSON.stringify(checks)).toMatchObject({ ok: false });
    expect(check?.found).toContain(found);
    expect(check?.hint).toContain(hint);
    expect(cli.pawl("doctor").stdout).toContain(`FAIL ${name.padEnd(12)} ${check?.found ?? ""}`);
  });

  it("warns of a role that no workflow has", () => {
    const cli = makeCli();
    const { code, checks } = checked(cli, { agents: { code_reviwer: { use: "human" } } });
    expect(code).toBe(0);
    expect(checks.find(({ name }) => name === "agents.code_reviwer")).toMatchObject({
      warning: true,
      found: expect.stringContaining("no workflow has the role code_reviwer") as string,
      hint: "did you mean code_reviewer?",
    });
    expect(cli.pawl("doctor").stdout).toContain("note agents.code_reviwer no workflow has the role");
  });

  it("is content with settings that work", () => {
    const cli = makeCli();
    cli.write("agent.sh", "#!/bin/sh\n");
    chmodSync(join(cli.dir, "agent.sh"), 0o755);
    const config = {
      workflow: "global-state-machine",
      baseBranch: "main",
      limits: { attempts: 2, plan_rounds: 1 },
      agents: {
        default: { use: "rehearsal" },
        planner: { use: "human" },
        coder: { command: ["sh", "-c", "true"] },
        plan_reviewer: { command: [process.execPath] },
        code_reviewer: { command: ["./agent.sh"] },
      },
    };
    const { code, checks } = checked(cli, config);
    expect(code).toBe(0);
    expect(checks.filter(({ name }) => /^(agents|limits|workflow|baseBranch)/.test(name))).toEqual([]);
  });
});

describe("new", () => {
  it("makes a task that can be stepped through at once", () => {
    const cli = makeCli();
    const made = cli.pawl("new", "Mend the login form", "--json").json();
    expect(made).toMatchObject({
      id: "mend-the-login-form",
      dir: cli.task("mend-the-login-form").dir,
      phase: "planning",
      workflow: "global-state-machine",
    });
    expect(cli.task(made.id).read("task.md")).toContain("title: Mend the login form");
    expect(cli.pawl("history", "--json").json().events).toMatchObject([
      { seq: 1, type: "task.created", to: "planning", by: "tess" },
    ]);
    expect(cli.pawl("status", "--json").json()).toMatchObject({ phase: "planning", title: "Mend the login form" });
    expect(cli.pawl("next", "--dry-run", "--json").json()).toMatchObject({ currentPhase: "planning", action: "work" });
    expect(cli.pawl("new", "Another").stdout).toContain("next: pawl next another");
  });

  it("titles of every kind make ids that are directories", () => {
    const cli = makeCli();
    const titles: [string, string][] = [
      ["Crème Brûlée — süß!", "creme-brulee-su"],
      ["日本語", "task"],
      ["../../etc/passwd", "etc-passwd"],
      ["   spaces   ", "spaces"],
      ["a: b # c \"d\" 'e' [f]", "a-b-c-d-e-f"],
      ["x".repeat(300), "x".repeat(40)],
      ["--dashes", "dashes"],
    ];
    for (const [title, id] of titles) {
      const made = cli.pawl("new", "--json", "--", title);
      expect(made.code, title + made.stdout).toBe(0);
      expect(made.json().id).toBe(id);
      // What was typed comes back as it was.
      expect(cli.pawl("status", id, "--json").json().title).toBe(title.trim());
    }
    expect(cli.pawl("new", "日本語", "--json").json().id).toBe("task-2");
    expect(cli.pawl("new", "spaces", "--json").json().id).toBe("spaces-2");
    for (const blank of ["", "  "]) expect(refuse(cli, "new", blank).code).toBe(2);
    expect(refuse(cli, "new").text).toContain('pawl new "Mend the login form"');
  });

  it("--id, and what is taken already", () => {
    const cli = makeCli();
    expect(cli.pawl("new", "One", "--id", "T-1.a_b", "--json").json().id).toBe("T-1.a_b");
    const { code, error } = refuse(cli, "new", "Two", "--id", "T-1.a_b");
    expect(code).toBe(1);
    expect(error.message).toContain("there is a task `T-1.a_b` already");
    for (const id of [".hidden", "a b", "é", "x".repeat(101), "a.lock", "a..b"])
      expect(refuse(cli, "new", "Two", "--id", id).code, id).toBe(2);
    expect(cli.pawl("tasks", "--json").json().tasks).toHaveLength(1);
  });

  it("--from a file: its title, its brief, its front matter", () => {
    const cli = makeCli();
    cli.write("briefs/login.md", "---\ntest: [make check]\n---\n\n# Mend the login\n\nIt says hello twice.\n");
    const made = cli.pawl("new", "--from", "briefs/login.md", "--json").json();
    expect(made.id).toBe("mend-the-login");
    expect(cli.task(made.id).read("task.md")).toContain("It says hello twice.");
    expect(cli.task(made.id).read("task.md")).toContain("make check");
    expect(
      cli.pawl("new", "My own title", "--from", "login.md", "--json", { cwd: join(cli.dir, "briefs") }).json().id,
    ).toBe("my-own-title");
    expect(refuse(cli, "new", "--from", "nowhere.md").code).toBe(2);
    cli.write("bad.md", "---\ntitle: [\n---\n");
    const { code, error, text } = refuse(cli, "new", "--from", "bad.md");
    expect(code).toBe(3);
    // There is no task.md that could be mended.
    expect(text).toMatch(/bad\.md:\d/);
    expect(error.findings[0]).toMatchObject({ file: "bad.md" });
    expect(error.hint).toBe("mend the front matter of bad.md");
    expect(text).not.toContain("task.md");
  });

  it("--repo works on another repository, and on nothing that is none", () => {
    const cli = makeCli();
    const other = makeCli({ config: null });
    other.write("src/x", "");
    const made = cli.pawl("new", "Elsewhere", "--id", "t1", "--repo", join(other.dir, "src"), "--json");
    expect(made.code, made.stdout).toBe(0);
    const before = cli.git("rev-parse", "HEAD");
    // Its front matter, kept; the rest as always.
    const front = cli.task().read("task.md");
    makeTask(cli);
    cli.task().write("task.md", front);
    cli.pawl("next", "--auto", "--json", { env: { PAWL_AGENT: "rehearsal" } });
    expect(cli.pawl("answer", "accepted", "--note", "fine", "--json").json().to).toBe("done");
    expect(other.read("hello.txt")).toBe("hello 1\n");
    expect(cli.git("rev-parse", "HEAD")).toBe(before);
    for (const path of ["/", join(cli.root, "home"), "/no/such/place"]) {
      const { code, text } = refuse(cli, "new", "X", "--repo", path);
      expect(code, path).toBe(2);
      expect(text).toContain("is not in a git repository");
    }
  });

  it("--workflow that is not there makes no task", () => {
    const cli = makeCli();
    expect(refuse(cli, "new", "X", "--workflow", "nope").text).toContain("there is no workflow `nope`");
    expect(cli.has("tasks/x")).toBe(false);
  });
});

describe("the list of tasks", () => {
  const listed = (cli: Cli): Printed["tasks"] => {
    const result = cli.pawl("tasks", "--json");
    expect(result.code).toBe(0);
    return result.json().tasks;
  };

  it("says of a state that was edited that it cannot be trusted, and why, and goes on with the others", () => {
    const cli = makeCli();
    const edits: [string, (text: string) => string, RegExp][] = [
      ["phase", (text) => text.replace('"phase": "plan_review"', '"phase": "done"'), /changed by hand/],
      ["unknown", (text) => text.replace('"phase": "plan_review"', '"phase": "dnoe"'), /`dnoe` is no phase/],
      ["rounds", (text) => text.replace('"visits": 1', '"visits": 0'), /changed by hand/],
      ["workflow", (text) => text.replace('"name": "global-state-machine"', '"name": "mine"'), /no workflow `mine`/],
      ["rubbish", () => "{", /not JSON/],
    ];
    for (const [id, edit] of edits) {
      const task = makeTask(cli, "plan_review", id);
      task.write("state.json", edit(task.read("state.json")));
    }
    makeTask(cli, "plan_review", "sound");
    const tasks = Object.fromEntries(listed(cli).map((task) => [task.id, task]));
    expect(tasks["sound"]).toMatchObject({ phase: "plan_review", status: "idle", untrusted: null });
    for (const [id, , reason] of edits)
      expect(tasks[id], id).toMatchObject({
        phase: "?",
        status: "untrusted",
        untrusted: expect.stringMatching(reason) as string,
      });
    const { stdout } = cli.pawl("tasks");
    expect(stdout).toMatch(/^phase +\? +untrusted: state\.json cannot be trusted: it was changed by hand/m);
    expect(stdout).not.toMatch(/^phase +done/m);
  });

  it("and of one that was made to fit its own last event, but not the history", () => {
    const cli = makeCli();
    const other = makeTask(cli, "accept", "other");
    const task = makeTask(cli, "plan_review");
    task.write("state.json", other.read("state.json"));
    expect(listed(cli).find(({ id }) => id === "t1")).toMatchObject({ phase: "?", status: "untrusted" });
  });

  it("cuts a long reason to wait, which would widen every row", () => {
    const cli = makeCli({ config: { limits: { attempts: 1 } } });
    makeTask(cli, "plan_review");
    const program = `/no/such/${"x".repeat(200)}`;
    cli.config({ limits: { attempts: 1 }, agents: { default: { command: [program] } } });
    expect(cli.pawl("next").code).toBe(10);
    const [task] = listed(cli);
    expect(task?.waiting).toContain(program);
    const row = cli.pawl("tasks").stdout.split("\n")[1] ?? "";
    expect(row).toMatch(/waits: .*… {2}Say hello$/);
    expect(row.length).toBeLessThan(120);
  });
});

describe("status", () => {
  it("names the base branch, and the task's own branch as long as it is there", () => {
    const cli = makeCli();
    makeTask(cli, "accept");
    const before = cli.pawl("status", "--json").json();
    expect(before).toMatchObject({ branch: "pawl/t1", base: "main" });
    expect(cli.pawl("status").stdout).toMatch(/^ {2}branch {4}pawl\/t1\n {2}base {6}main$/m);
    expect(cli.pawl("answer", "accepted", "--note", "fine").code).toBe(0);
    expect(cli.git("branch", "--list", "pawl/*")).toBe("");
    expect(cli.pawl("status", "--json").json()).toMatchObject({ phase: "done", branch: null, base: "main" });
    expect(cli.pawl("status").stdout).not.toContain("pawl/t1");
  });

  it("names a branch whose worktree somebody removed", () => {
    const cli = makeCli();
    const task = makeTask(cli, "review");
    cli.git("worktree", "remove", "--force", task.worktree);
    expect(cli.pawl("status", "--json").json()).toMatchObject({ branch: "pawl/t1", worktree: null });
    cli.git("branch", "-D", "pawl/t1");
    expect(cli.pawl("status", "--json").json()).toMatchObject({ branch: null, base: "main" });
  });
});

describe("history", () => {
  it("shows what a human said, once", () => {
    const cli = makeCli({ config: { limits: { plan_rounds: 1 } } });
    const task = makeTask(cli, "plan_review");
    task.write("review/plan-review.json", NOT_OK);
    cli.pawl("next");
    expect(cli.pawl("resume", "--note", "greet in French").code).toBe(0);
    cli.pawl("override", "accept", "--reason", "it is late");
    expect(cli.pawl("answer", "deferred", "--note", "until Monday").code).toBe(0);
    const { stdout } = cli.pawl("history");
    for (const said of ["greet in French", "it is late", "until Monday"]) expect(stdout.split(said)).toHaveLength(2);
  });
});

describe("which task is meant", () => {
  const which = (cli: Cli, cwd?: string, env: Record<string, string> = {}): Printed =>
    cli.pawl("status", "--json", { ...(cwd === undefined ? {} : { cwd }), env }).json();

  it("the only one, the one used last, the one of this directory or worktree, the one that is named", () => {
    const cli = makeCli();
    makeTask(cli, "codegen", "one");
    expect(which(cli).task).toBe("one");
    makeTask(cli, "plan_review", "two");
    makeTask(cli, "planning", "three");
    // `two` was stepped last; looking at another changes nothing.
    cli.pawl("status", "one");
    expect(which(cli).task).toBe("two");
    cli.pawl("next", "three");
    expect(which(cli).task).toBe("three");
    expect(which(cli, cli.task("one").dir).task).toBe("one");
    cli.task("one").write("planning/deep/x", "");
    expect(which(cli, join(cli.task("one").dir, "planning/deep")).task).toBe("one");
    expect(which(cli, cli.task("two").worktree).task).toBe("two");
    cli.task("two").edit("src/deep/x", "");
    expect(which(cli, join(cli.task("two").worktree, "src/deep")).task).toBe("two");
    expect(cli.pawl("status", "one", "--json", { cwd: cli.task("two").worktree }).json().task).toBe("one");
    for (const name of ["tasks/one", "tasks/one/", "./tasks/one"])
      expect(cli.pawl("status", name, "--json").json().task).toBe("one");
    // From below the workspace, and from anywhere with --dir.
    cli.write("src/inner/x", "");
    expect(which(cli, join(cli.dir, "src/inner")).task).toBe("three");
    expect(cli.pawl("status", "--json", "-C", cli.dir, { cwd: cli.root }).json().task).toBe("three");
  });

  it("a folder of the project that is called tasks hides no workspace", () => {
    const cli = makeCli();
    makeTask(cli, "planning", "one");
    for (const folder of ["src/tasks/deep", "src/tasks/inner/tasks"]) cli.write(`${folder}/x`, "");
    for (const cwd of ["src", "src/tasks", "src/tasks/deep", "src/tasks/inner"])
      expect(which(cli, join(cli.dir, cwd)).task, cwd).toBe("one");
  });

  it("without pawl.json: the directory with tasks/, and every directory of a task in there", () => {
    const cli = makeCli({ config: null });
    cli.write("tasks/one/task.md", "---\ntitle: One\n---\n");
    cli.write("tasks/one/planning/notes/x", "");
    for (const cwd of ["tasks/one/planning/notes", "tasks/one", "."])
      expect(which(cli, join(cli.dir, cwd)).task, cwd).toBe("one");
    // Another such directory, below a folder that happens to be called tasks.
    cli.write("other/tasks/checkout/tasks/two/task.md", "---\ntitle: Two\n---\n");
    expect(which(cli, join(cli.dir, "other/tasks/checkout")).task).toBe("two");
  });

  it("a task that was used last and is gone is forgotten", () => {
    const cli = makeCli();
    for (const id of ["one", "two", "three"]) makeTask(cli, "planning", id);
    cli.pawl("next", "three");
    expect(readFileSync(join(cli.dir, ".pawl/last-task"), "utf8")).toBe("three\n");
    cli.task("three").remove(".");
    expect(refuse(cli, "status").text).toContain("which task? one, two");
  });
});
