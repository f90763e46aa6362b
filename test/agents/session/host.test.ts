/** The process that holds an agent: what it does, and what becomes of it and its agent when something else ends. */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { tmpdir } from "node:os";
import { describe, expect, it, onTestFinished } from "vitest";
import { startHost } from "../../../src/agents/session/start-host.js";
import { socketPath } from "../../../src/agents/session/socket-path.js";
import { endOrphan } from "../../../src/agents/orphan.js";
import { identifyProcess, livenessOf } from "../../../src/process/identity.js";
import { sha256 } from "../../../src/workflow/hash.js";
import { PACKAGE } from "../../support/cli.js";
import { makeOrder, openSession, until, untilGone } from "../../support/session.js";
import { makeDirectory } from "../../support/workspace.js";

async function contentOf(path: string): Promise<string> {
  await until(() => existsSync(path) && statSync(path).size > 0);
  return readFileSync(path, "utf8");
}

const HOST = join(PACKAGE, "bin", "host.cjs");

describe("a host without an order", () => {
  it("ends when it is abandoned, and leaves nothing", async () => {
    const host = startHost(process.env);
    expect(livenessOf(host.identity)).toBe("alive");
    host.abandon();
    expect(await host.ended()).toEqual({ exitCode: 0, signal: null });
  });

  it("ends when the pawl that was to give it is killed", async () => {
    const script = `const { spawn } = require("node:child_process");
      const host = spawn(process.execPath, [${JSON.stringify(HOST)}], { detached: true, stdio: ["pipe", "pipe", "ignore"] });
      console.log(host.pid);
      setInterval(() => {}, 1e6);`;
    const pawl = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "ignore"] });
    const pid = Number(await new Promise<Buffer>((resolve) => pawl.stdout.once("data", resolve)));
    const host = identifyProcess(pid);
    pawl.kill("SIGKILL");
    if (host !== undefined) await untilGone(host);
  });

  it("takes an order that was cut off for none", async () => {
    const order = makeOrder(["true"]);
    const host = spawn(process.execPath, [HOST], { stdio: ["pipe", "ignore", "ignore"] });
    host.stdin.end(JSON.stringify(order));
    await new Promise((resolve) => host.once("exit", resolve));
    expect(existsSync(order.run.runDir)).toBe(false);
  });
});

describe("an agent in a host", () => {
  it("is recorded: what it printed, what stood on its screen, how it ended; then somebody looks, and nothing is left", async () => {
    const dir = makeDirectory();
    const look = `echo "token: $PAWL_TOKEN task: $PAWL_TASK sockets: $(ls .pawl/sessions)" > said`;
    const session = await openSession("echo one; printf '\\033[1;1Htwo\\n'; exit 3", {
      dir,
      then: { command: ["sh", "-c", look], cwd: dir },
    });
    expect(session.begun).toMatchObject({ kind: "started", agent: { pid: expect.any(Number) as number } });
    expect(await session.host.ended()).toEqual({ exitCode: 0, signal: null });
    expect(session.read("output.log")).toBe("one\r\n\u001b[1;1Htwo\r\n");
    expect(session.read("screen.txt")).toBe("two\n");
    expect(session.read("prompt.md")).toBe("Do it.");
    expect(session.result()).toMatchObject({ outcome: "crashed", exitCode: 3, summary: "the agent exited with 3" });
    expect(await contentOf(join(dir, "said"))).toBe("token:  task:  sockets: \n");
  });

  it("has its end looked at by somebody who finds the host gone", async () => {
    const dir = makeDirectory();
    const look = `const { readFileSync, writeFileSync } = require("node:fs");
      const pid = readFileSync("host", "utf8");
      let state = "gone";
      try { process.kill(Number(pid), 0); state = "there"; } catch {}
      writeFileSync("said", state);`;
    const go = join(dir, "go");
    const session = await openSession(`while [ ! -e ${go} ]; do sleep 0.01; done`, {
      dir,
      then: { command: [process.execPath, "-e", look], cwd: dir },
    });
    writeFileSync(join(dir, "host"), String(session.host.identity.pid));
    writeFileSync(go, "");
    // This process is its parent, and has to take note of its end.
    await session.host.ended();
    expect(await contentOf(join(dir, "said"))).toBe("gone");
  });

  it("reads its prompt from an argument or a file; its standard input is the terminal", async () => {
    const session = await openSession(
      [
        "sh",
        "-c",
        'test -t 0 && test -t 1 && echo "$1" && cat "$PAWL_PROMPT_FILE" "$2"',
        "sh",
        "{prompt}",
        "{prompt_file}",
      ],
      { run: { prompt: "Do it now." } },
    );
    await session.host.ended();
    expect(session.read("output.log")).toBe("Do it now.\r\nDo it now.Do it now.");
  });

  it("sees none of the secrets that it was not given, and nothing of the terminal that pawl was started in", async () => {
    const env = { PATH: process.env["PATH"] ?? "", MY_API_KEY: "secret", TERM: "dumb", TMUX: "x", COLUMNS: "20" };
    const session = await openSession("echo ${MY_API_KEY-none} $TERM ${TMUX-none} ${COLUMNS-none}; stty size", {
      run: { env },
    });
    await session.host.ended();
    expect(session.read("output.log")).toBe("none xterm-256color none none\r\n40 120\r\n");
  });

  it.runIf(process.platform === "linux")("has a token that its host does not have", async () => {
    const session = await openSession("echo ready; sleep 1000", {
      run: { env: { PATH: process.env["PATH"] ?? "", PAWL_TOKEN: "another", PAWL_TASK: "t0" } },
    });
    await (await session.attach()).see("ready");
    const environment = readFileSync(`/proc/${session.host.identity.pid}/environ`, "utf8");
    expect(environment).not.toMatch(/PAWL_TOKEN|PAWL_TASK/);
    const { begun, order } = session;
    const agent = begun.kind === "started" ? begun.agent : null;
    expect(readFileSync(`/proc/${agent?.pid}/environ`, "utf8")).toContain(`PAWL_TOKEN=${order.run.token}`);
  });

  it.each([
    ["in a terminal", true],
    ["without one", false],
  ])("%s that cannot be started is said at once, and nobody looks", async (_how, terminal) => {
    const dir = makeDirectory();
    const session = await openSession(["pawl-no-such-agent"], {
      dir,
      spec: { terminal },
      then: { command: ["touch", "looked"], cwd: dir },
    });
    const why = "the agent's program pawl-no-such-agent was not found";
    expect(session.begun).toEqual({ kind: "failed", why });
    await session.host.ended();
    expect(session.result()).toMatchObject({ outcome: "not-found", summary: why });
    expect(existsSync(session.order.socket)).toBe(false);
    expect(existsSync(join(dir, "looked"))).toBe(false);
  });

  it.runIf(process.platform === "linux")("whose prompt is too long for an argument is told what to do", async () => {
    const session = await openSession(["echo", "{prompt}"], { run: { prompt: "x".repeat(200_000) } });
    expect(session.begun).toEqual({
      kind: "failed",
      why: "the agent's program echo could not be started: its prompt of 200000 bytes is too long for an argument; leave {prompt} out of its command, and use {prompt_file}",
    });
  });

  it("that is a rehearsal is no process of its own", async () => {
    const order = makeOrder(null, { spec: { terminal: false } });
    const script = join(order.run.taskDir, "rehearsal", "working", "1");
    mkdirSync(script, { recursive: true });
    writeFileSync(join(script, "output.txt"), "rehearsed\n");
    const host = startHost(process.env);
    expect(await host.begin(order)).toEqual({ kind: "started", agent: null });
    await host.ended();
    expect(readFileSync(join(order.run.runDir, "output.log"), "utf8")).toBe("rehearsed\n");
    expect(readFileSync(join(order.run.runDir, "result.json"), "utf8")).toContain(`"outcome": "finished"`);
  });
});

describe("when something ends", () => {
  it("the host: not by a signal of a terminal; being asked to, it ends its agent first", async () => {
    const dir = makeDirectory();
    const session = await openSession("trap 'echo asked; exit 0' HUP TERM; echo ready; while :; do sleep 0.01; done", {
      dir,
      then: { command: ["touch", "looked"], cwd: dir },
    });
    const viewer = await session.attach();
    await viewer.see("ready");
    const { pid } = session.host.identity;
    process.kill(pid, "SIGINT");
    process.kill(pid, "SIGHUP");
    viewer.input(Buffer.from("x"));
    await viewer.see("x");
    process.kill(pid, "SIGTERM");
    expect(await viewer.ended).toMatchObject({ outcome: "interrupted" });
    expect(await session.host.ended()).toEqual({ exitCode: 0, signal: null });
    expect(session.result()).toMatchObject({ outcome: "interrupted", summary: "the agent was interrupted" });
    expect(session.read("output.log")).toContain("asked");
    await until(() => existsSync(join(dir, "looked")));
  });

  it("the host, killed: its agent's terminal is gone, which the agent is told", async () => {
    const dir = makeDirectory();
    const session = await openSession("trap 'echo told > told; exit' HUP; echo ready; while :; do sleep 0.01; done", {
      dir,
    });
    const viewer = await session.attach();
    await viewer.see("ready");
    process.kill(session.host.identity.pid, "SIGKILL");
    expect(await viewer.ended).toBe(null);
    await until(() => existsSync(join(dir, "told")));
    if (session.begun.kind === "started" && session.begun.agent !== null) await untilGone(session.begun.agent);
  });

  it("the agent, by its token: its host goes too, and leaves no socket", async () => {
    const session = await openSession("echo ready; sleep 1000");
    await (await session.attach()).see("ready");
    expect(statSync(session.order.socket).mode & 0o777).toBe(0o600);
    endOrphan(sha256(session.order.run.token));
    await session.host.ended();
    expect(session.result()).toMatchObject({ outcome: "crashed", summary: "the agent was ended by SIGKILL" });
    expect(existsSync(session.order.socket)).toBe(false);
  });

  it("its time, where it has a limit", async () => {
    const session = await openSession("sleep 1000", { spec: { timeoutMs: 50 } });
    await session.host.ended();
    expect(session.result()).toMatchObject({
      outcome: "timeout",
      summary: "the agent was ended after its time limit of 50 ms",
    });
  });
});

describe("the socket", () => {
  it("of a host that was killed is replaced", async () => {
    const dir = makeDirectory();
    const first = await openSession("sleep 1000", { dir });
    process.kill(first.host.identity.pid, "SIGKILL");
    await first.host.ended();
    expect(existsSync(first.order.socket)).toBe(true);
    const { token } = first.order.run;
    const second = await openSession("echo ready; sleep 1000", { dir, run: { token, runDir: join(dir, "2") } });
    expect(second.order.socket).toBe(first.order.socket);
    await (await second.attach()).see("ready");
  });

  it("lies among the temporary files where the workspace's path is too long", async () => {
    const dir = join(makeDirectory(), "a-rather-long-name-of-a-directory".repeat(3));
    mkdirSync(dir);
    const session = await openSession("echo ready; sleep 1000", { dir });
    expect(dirname(session.order.socket)).toBe(join(tmpdir(), `pawl-${String(process.getuid?.())}`));
    expect(statSync(dirname(session.order.socket)).mode & 0o777).toBe(0o700);
    const viewer = await session.attach();
    await viewer.see("ready");
    viewer.end();
    await session.host.ended();
    expect(existsSync(session.order.socket)).toBe(false);
  });

  it.each([
    ["where others may write", 0o777],
    ["where others of the group may write", 0o770],
  ])("is not made %s: the agent works all the same", async (_where, mode) => {
    const dir = makeDirectory();
    mkdirSync(join(dir, ".pawl", "sessions"), { recursive: true });
    chmodSync(join(dir, ".pawl", "sessions"), mode);
    const session = await openSession("echo done", { dir });
    expect(session.begun).toMatchObject({ kind: "started", problem: expect.stringContaining("by others") as string });
    await session.host.ended();
    expect(session.read("output.log")).toBe("done\r\n");
  });

  it("of somebody who is alive is left alone", async () => {
    const dir = makeDirectory();
    const token = "a-token";
    const path = socketPath(dir, sha256(token));
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const other = createServer((socket) => socket.on("error", () => undefined));
    await new Promise<void>((resolve) => other.listen(path, resolve));
    onTestFinished(() => void other.close());
    const session = await openSession("echo done", { dir, run: { token } });
    expect(session.begun).toMatchObject({ kind: "started", problem: expect.stringContaining("EADDRINUSE") as string });
    await session.host.ended();
    expect(session.read("output.log")).toBe("done\r\n");
    expect(existsSync(path)).toBe(true);
  });
});
