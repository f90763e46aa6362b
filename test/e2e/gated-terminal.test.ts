/** People at an agent's terminal: the board, in and out, several at once, and reading along. */
import { describe, expect, it } from "vitest";
import { PROGRAM } from "../support/cli.js";
import { DOES_IT, isAlive, makeGated, must, saidBy, type Gated } from "../support/gated.js";
import { openTerminal, type Terminal } from "../support/terminal.js";

const CTRL_RIGHT_BRACKET = "\u001d";
/** Asks on its screen, and goes on with the answer. */
const ASKS = `const rl = require("node:readline").createInterface({ input: process.stdin });
process.stdout.write("May I write hello.txt? [y/N] ");
rl.once("line", (answer) => { console.log("you said " + answer); ${DOES_IT} 
  setInterval(() => { if (fs.existsSync(path.join(__dirname, "go"))) { update("agent-review"); process.exit(0); } }, 10); });
process.stdout.on("resize", () => console.log("now " + process.stdout.columns + " wide"));
say("asked");`;

function open(gated: Gated, words: string[], columns = 100): Terminal {
  return openTerminal([process.execPath, PROGRAM, ...words], { cwd: gated.dir, env: gated.env, columns });
}

async function asked(): Promise<Gated> {
  const gated = makeGated({ worker: ASKS, reviewer: `section("Review", "Verdict: PASS");` });
  must(gated.pawl("next"));
  await saidBy(gated, "asked");
  return gated;
}

describe("the board", () => {
  it("shows who waits for an answer, leads in, and out again with the agent still at work", async () => {
    const gated = await asked();
    const board = open(gated, ["watch", "--interval", "100ms"]);
    await board.see(/t1 +working +\? worker +.*asks: May I write hello\.txt\? \[y\/N\]/);
    board.type("\r");
    await board.see("May I write hello.txt? [y/N]");
    board.type("y\r");
    await board.see("you said y");
    board.type(CTRL_RIGHT_BRACKET);
    await board.see(/t1 +working +● worker/);
    expect(isAlive(gated.mark()?.agent?.pid ?? 0)).toBe(true);
    gated.write("../agents/go", "");
    await board.see(/t1 +reviewing/);
    board.type("q");
    expect(await board.exitCode).toBe(0);
  });

  it("starts an agent again that has ended", async () => {
    const gated = makeGated({ worker: `if (round === 1) process.exit(1); say("second"); forEver();` });
    must(gated.pawl("next"));
    const board = open(gated, ["watch", "--interval", "100ms"]);
    await board.see("✗ worker");
    board.type("\r");
    await board.see("is started for t1");
    await saidBy(gated, "second");
    await board.see(/● worker/);
    board.type("\u0003");
    expect(await board.exitCode).toBe(0);
  });
});

describe("attach", () => {
  it("is for several at once, in the width that all of them have", async () => {
    const gated = await asked();
    const wide = open(gated, ["attach"], 120);
    await wide.see("May I write hello.txt?");
    const narrow = open(gated, ["attach", "t1"], 70);
    await narrow.see("May I write hello.txt?");
    await wide.see("now 70 wide");
    narrow.type("n\r");
    await wide.see("you said n");
    narrow.type(CTRL_RIGHT_BRACKET);
    expect(await narrow.exitCode).toBe(0);
    await wide.see("now 120 wide");
    gated.write("../agents/go", "");
    await wide.see("the agent of t1 has ended");
    expect(await wide.exitCode).toBe(0);
  });

  it("from the REPL comes back to the REPL, whose end the agent survives", async () => {
    const gated = await asked();
    const repl = open(gated, ["repl", "t1"]);
    await repl.see("t1 · working>");
    repl.type("/attach\r");
    await repl.see("May I write hello.txt?");
    repl.type(CTRL_RIGHT_BRACKET);
    await repl.see("detached from t1");
    await repl.see("t1 · working>");
    repl.kill("SIGKILL");
    await repl.exitCode;
    expect(isAlive(gated.mark()?.agent?.pid ?? 0)).toBe(true);
  });

  it("needs a terminal, and somebody at work", () => {
    const gated = makeGated();
    expect(gated.pawl("attach")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("needs a terminal") as string,
    });
  });

  it("says where nobody is at work", async () => {
    const gated = makeGated();
    const terminal = open(gated, ["attach"]);
    await terminal.see("no agent is at work on t1, which is in pending");
    expect(await terminal.exitCode).toBe(1);
  });
});

describe("log --follow", () => {
  it("reads along until the agent has ended", async () => {
    const gated = makeGated({
      worker: `console.log("first"); say("first"); waitFor("go"); console.log("\\u001b[31mlast\\u001b[0m");`,
    });
    must(gated.pawl("next"));
    await saidBy(gated, "first");
    const following = gated.start("log", "--follow");
    gated.write("../agents/go", "");
    const { code, stdout } = await following.finished;
    expect(code).toBe(0);
    expect(stdout.replaceAll("\r", "")).toBe("first\nlast\n");
  });
});
