import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openScreen } from "../../../src/surfaces/repl/screen.js";

const ERASE = "\r\u001b[K";

describe("the screen", () => {
  let shown = "";
  const draw = (text: string): void => void (shown += text);
  beforeEach(() => {
    shown = "";
    vi.useFakeTimers();
  });
  afterEach(() => vi.useRealTimers());

  it("draws nothing while a command is quick or busy printing", () => {
    const screen = openScreen("/next", draw);
    const write = screen.through(draw);
    for (let tenth = 0; tenth < 20; tenth++) {
      vi.advanceTimersByTime(200);
      write("line\n");
    }
    screen.close();
    expect(shown).toBe("line\n".repeat(20));
  });

  it("tells what is under way when nothing is printed, and takes it away before anything is", () => {
    const screen = openScreen("/next", draw);
    vi.advanceTimersByTime(2100);
    expect(shown).toMatch(/\/next · 2 s$/);
    shown = "";
    screen.through(draw)("done\n");
    expect(shown).toBe(`${ERASE}done\n`);
    screen.close();
    shown = "";
    vi.advanceTimersByTime(5000);
    expect(shown).toBe("");
  });

  it("erases itself at the end", () => {
    const screen = openScreen("/next", draw);
    vi.advanceTimersByTime(1000);
    shown = "";
    screen.close();
    expect(shown).toBe(ERASE);
  });

  it("does not write over half a line, and ends it for the prompt", () => {
    const screen = openScreen("/next", draw);
    screen.through(draw)("half a line");
    vi.advanceTimersByTime(5000);
    screen.close();
    expect(shown).toBe("half a line\n");
  });

  it("never draws where there is no terminal", () => {
    const screen = openScreen("/next", null);
    vi.advanceTimersByTime(5000);
    screen.through(draw)("half a line");
    screen.close();
    expect(shown).toBe("half a line");
  });
});
