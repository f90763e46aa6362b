import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Recorder } from "../../../src/agents/session/recorder.js";
import { Screen } from "../../../src/agents/session/screen.js";
import { isSame, smallestOf, type Size } from "../../../src/agents/session/size.js";
import type { Stage } from "../../../src/agents/session/stage.js";
import type { OutputLog } from "../../../src/process/run-log.js";

const SIZE: Size = { columns: 40, rows: 10 };

function open(size = SIZE): { screen: Screen; said: string[] } {
  const said: string[] = [];
  return { screen: new Screen(size, (answer) => void said.push(answer)), said };
}

/** Text, ends of lines, colours, movements, clearing, the other screen. */
const PRINTED = fc.array(
  fc.oneof(
    fc.string({ unit: "grapheme-ascii", maxLength: 60 }),
    fc.constantFrom("\r\n", "\u001b[31m", "\u001b[0m", "\u001b[2J", "\u001b[H", "\u001b[K", "ü", "漢字", "\t", "\b"),
    fc.constantFrom("\u001b[?1049h", "\u001b[?1049l", "\u001b[?25l", "\u001b[?25h", "\u001b[5;7H", "\u001b[2A"),
  ),
  { maxLength: 60 },
);

describe("a snapshot", () => {
  it("makes another terminal look the same, whatever stood there", async () => {
    await fc.assert(
      fc.asyncProperty(PRINTED, PRINTED, async (printed, before) => {
        const { screen } = open();
        screen.write(Buffer.from(printed.join("")));
        const other = open().screen;
        other.write(Buffer.from(before.join("")));
        other.write(Buffer.from(await screen.snapshot()));
        await other.settled();
        expect(other.text()).toBe(screen.text());
        expect(await other.snapshot()).toBe(await screen.snapshot());
      }),
      { numRuns: 100 },
    );
  });

  it("is of what was written before it was asked for, and in that size", async () => {
    const { screen } = open();
    screen.write(Buffer.from(`${"x".repeat(60)}\r\n`));
    screen.resize({ columns: 80, rows: 10 });
    const snapshot = screen.snapshot();
    screen.write(Buffer.from("later"));
    expect(await snapshot).not.toContain("later");
    await screen.settled();
    // One line, where there is room for it.
    expect(screen.text()).toBe(`${"x".repeat(60)}\nlater\n`);
  });

  it("has what left the screen only where it is asked for", async () => {
    const { screen } = open();
    for (let n = 1; n <= 100; n++) screen.write(Buffer.from(`line ${n}\r\n`));
    expect(await screen.snapshot()).not.toContain("line 90\r\n");
    expect(await screen.snapshot({ scrollback: true })).toContain("line 1\r\n");
  });
});

describe("a screen", () => {
  it("answers what is asked of it", async () => {
    const { screen, said } = open();
    screen.write(Buffer.from("ab\u001b[6n\u001b[c\u001b[5n"));
    await screen.settled();
    expect(said).toEqual(["\u001b[1;3R", "\u001b[?1;2c", "\u001b[0n"]);
  });

  it("is a text of the lines that can be seen", async () => {
    const { screen } = open();
    for (let n = 1; n <= 20; n++) screen.write(Buffer.from(`line ${n}\r\n`));
    await screen.settled();
    expect(screen.text()).toBe(Array.from({ length: 9 }, (_, n) => `line ${n + 12}\n`).join(""));
    screen.write(Buffer.from("\u001b[?1049h\u001b[2J\u001b[Hother"));
    await screen.settled();
    expect(screen.text()).toBe("other\n");
  });
});

describe("sizes", () => {
  it("the smallest of all fits into each, and is none where nobody has one", () => {
    expect(smallestOf([])).toBe(null);
    expect(
      smallestOf([
        { columns: 100, rows: 20 },
        { columns: 60, rows: 50 },
      ]),
    ).toEqual({ columns: 60, rows: 20 });
    expect(smallestOf([{ columns: 1, rows: 5000 }])).toEqual({ columns: 2, rows: 1000 });
    expect(isSame(SIZE, { ...SIZE, rows: 11 })).toBe(false);
  });
});

describe("an agent that prints faster than it can be taken", () => {
  interface Story {
    recorder: Recorder;
    flow(): string;
    disk: { pause(): unknown; resume(): unknown };
    /** The screen has shown so many pieces. */
    show(count: number): void;
  }

  function makeStory(): Story {
    let flow = "flows";
    let disk: Story["disk"] = { pause: () => undefined, resume: () => undefined };
    const log: OutputLog = {
      isFull: false,
      holdBack: (source) => {
        if (source !== undefined) disk = source;
      },
      write: () => undefined,
      end: (done) => done(null),
      discard: () => undefined,
    };
    const waiting: (() => void)[] = [];
    const stage = { write: (_bytes, shown) => void waiting.push(shown) } as Partial<Stage> as Stage;
    const recorder = new Recorder(log, stage, () => undefined);
    recorder.holdBack({ pause: () => (flow = "waits"), resume: () => (flow = "flows") });
    return { recorder, flow: () => flow, disk, show: (count) => waiting.splice(0, count).forEach((shown) => shown()) };
  }

  const PIECE = Buffer.alloc(64 * 1024);

  it("waits for a screen that is behind, until it has caught up", () => {
    const { recorder, flow, show } = makeStory();
    for (let n = 0; n < 4; n++) recorder.write(PIECE);
    expect(flow()).toBe("flows");
    recorder.write(PIECE);
    expect([flow(), recorder.isFull]).toEqual(["waits", true]);
    show(3);
    expect(flow()).toBe("waits");
    show(1);
    expect([flow(), recorder.isFull]).toEqual(["flows", false]);
  });

  it("waits for the disk and the screen, whichever is behind longer", () => {
    const { recorder, flow, show, disk } = makeStory();
    disk.pause();
    expect(flow()).toBe("waits");
    for (let n = 0; n < 5; n++) recorder.write(PIECE);
    show(5);
    expect(flow()).toBe("waits");
    disk.resume();
    expect(flow()).toBe("flows");
    for (let n = 0; n < 5; n++) recorder.write(PIECE);
    disk.pause();
    disk.resume();
    expect(flow()).toBe("waits");
    show(5);
    expect(flow()).toBe("flows");
  });
});
