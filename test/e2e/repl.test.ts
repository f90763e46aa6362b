/** The built program, as a person and as a script would use its REPL. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeRoot, writeAt } from "../support/repository.js";
import { CTRL_C, CTRL_D, DOWN, openTerminal, UP, type Terminal } from "../support/terminal.js";

const PAWL = fileURLToPath(new URL("../../bin/pawl.cjs", import.meta.url));

const PLAN = {
  title: "Hello",
  summary: "Say hello",
  tasks: [{ id: "1", title: "Write it" }],
  files: [{ path: "hello.txt", intent: "create" }],
  acceptance: ["hello.txt says hello"],
};

/** An agent of its own: plans at once; reviews until it is interrupted or told to go, and then leaves nothing. */
const AGENT = `
import { existsSync, watch, writeFileSync } from "node:fs";
const { PAWL_ARTIFACTS, PAWL_PHASE, PAWL_TASK_DIR } = process.env;
if (PAWL_PHASE === "planning") {
  console.log("the planner is at work");
  writeFileSync(JSON.parse(PAWL_ARTIFACTS).plan, ${JSON.stringify(JSON.stringify(PLAN))});
} else {
  watch(PAWL_TASK_DIR, () => existsSync(PAWL_TASK_DIR + "/go") && process.exit(0));
  writeFileSync(PAWL_TASK_DIR + "/agent.pid", String(process.pid));
  console.log("the reviewer is at work");
}
`;

interface Desk {
  dir: string;
  env: Record<string, string>;
  pipe(input: string, ...args: string[]): { stdout: string; stderr: string; status: number | null };
  open(...args: string[]): Terminal;
  transcript(task: string): { kind: string; text: string }[];
  phase(task: string): string;
}

function makeDesk(): Desk {
  const { root, env: base } = makeRoot();
  const dir = join(root, "work");
  mkdirSync(join(dir, "tasks"), { recursive: true });
  writeAt(join(root, "agent.mjs"), AGENT);
  writeAt(
    join(dir, "pawl.json"),
    JSON.stringify({ agents: { default: { command: [process.execPath, join(root, "agent.mjs")] } } }),
  );
  const env = { ...base, GIT_CONFIG_GLOBAL: "/dev/null", PAWL_USER: "tester", NO_COLOR: "1", TERM: "xterm-256color" };
  const read = (task: string, file: string): string => readFileSync(join(dir, "tasks", task, file), "utf8");
  return {
    dir,
    env,
    pipe: (input, ...args) => {
      const result = spawnSync(process.execPath, [PAWL, "repl", ...args], { cwd: dir, env, input, encoding: "utf8" });
      return { stdout: result.stdout, stderr: result.stderr, status: result.status };
    },
    open: (...args) => openTerminal([process.execPath, PAWL, ...args], { cwd: dir, env }),
    transcript: (task) =>
      read(task, "transcript.jsonl")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { kind: string; text: string }),
    phase: (task) => (JSON.parse(read(task, "state.json")) as { phase: string }).phase,
  };
}

describe("with commands on standard input", () => {
  it("runs them one after the other, prints no prompt and no colour, and goes on after one that failed", () => {
    const desk = makeDesk();
    const { stdout, stderr, status } = desk.pipe(
      ["# a story", "", "/new Hello slug", "/next", "/nxt", '/override accept it\'s only a "trial"', "/status"].join(
        "\n",
      ),
    );
    expect(stdout).toContain("new: hello-slug");
    expect(stdout).toContain("planning → plan_review");
    expect(stdout).toContain('plan_review → accept: it\'s only a "trial"');
    expect(stdout).toContain("phase     accept");
    expect(stderr).toContain("the planner is at work");
    expect(stderr).toContain("there is no command `/nxt`\n  next: did you mean /next?");
    expect(stdout + stderr).not.toMatch(/\u001b|pawl hello-slug · |> /);
    expect(status).toBe(2);
    expect(desk.phase("hello-slug")).toBe("accept");
  });

  it("ends with the code of the last command that failed, and with 0 when none did", () => {
    const desk = makeDesk();
    expect(desk.pipe("/new One\n/status\n").status).toBe(0);
    expect(desk.pipe("/nonsense\n/override\n/run test\n/status\n").status).toBe(1);
    expect(desk.pipe("/run test\n/nonsense\n/quit\n/run test\n").status).toBe(2);
  });

  it("records every command once, in the task's transcript", () => {
    const desk = makeDesk();
    desk.pipe("/new One\n/status\n/next\n/why\n/redo planning because the plan was wrong\n/override\n/tasks\n/quit\n");
    const commands = desk.transcript("one").filter(({ kind }) => kind === "command");
    expect(commands.map(({ text }) => text)).toEqual([
      "new task: One",
      "/status",
      "next",
      "/why",
      'redo planning --reason "because the plan was wrong"',
      "/override",
      "/tasks",
      "/quit",
    ]);
  });

  it("fills in the current task, which /task changes and a named one does not", () => {
    const desk = makeDesk();
    const { stdout } = desk.pipe("/new One\n/new Two\n/status one\n/status\n/task one\n/status\n/task three\n");
    const asked = [...stdout.matchAll(/^(one|two) {2}/gm)].map(([, task]) => task);
    expect(asked).toEqual(["one", "two", "one"]);
    expect(stdout).toContain("now at one, in planning");
    const again = desk.pipe("/status\n");
    expect(again.stdout).toMatch(/^one {2}One\n/);
  });

  it("takes a task on the command line, and refuses one that does not exist", () => {
    const desk = makeDesk();
    desk.pipe("/new One\n/new Two\n");
    expect(desk.pipe("/status\n", "one").stdout).toMatch(/^one {2}One\n/);
    const { status, stderr } = desk.pipe("/status\n", "tow");
    expect(status).toBe(2);
    expect(stderr).toContain("did you mean two?");
  });

  it("says what is missing instead of asking for it", () => {
    const desk = makeDesk();
    const { stderr, status } = desk.pipe(
      "/new One\n/override test\n/redo\n/resume\n/task\n/answer\n/override accept trial\n/answer\n",
    );
    expect(stderr).toContain("/override needs a reason\n  next: /override test <the reason, in free text>");
    expect(stderr).toContain("/redo needs a phase and a reason");
    expect(stderr).toContain("/resume needs a note");
    expect(stderr).toContain("/task needs the id of a task\n  next: /task one");
    expect(stderr).toContain(
      "/answer needs a choice\n  next: /answer accepted|rejected|deferred <the note, in free text>",
    );
    expect(status).toBe(2);
  });

  it("takes an answer with a note and a target", () => {
    const desk = makeDesk();
    const { stdout, status } = desk.pipe(
      "/new One\n/next\n/override accept trial\n/answer rejected --to planning it's not what I meant\n",
    );
    expect(stdout).toContain("accept → planning");
    expect(status).toBe(0);
    const text = readFileSync(join(desk.dir, "tasks/one/history.jsonl"), "utf8");
    expect(text).toContain("it's not what I meant");
  });

  it("hints in its own words", () => {
    const desk = makeDesk();
    const { stderr } = desk.pipe("/new One\n/next --nonsense\n/spec\n/status one two\n");
    expect(stderr).toContain("next: see `/help <command>`");
    expect(stderr).not.toContain("pawl <command>");
  });

  it("prints one JSON document a line with --json, errors and own commands included", () => {
    const desk = makeDesk();
    const { stdout, stderr, status } = desk.pipe("/new One\n/status\n/nxt\n/override\n/help\n/task one\n", "--json");
    const documents = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(documents.map((document) => Object.keys(document)[0])).toEqual([
      "id",
      "task",
      "error",
      "error",
      "help",
      "task",
    ]);
    expect(stderr).toBe("");
    expect(status).toBe(2);
  });

  it("works in another workspace with --dir", () => {
    const desk = makeDesk();
    const other = join(desk.dir, "..", "other");
    mkdirSync(other);
    const { stdout } = desk.pipe("/new Elsewhere\n/status\n", "--dir", other);
    expect(stdout).toContain("elsewhere  Elsewhere");
    expect(existsSync(join(other, "tasks/elsewhere/task.md"))).toBe(true);
    expect(existsSync(join(desk.dir, "tasks/elsewhere"))).toBe(false);
  });
});

describe("with a signal", () => {
  async function atWork(
    desk: Desk,
  ): Promise<{ child: ChildProcess; said: () => string; ended: Promise<number | null> }> {
    desk.pipe("/new One\n/next\n");
    const child = spawn(process.execPath, [PAWL, "repl"], { cwd: desk.dir, env: desk.env });
    onTestFinished(() => void child.kill("SIGKILL"));
    let said = "";
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    await new Promise<void>((resolve) => {
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        if (said.includes("the reviewer is at work")) resolve();
      });
      child.stdin.write("/next\n/override accept never\n");
    });
    return { child, said: () => said, ended };
  }

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "a script is ended by %s, and what comes after is not run",
    async (signal) => {
      const desk = makeDesk();
      const { child, said, ended } = await atWork(desk);
      child.kill(signal);
      expect(await ended).toBe(130);
      expect(said()).toContain("interrupted: the work on plan_review was interrupted");
      expect(desk.phase("one")).toBe("plan_review");
    },
  );

  it("SIGTERM ends the REPL in a menu", async () => {
    const desk = makeDesk();
    desk.pipe("/new One\n");
    const terminal = desk.open();
    await terminal.see("· planning> ");
    terminal.type("/override\r");
    await terminal.see("❯ planning");
    terminal.kill("SIGTERM");
    expect(await terminal.exitCode).toBe(130);
    expect(desk.phase("one")).toBe("planning");
  });

  it.each(["SIGTERM", "SIGHUP"] as const)("%s ends the REPL at its prompt", async (signal) => {
    const desk = makeDesk();
    const terminal = desk.open();
    await terminal.see("pawl> ");
    terminal.type("half a line");
    await terminal.see("half a line");
    terminal.kill(signal);
    expect(await terminal.exitCode).toBe(130);
  });
});

describe("at a terminal", () => {
  it("shows task and phase, and leaves with Ctrl-D", async () => {
    const desk = makeDesk();
    desk.pipe("/new Hello slug\n");
    const terminal = desk.open();
    await terminal.see("pawl hello-slug · planning> ");
    terminal.type("/next\r");
    await terminal.see("the planner is at work");
    await terminal.see("pawl hello-slug · plan_review> ");
    terminal.type(CTRL_D);
    expect(await terminal.exitCode).toBe(0);
  });

  it("says how to make a task when there is none, and goes over to the new one", async () => {
    const desk = makeDesk();
    const terminal = desk.open("repl");
    await terminal.see("no task yet; make one: /new <title>");
    await terminal.see("pawl> ");
    terminal.type("/new Mend the door\r");
    await terminal.see("pawl mend-the-door · planning> ");
    terminal.type("/quit\r");
    expect(await terminal.exitCode).toBe(0);
  });

  it("lists the tasks when it is not clear which one is meant", async () => {
    const desk = makeDesk();
    for (const id of ["one", "two"]) writeAt(join(desk.dir, `tasks/${id}/task.md`), `---\ntitle: ${id}\n---\n`);
    const terminal = desk.open();
    await terminal.see(/one +\(not begun\)[\s\S]*two +\(not begun\)/);
    await terminal.see("choose one: /task <id>");
    await terminal.see("pawl> ");
    terminal.type("/task\r");
    await terminal.see("Which task?");
    terminal.type(DOWN);
    await terminal.see("❯ two");
    terminal.type("\r");
    await terminal.see("now at two, in planning");
    await terminal.see("pawl two · planning> ");
  });

  it("completes commands, phases and answers with TAB", async () => {
    const desk = makeDesk();
    desk.pipe("/new One\n/override accept trial\n");
    const terminal = desk.open();
    await terminal.see("· accept> ");
    terminal.type("/ans");
    await terminal.see("/ans");
    terminal.type("\t");
    await terminal.see("wer ");
    terminal.type("def");
    await terminal.see("def");
    terminal.type("\t");
    await terminal.see("erred ");
    terminal.type("until Monday\r");
    await terminal.see("accept: ");
    await terminal.see("until Monday");
    await terminal.see("· accept> ");
  });

  it("keeps what was typed between starts, without secrets", async () => {
    const desk = makeDesk();
    desk.pipe("/new One\n");
    const first = desk.open();
    await first.see("· planning> ");
    first.type("/redo planning the key ghp_abcdefghijklmnopqrstuvwxyz0123 leaked\r");
    await first.see("· planning> ");
    first.type("/why\r");
    await first.see("· planning> ");
    first.type("/why\r");
    await first.see("· planning> ");
    first.type(CTRL_D);
    await first.exitCode;
    expect(readFileSync(join(desk.dir, ".pawl/repl-history"), "utf8")).toBe(
      "/redo planning the key [masked] leaked\n/why\n",
    );
    const second = desk.open();
    await second.see("· planning> ");
    second.type(UP);
    await second.see("> /why");
    second.type(UP);
    await second.see("> /redo planning the key [masked] leaked");
  });

  it("interrupts the work with Ctrl-C, and not itself", async () => {
    const desk = makeDesk();
    desk.pipe("/new One\n/next\n");
    const terminal = desk.open();
    await terminal.see("· plan_review> ");
    terminal.type("/next\r");
    await terminal.see("the reviewer is at work");
    const agent = Number(readFileSync(join(desk.dir, "tasks/one/agent.pid"), "utf8"));
    // Nothing is printed for a while: the spinner tells what is under way.
    await terminal.see("/next · ");
    terminal.type(CTRL_C);
    await terminal.see("interrupted: the work on plan_review was interrupted");
    await terminal.see("· plan_review> ");
    expect(() => process.kill(agent, 0)).toThrow("ESRCH");
    terminal.type("/next\r");
    await terminal.see("the reviewer is at work");
    terminal.type(CTRL_C);
    await terminal.see("interrupted: ");
    await terminal.see("· plan_review> ");
    terminal.type(CTRL_D);
    expect(await terminal.exitCode).toBe(0);
    expect(desk.phase("one")).toBe("plan_review");
  });

  it("outlives a second Ctrl-C, when an agent takes its time to end", async () => {
    const desk = makeDesk();
    desk.pipe("/new One\n/next\n");
    writeAt(join(desk.dir, "..", "agent.mjs"), `process.on("SIGTERM", () => console.log("not yet"));\n${AGENT}`);
    const terminal = desk.open();
    await terminal.see("· plan_review> ");
    terminal.type("/next\r");
    await terminal.see("the reviewer is at work");
    terminal.type(CTRL_C);
    await terminal.see("not yet");
    terminal.type(CTRL_C);
    await terminal.see("interrupted: ");
    await terminal.see("· plan_review> ");
    terminal.type(CTRL_D);
    expect(await terminal.exitCode).toBe(0);
  });

  it("goes on reading for more lines than a signal has room for listeners", async () => {
    const desk = makeDesk();
    const terminal = desk.open();
    await terminal.see("pawl> ");
    for (let line = 0; line < 15; line++) {
      terminal.type("#\r");
      await terminal.see("pawl> ");
    }
    terminal.type(CTRL_D);
    await terminal.exitCode;
    expect(terminal.shown()).not.toContain("Warning");
  });

  it("does not run what was pasted after the work that was interrupted", async () => {
    const desk = makeDesk();
    desk.pipe("/new One\n/next\n");
    const terminal = desk.open();
    await terminal.see("· plan_review> ");
    terminal.type("/next\r/override accept never\r");
    await terminal.see("the reviewer is at work");
    terminal.type(CTRL_C);
    await terminal.see("not run: /override accept never");
    await terminal.see("· plan_review> ");
    expect(desk.phase("one")).toBe("plan_review");
  });

  it("clears the line with Ctrl-C, and says how to leave on an empty one", async () => {
    const desk = makeDesk();
    desk.pipe("/new One\n");
    const terminal = desk.open();
    await terminal.see("· planning> ");
    terminal.type("/override accept no");
    await terminal.see("/override accept no");
    terminal.type(CTRL_C);
    await terminal.see("^C");
    await terminal.see("· planning> ");
    terminal.type("\r");
    await terminal.see("· planning> ");
    terminal.type(CTRL_C);
    await terminal.see("to leave: /quit or Ctrl-D");
    await terminal.see("· planning> ");
    expect(desk.phase("one")).toBe("planning");
    terminal.type("/quit\r");
    expect(await terminal.exitCode).toBe(0);
  });

  it("offers the answers, where to go, and asks for a note", async () => {
    const desk = makeDesk();
    desk.pipe("/new One\n/next\n/override accept trial\n");
    const terminal = desk.open();
    await terminal.see("· accept> ");
    terminal.type("/answer\r");
    await terminal.see("Your answer?");
    await terminal.see("❯ accepted");
    terminal.type(DOWN);
    await terminal.see("❯ rejected");
    terminal.type("\r");
    await terminal.see("Where to?");
    await terminal.see("❯ codegen");
    terminal.type(DOWN);
    await terminal.see("❯ review");
    terminal.type(DOWN);
    await terminal.see("❯ planning");
    terminal.type("\r");
    await terminal.see("Why?");
    terminal.type("think again\r");
    await terminal.see("accept → planning");
    await terminal.see("pawl one · planning> ");
    expect(readFileSync(join(desk.dir, "tasks/one/history.jsonl"), "utf8")).toContain("think again");
  });

  it.each([
    ["Ctrl-C", CTRL_C],
    ["Ctrl-D", CTRL_D],
  ])("goes back to the prompt when a menu is cancelled with %s", async (_name, key) => {
    const desk = makeDesk();
    desk.pipe("/new One\n/override accept trial\n");
    const terminal = desk.open();
    await terminal.see("· accept> ");
    terminal.type("/override\r");
    await terminal.see("❯ planning");
    terminal.type(key);
    await terminal.see("cancelled");
    await terminal.see("· accept> ");
    terminal.type("/override\r");
    await terminal.see("❯ planning");
    terminal.type("\r");
    await terminal.see("Why?");
    terminal.type("\r");
    await terminal.see("something has to be said here");
    terminal.type(key);
    await terminal.see("cancelled");
    await terminal.see("· accept> ");
    terminal.type("/status\r");
    await terminal.see("phase     accept");
    await terminal.see("· accept> ");
    terminal.type(CTRL_D);
    expect(await terminal.exitCode).toBe(0);
  });

  it("runs all lines of a paste, and keeps the one that was not ended", async () => {
    const desk = makeDesk();
    desk.pipe("/new One\n");
    const terminal = desk.open();
    await terminal.see("· planning> ");
    terminal.type("/next\r/tasks\r# a note\r/override accept because\r/hist");
    await terminal.see("planning → plan_review");
    await terminal.see("· plan_review> /tasks");
    await terminal.see("· plan_review> /override accept because");
    await terminal.see("plan_review → accept: because");
    await terminal.see("· accept> /hist");
    terminal.type("ory\r");
    await terminal.see("task.created");
    await terminal.see("· accept> ");
    const commands = desk.transcript("one").filter(({ kind }) => kind === "command");
    expect(commands.map(({ text }) => text)).toEqual([
      "new task: One",
      "next",
      "/tasks",
      'override accept --reason "because"',
      "/history",
    ]);
  });

  it("runs what was typed while a command was at work", async () => {
    const desk = makeDesk();
    desk.pipe("/new One\n/next\n");
    const terminal = desk.open();
    await terminal.see("· plan_review> ");
    terminal.type("/next\r");
    await terminal.see("the reviewer is at work");
    terminal.type("/override accept typed ahead\r/stat");
    await terminal.see("/stat");
    writeFileSync(join(desk.dir, "tasks/one/go"), "");
    await terminal.see("plan_review failed");
    await terminal.see("plan_review → accept: typed ahead");
    await terminal.see("· accept> /stat");
    terminal.type("us\r");
    await terminal.see("phase     accept");
  });
});
