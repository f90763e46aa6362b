/** Agents in a terminal in a workflow that pawl drives: their host belongs to the pawl that waits for it. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { identifyProcess } from "../../src/process/identity.js";
import { appears, makeCli, makeTask, PLAN, refuse, type Cli, type TaskFiles } from "../support/cli.js";
import { untilGone } from "../support/session.js";

interface Story {
  cli: Cli;
  task: TaskFiles;
  /** A file beside the workspace, for an agent to say something in. */
  file(name: string): string;
}

/** A task in `planning`, whose agent is at a terminal. */
function makeStory(body: string): Story {
  const cli = makeCli({ git: false });
  const task = makeTask(cli);
  const file = (name: string): string => join(cli.root, "agents", name);
  const command = cli.agent(
    "planner",
    `const say = (name, text) => fs.writeFileSync(path.join(__dirname, name), text);\n${body}`,
  );
  cli.config({ agents: { default: { command, terminal: true } } });
  return { cli, task, file };
}

function sockets(cli: Cli): string[] {
  const directory = join(cli.dir, ".pawl", "sessions");
  return existsSync(directory) ? readdirSync(directory) : [];
}

const AT_WORK = `say("host", String(process.ppid)); say("agent", String(process.pid)); console.log("at work"); setInterval(() => {}, 1e6);`;

describe("an agent in a terminal", () => {
  it("does its phase's work like any other, and nothing is read from what it prints", () => {
    const { cli, task } = makeStory(
      `console.log(JSON.stringify({ terminal: process.stdin.isTTY && process.stdout.isTTY, prompt: fs.existsSync(env.PAWL_PROMPT_FILE) }));
       leave("plan", ${JSON.stringify(PLAN)});`,
    );
    const result = cli.pawl("next");
    expect(result.code, result.stderr).toBe(0);
    expect(task.readJson("state.json")["phase"]).toBe("plan_review");
    expect(task.read("planning/runs/1/output.log")).toBe('{"terminal":true,"prompt":true}\r\n');
    expect(task.read("planning/runs/1/screen.txt")).toBe('{"terminal":true,"prompt":true}\n');
    expect(task.readJson("planning/runs/1/result.json")).toMatchObject({ outcome: "finished", cost: "unknown" });
    expect(sockets(cli)).toEqual([]);
  });

  it("mends what was refused at a terminal of its own", () => {
    const { cli, task } = makeStory(
      `leave("plan", env.PAWL_REPAIR === "1" ? ${JSON.stringify(PLAN)} : { title: "half a plan" });`,
    );
    expect(cli.pawl("next").code).toBe(0);
    expect(task.readJson("planning/runs/1/repair-1/result.json")).toMatchObject({ outcome: "finished", repair: 1 });
  });

  it("that is not there is said as it is of any other", () => {
    const { cli } = makeStory("");
    cli.config({ agents: { default: { command: ["pawl-no-such-agent"], terminal: true } } });
    const result = cli.pawl("next");
    expect(result.code).toBe(4);
    expect(result.stderr).toContain("the agent's program pawl-no-such-agent was not found");
  });

  it("of a preset that does not know of terminals is refused before anything is written", () => {
    const { cli } = makeStory("");
    const { terminal: _terminal, ...preset } = JSON.parse(readFileSync("system/presets/codex.json", "utf8")) as {
      terminal: unknown;
    };
    cli.write("system/presets/codex.json", JSON.stringify(preset));
    cli.config({ agents: { default: { use: "codex", terminal: true } } });
    expect(refuse(cli, "next").error).toMatchObject({
      kind: "invalid",
      message: "the preset codex does not say how it is run in a terminal",
    });
  });
});

describe("when the pawl that waits for it", () => {
  it("is interrupted, the agent and its host end, and that is recorded", async () => {
    const { cli, task, file } = makeStory(AT_WORK);
    const waiting = cli.start("next");
    await appears(file("agent"));
    const host = identifyProcess(Number(readFileSync(file("host"), "utf8")));
    waiting.interrupt();
    expect((await waiting.finished).code).toBe(130);
    if (host !== undefined) await untilGone(host);
    expect(task.readJson("planning/runs/1/result.json")).toMatchObject({ outcome: "interrupted" });
    expect(sockets(cli)).toEqual([]);
  });

  it("is killed, the next one ends the agent, and its host leaves nothing", async () => {
    const { cli, task, file } = makeStory(AT_WORK);
    const waiting = cli.start("next");
    await appears(file("agent"));
    const host = identifyProcess(Number(readFileSync(file("host"), "utf8")));
    const agent = identifyProcess(Number(readFileSync(file("agent"), "utf8")));
    process.kill(waiting.pid, "SIGKILL");
    await waiting.finished;
    expect(sockets(cli)).toHaveLength(1);
    cli.config({ agents: { default: { command: cli.agent("other", `leave("plan", ${JSON.stringify(PLAN)});`) } } });
    const result = cli.pawl("next");
    expect(result.code, result.stderr).toBe(0);
    expect(task.read("history.jsonl")).toContain(`"run.lost"`);
    for (const each of [agent, host]) if (each !== undefined) await untilGone(each);
    expect(sockets(cli)).toEqual([]);
  });
});

it("doctor says whether terminals can be opened", () => {
  const { checks } = makeCli({ git: false }).pawl("doctor", "--json").json();
  expect(checks).toContainEqual({ name: "terminals", ok: true, found: "can be opened" });
});
