/** Those who look at an agent: what they see, what they may do, and what they cannot do to it. */
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { frame, FRAME, numbers } from "../../../src/agents/session/frames.js";
import { Screen } from "../../../src/agents/session/screen.js";
import type { Size } from "../../../src/agents/session/size.js";
import { livenessOf } from "../../../src/process/identity.js";
import { openSession, until, untilGone, type TestSession } from "../../support/session.js";
import { makeDirectory } from "../../support/workspace.js";

const WIDE: Size = { columns: 100, rows: 20 };
const TALL: Size = { columns: 60, rows: 50 };
/** Says its size whenever that changes, and ends with `q`. */
const SIZES = [
  process.execPath,
  "-e",
  `process.stdout.on("resize", () => console.log("size " + process.stdout.rows + " " + process.stdout.columns));
   process.stdin.on("data", (typed) => String(typed).includes("q") && process.exit());
   console.log("ready");`,
];

/** What a terminal of that size shows after it has been sent this. */
async function screenOf(sent: string, size: Size): Promise<string> {
  const screen = new Screen(size, () => undefined);
  screen.write(Buffer.from(sent));
  await screen.settled();
  return screen.text();
}

describe("the window", () => {
  it("is as large as the smallest viewer's, in each direction, and stays when the last one leaves", async () => {
    const session = await openSession(SIZES);
    const first = await session.attach();
    await first.see("ready");
    const wide = await session.attach(WIDE);
    await wide.see("size 20 100");
    const tall = await session.attach(TALL);
    await tall.see("size 20 60");
    await wide.see("size 20 60");
    tall.close();
    await wide.see("size 20 100");
    wide.resize(90, 30);
    await wide.see("size 30 90");
    wide.close();
    const other = await session.attach();
    other.input(Buffer.from("stay\r"));
    await other.see("stay");
    other.input(Buffer.from("q\r"));
    await session.host.ended();
    expect(session.read("output.log").match(/size [\d ]+/g)).toEqual([
      "size 20 100",
      "size 20 60",
      "size 20 100",
      "size 30 90",
    ]);
  });

  it("is none of the business of a viewer without a screen", async () => {
    const session = await openSession("echo ready; read -r _; stty size");
    const viewer = await session.attach();
    await viewer.see("ready");
    viewer.input(Buffer.from("\r"));
    await viewer.see("40 120");
  });
});

describe("a viewer who comes late", () => {
  it("sees the screen as it is, and then what is printed", async () => {
    const session = await openSession(
      "printf 'red: \\033[31mred\\033[0m\\nand a half line'; echo > ready; read -r line; echo \" got $line\"",
    );
    await until(() => existsSync(join(session.dir, "ready")));
    const viewer = await session.attach();
    await viewer.see("half line");
    expect(viewer.shown()).toContain("\u001b[31mred");
    viewer.input(Buffer.from("it\r"));
    expect(await viewer.ended).toEqual({ exitCode: 0, signal: null, outcome: "finished" });
    expect(await screenOf(viewer.shown(), { columns: 120, rows: 40 })).toBe("red: red\nand a half lineit\n got it\n");
  });

  it("sees the other screen of a program that draws on one, and finds its terminal in the same mode", async () => {
    const session = await openSession(
      "echo before; printf '\\033[?1049h\\033[2J\\033[5;10Hdrawn\\033[?25l\\033[?1002h\\033[?1006h\\033[?2004h'; echo > ready; sleep 1000",
    );
    await until(() => existsSync(join(session.dir, "ready")));
    const viewer = await session.attach(WIDE);
    await viewer.see("drawn");
    await viewer.see("\u001b[?2004h");
    const sent = viewer.shown();
    expect(await screenOf(sent, WIDE)).toBe(`${"\n".repeat(4)}${" ".repeat(9)}drawn\n`);
    for (const mode of ["?1049h", "?1002h", "?2004h"]) expect(sent).toContain(`\u001b[${mode}`);
    await viewer.see("\u001b[?1006h");
    await viewer.see("\u001b[?25l");
  });

  it("sees what has left the screen too", async () => {
    const session = await openSession(
      "i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo line $i; done; echo > ready; sleep 1000",
    );
    await until(() => existsSync(join(session.dir, "ready")));
    const viewer = await session.attach(WIDE);
    await viewer.see("line 1\r\n");
    await viewer.see("line 300");
  });

  it("finds what an agent without a terminal printed last, and cannot type", async () => {
    const session = await openSession(
      "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); echo line $i; done; echo > ready; cat; sleep 1000",
      {
        spec: { terminal: false },
      },
    );
    await until(() => existsSync(join(session.dir, "ready")));
    const viewer = await session.attach(WIDE);
    await viewer.see("line 30000\n");
    expect(viewer.shown()).toMatch(/^line \d+\n/);
    expect(viewer.shown()).not.toContain("line 1000\n");
    viewer.input(Buffer.from("typed\n"));
    viewer.end();
    expect(await viewer.ended).toMatchObject({ outcome: "interrupted" });
    expect(session.read("output.log")).not.toContain("typed");
  });
});

describe("whoever leaves", () => {
  it("leaves the agent at work", async () => {
    const session = await openSession("while read -r line; do echo got $line; done");
    const one = await session.attach(WIDE);
    one.input(Buffer.from("one\r"));
    await one.see("got one");
    one.close();
    const two = await session.attach(WIDE);
    await two.see("got one");
    two.input(Buffer.from("two\r"));
    await two.see("got two");
    expect(livenessOf(session.host.identity)).toBe("alive");
  });
});

describe.runIf(process.platform === "linux")("a viewer that does not read", () => {
  const LINES = 60_000;
  const LINE = "0123456789".repeat(7);

  it("neither stops the agent nor fills memory, and sees the last of it when it reads again", async () => {
    const session = await openSession([
      process.execPath,
      "-e",
      `const piece = ${JSON.stringify(`${LINE}\n`)}.repeat(1000);
       let n = 0;
       const more = () => {
         while (n++ < ${LINES / 1000}) if (!process.stdout.write(piece)) return process.stdout.once("drain", more);
         console.log("all said");
       };
       process.stdin.once("data", more);`,
    ]);
    const slow = await session.attach(WIDE);
    slow.pause();
    const quick = await session.attach(WIDE);
    quick.input(Buffer.from("\r"));
    await quick.see("all said");
    expect(residentMiB(session)).toBeLessThan(100);
    slow.resume();
    await slow.see("all said");
    // What was left out in between was not kept for it.
    expect(existsSync(join(session.runDir, "output.1.log"))).toBe(true);
    expect(slow.shown().length).toBeLessThan(3 * 1024 * 1024);
    expect(await screenOf(slow.shown(), WIDE)).toBe(await screenOf(quick.shown(), WIDE));
  });
});

function residentMiB({ host }: TestSession): number {
  const status = readFileSync(`/proc/${host.identity.pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

describe("an agent that asks its terminal", () => {
  /** Asks where the cursor is, says what it was told, and then what was typed. */
  const ASKS = [
    `stty raw -echo; printf 'ab\\033[6n'`,
    `while [ "$c" != R ]; do c=$(dd bs=1 count=1 2>/dev/null); a="$a$c"; done; printf '%s' "$a" | od -An -c`,
    `echo > asked; dd bs=1 count=1 2>/dev/null | od -An -c; sleep 1000`,
  ].join("; ");

  it("is answered though nobody is attached", async () => {
    const session = await openSession(ASKS);
    await until(() => session.read("output.log").includes("[   1   ;   3   R"));
  });

  it("gets one answer, and not that of every terminal on which it is shown", async () => {
    const session = await openSession(ASKS);
    await until(() => existsSync(join(session.dir, "asked")));
    const viewer = await session.attach(WIDE);
    viewer.input(Buffer.from("\u001b[1;11Rx"));
    await viewer.see("   x");
  });
});

describe("an agent that has done its part", () => {
  it("may end by itself", async () => {
    const session = await openSession("echo ready; read -r _; exit 0");
    const viewer = await session.attach();
    await viewer.see("ready");
    viewer.dismiss(60_000);
    viewer.input(Buffer.from("\r"));
    expect(await viewer.ended).toEqual({ exitCode: 0, signal: null, outcome: "finished" });
  });

  it.each([
    ["in a terminal", true],
    ["without one", false],
  ])("%s is ended when its time is over, which a second word does not prolong", async (_how, terminal) => {
    const session = await openSession("echo ready; sleep 1000", { spec: { terminal } });
    const viewer = await session.attach();
    await viewer.see("ready");
    viewer.dismiss(50);
    viewer.dismiss(1e9);
    expect(await viewer.ended).toMatchObject({ outcome: "interrupted" });
    await session.host.ended();
    expect(existsSync(session.order.socket)).toBe(false);
  });

  it("is ended though it does not listen, with all that it started, wherever that is", async () => {
    const dir = makeDirectory();
    const session = await openSession(
      "trap '' HUP TERM; setsid sh -c 'trap \"\" HUP TERM; echo $$ > other; while :; do sleep 0.1; done' & while [ ! -s other ]; do sleep 0.01; done; echo ready; while :; do sleep 0.1; done",
      { dir },
    );
    const viewer = await session.attach();
    await viewer.see("ready");
    const other = { pid: Number(readFileSync(join(dir, "other"), "utf8")), started: "unknown" };
    viewer.end();
    expect(await viewer.ended).toMatchObject({ outcome: "interrupted", signal: "SIGKILL" });
    await untilGone(other);
  });
});

describe("somebody who does not speak as viewers do", () => {
  it("is turned away, and the agent goes on", async () => {
    const session = await openSession("echo ready; read -r _; echo still here");
    const stranger = connect(session.order.socket);
    onTestFinished(() => void stranger.destroy());
    const closed = new Promise((resolve) => stranger.once("close", resolve));
    stranger.on("error", () => undefined);
    stranger.resume();
    stranger.write(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
    await closed;
    const viewer = await session.attach();
    await viewer.see("ready");
    viewer.input(Buffer.from("\r"));
    await viewer.see("still here");
  });

  it("and sizes that make no sense are no sizes", async () => {
    const session = await openSession("echo ready; read -r _; stty size");
    const viewer = await session.attach();
    await viewer.see("ready");
    const stranger = connect(session.order.socket);
    onTestFinished(() => void stranger.destroy());
    for (const payload of [numbers(0, 5), numbers(7), Buffer.alloc(0)]) stranger.write(frame(FRAME.size, payload));
    stranger.write(frame(FRAME.input, Buffer.from("\r")));
    await viewer.see("40 120");
  });

  it("and huge ones are cut down", async () => {
    const session = await openSession("echo ready; read -r _; stty size");
    const viewer = await session.attach({ columns: 2 ** 31, rows: 1 });
    await viewer.see("ready");
    viewer.input(Buffer.from("\r"));
    await viewer.see("2 1000");
  });
});
