/** The screen while a command runs: its output as it comes, and a spinner when there has been none for a while. */

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const TICK_MS = 100;
const QUIET_MS = 400;
const ERASE_LINE = "\r\u001b[K";

export interface Screen {
  /** The same writer, with the spinner out of its way. */
  through(write: (text: string) => void): (text: string) => void;
  /** The command has ended: nothing of the spinner is left, and the cursor stands at the beginning of a line. */
  close(): void;
}

/** `draw` is null where there is no terminal: nothing is drawn there. */
export function openScreen(label: string, draw: ((text: string) => void) | null): Screen {
  const began = Date.now();
  let lastOutput = began;
  let atLineStart = true;
  let frame = 0;
  let drawn = false;

  const erase = (): void => {
    if (drawn) draw?.(ERASE_LINE);
    drawn = false;
  };
  const tick = (): void => {
    const now = Date.now();
    // Half a line of somebody's output is not written over.
    if (!atLineStart || now - lastOutput < QUIET_MS) return;
    draw?.(`${ERASE_LINE}${FRAMES[frame++ % FRAMES.length] ?? ""} ${label} · ${Math.floor((now - began) / 1000)} s`);
    drawn = true;
  };
  const timer = draw === null ? undefined : setInterval(tick, TICK_MS);
  timer?.unref();

  return {
    through: (write) => (text) => {
      if (text === "") return;
      erase();
      write(text);
      atLineStart = text.endsWith("\n");
      lastOutput = Date.now();
    },
    close: () => {
      clearInterval(timer);
      erase();
      // A prompt is drawn from the beginning of the line, over whatever stands there.
      if (!atLineStart) draw?.("\n");
    },
  };
}
