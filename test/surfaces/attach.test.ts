/** The terminal of whoever attaches: it is left as it was, whatever the agent did to it. */
import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { Screen } from "../../src/agents/session/screen.js";
import { openTerminal } from "../../src/process/terminal.js";
import { PROGRAM } from "../support/cli.js";
import { makeGated, must, saidBy, type Gated } from "../support/gated.js";

const SIZE = { columns: 100, rows: 30 };
/** Another screen, no cursor, the mouse, and a keyboard that sends everything. */
const DRAWS = String.raw`process.stdin.setRawMode(true);
process.stdout.write("\x1b[?1049h\x1b[?25l\x1b[?1002h\x1b[?1006h\x1b[?2004h\x1b[?1hdrawn");
process.stdin.on("data", (typed) => { if (String(typed) === "q") process.exit(0); process.stdout.write("\r\ngot " + JSON.stringify(String(typed))); });
say("drawn"); say("pid", String(process.pid));`;

interface Person {
  type(keys: string): void;
  see(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<unknown>;
  /** What stands on the screen now, and what makes another terminal look like it. */
  screen(): Promise<{ text: string; modes: string; above: string }>;
}

/** Somebody at a shell, who attaches and then looks at the terminal's settings. */
function sitDown(gated: Gated, command: string): Person {
  const terminal = openTerminal(["sh", "-c", `echo before; echo $$; ${command}; stty -a; echo after; read -r _`], {
    cwd: gated.dir,
    env: { ...gated.env, TERM: "xterm-256color" },
    ...SIZE,
  });
  if ("outcome" in terminal) throw new Error(terminal.error);
  onTestFinished(() => terminal.kill("SIGKILL"));
  const screen = new Screen(SIZE, (answer) => terminal.write(Buffer.from(answer)));
  let shown = "";
  let check = (): void => undefined;
  terminal.onData((bytes) => {
    shown += bytes.toString("utf8");
    screen.write(bytes);
    check();
  });
  let seenUntil = 0;
  return {
    type: (keys) => terminal.write(Buffer.from(keys)),
    see: (text) =>
      new Promise((resolve) => {
        check = () => {
          const at = shown.indexOf(text, seenUntil);
          if (at < 0) return;
          seenUntil = at + text.length;
          check = () => undefined;
          resolve();
        };
        check();
      }),
    kill: (signal) => terminal.kill(signal),
    ended: terminal.ended,
    screen: async () => {
      await screen.settled();
      return {
        text: screen.text(),
        modes: await screen.snapshot(),
        above: await screen.snapshot({ scrollback: true }),
      };
    },
  };
}

const ATTACH = `${process.execPath} ${PROGRAM} attach`;

async function drawing(): Promise<Gated> {
  const gated = makeGated({ worker: DRAWS });
  must(gated.pawl("next"));
  await saidBy(gated, "pid");
  return gated;
}

async function expectInOrder(person: Person): Promise<void> {
  await person.see("after");
  const { text, modes } = await person.screen();
  expect(text).toMatch(/[^-]icanon/);
  expect(text).toMatch(/[^-]echo\b/);
  expect(text).not.toContain("drawn");
  // All of them are off in what is sent first; none is on after that.
  expect(modes).not.toMatch(/\?(1049|1002|1006|2004|1)h|\?25l/);
}

describe("after a program that changes everything about a terminal", () => {
  it.each([
    ["Ctrl-]", "\u001d"],
    ["Ctrl-] from a keyboard that tells all keys apart", "\u001b[93;5u"],
  ])("%s leaves it in order, and the agent at work", async (_key, key) => {
    const gated = await drawing();
    const person = sitDown(gated, ATTACH);
    await person.see("attached to t1");
    await person.see("drawn");
    person.type("\u0003");
    await person.see(String.raw`got "\u0003"`);
    expect((await person.screen()).modes).toMatch(/\?1049h.*\?1002h/s);
    person.type(key);
    await person.see("detached from t1; its agent goes on");
    await expectInOrder(person);
    expect(() => process.kill(Number(gated.said("pid")), 0)).not.toThrow();
  });

  it("its end leaves it in order", async () => {
    const gated = await drawing();
    const person = sitDown(gated, ATTACH);
    await person.see("drawn");
    person.type("q");
    await person.see("the agent of t1 has ended: exit code 0");
    await expectInOrder(person);
  });

  it("the end of its host leaves it in order", async () => {
    const gated = await drawing();
    const person = sitDown(gated, ATTACH);
    await person.see("drawn");
    process.kill(gated.mark()?.host.pid ?? 0, "SIGKILL");
    await person.see("the host of t1's agent has ended");
    await expectInOrder(person);
  });

  it.each(["SIGTERM", "SIGHUP"] as const)(
    "the end of the pawl that shows it, by %s, leaves it in order",
    async (signal) => {
      const gated = await drawing();
      // Its own number, so that the shell above it is left out.
      const person = sitDown(gated, `sh -c 'echo $$ > pid; exec ${ATTACH}'`);
      await person.see("drawn");
      process.kill(Number(readFileSync(`${gated.dir}/pid`, "utf8")), signal);
      await expectInOrder(person);
      expect(() => process.kill(Number(gated.said("pid")), 0)).not.toThrow();
    },
  );
});

it("what stood on the screen before is still there, above", async () => {
  const gated = await drawing();
  const person = sitDown(gated, ATTACH);
  await person.see("drawn");
  person.type("\u001d");
  await person.see("after");
  const { above } = await person.screen();
  expect(above).toMatch(/before\r\n\d+\r\nattached to t1; Ctrl-\] detaches\r\n/);
});
