/**
 * What a terminal would show: by it, somebody who comes late sees what stands there now. It is the terminal that the agent
 * talks to, whoever is attached or not, and answers what an agent asks of its terminal.
 */
import { SerializeAddon } from "@xterm/addon-serialize";
import { Terminal } from "@xterm/headless";
import type { Size } from "./size.js";

/** Lines that have left the screen, for whoever attaches. */
const SCROLLBACK = 1000;

/** Modes that the library obeys or passes over, and leaves out of what it writes down: `\e[?25h` and the like. */
const MORE_MODES = [1005, 1006, 1015, 1016];
const CURSOR = 25;

/** Text has no escapes in it: there is no other place. */
const OTHER_SCREEN = "\u001b[?1049h\u001b[H";

/** Everything off that an agent may have switched on, and an empty screen. */
const AFRESH = [
  "\u001b[?1049l\u001b[r\u001b[0m\u001b[4l\u001b>",
  ...[1, 6, 9, 45, 66, 1000, 1002, 1003, 1004, ...MORE_MODES, 2004].map((mode) => `\u001b[?${mode}l`),
  "\u001b[?7h\u001b[?25h\u001b[H\u001b[2J",
].join("");

export class Screen {
  private readonly terminal: Terminal;
  private readonly serializer = new SerializeAddon();
  private readonly modes = new Set([CURSOR]);

  /** `answer`: what the terminal says to the agent. */
  constructor({ columns, rows }: Size, answer: (text: string) => void) {
    this.terminal = new Terminal({ cols: columns, rows, scrollback: SCROLLBACK, allowProposedApi: true });
    this.terminal.loadAddon(this.serializer);
    this.terminal.onData(answer);
    for (const final of ["h", "l"]) {
      this.terminal.parser.registerCsiHandler({ prefix: "?", final }, (modes) => {
        for (const mode of modes) this.noteMode(Number(mode), final === "h");
        return false;
      });
    }
  }

  write(bytes: Uint8Array, shown?: () => void): void {
    this.terminal.write(bytes, shown);
  }

  /** After all that was written so far: that was meant for the old size. */
  resize({ columns, rows }: Size): void {
    this.terminal.write("", () => this.terminal.resize(columns, rows));
  }

  /** Makes another terminal look like this one; with what has left the screen, where that is asked for. */
  snapshot({ scrollback = false } = {}): Promise<string> {
    return new Promise((resolve) => {
      // Right then: what is written later is not in it.
      this.terminal.write("", () => resolve(this.serialize(scrollback ? SCROLLBACK : 0)));
    });
  }

  /** Resolves when all that was written is shown. */
  settled(): Promise<void> {
    return new Promise((resolve) => this.terminal.write("", resolve));
  }

  /** The visible screen, without what is empty at its end. */
  text(): string {
    const { active } = this.terminal.buffer;
    const lines = Array.from(
      { length: this.terminal.rows },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "",
    );
    return `${lines.join("\n").trimEnd()}\n`;
  }

  private noteMode(mode: number, isOn: boolean): void {
    if (mode !== CURSOR && !MORE_MODES.includes(mode)) return;
    if (isOn) this.modes.add(mode);
    else this.modes.delete(mode);
  }

  private serialize(scrollback: number): string {
    const more = MORE_MODES.filter((mode) => this.modes.has(mode)).map((mode) => `\u001b[?${mode}h`);
    const cursor = this.modes.has(CURSOR) ? "" : "\u001b[?25l";
    // What is written down of the other screen begins without a colour, and would get that of the first.
    const shown = this.serializer.serialize({ scrollback }).replace(OTHER_SCREEN, `${OTHER_SCREEN}\u001b[0m`);
    return `${AFRESH}${shown}${more.join("")}${cursor}`;
  }
}
