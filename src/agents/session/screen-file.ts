/** What stands on an agent's screen, as a file: for people, and for whoever wants to know what it waits for. */
import { join } from "node:path";
import { placeFile } from "../place-file.js";

export const SCREEN_FILE = "screen.txt";

/** After the last output: what is drawn in several pieces is shown whole. */
const QUIET_MS = 300;
/** While it goes on. */
const AT_MOST_EVERY_MS = 1000;

export class ScreenFile {
  private readonly path: string;
  private timer: NodeJS.Timeout | undefined;
  /** When the first output came that is not in the file yet. */
  private changed: number | null = null;
  private written = "";

  constructor(
    runDir: string,
    private readonly text: () => string,
  ) {
    this.path = join(runDir, SCREEN_FILE);
  }

  /** Something was printed. */
  touch(): void {
    const now = performance.now();
    this.changed ??= now;
    if (now - this.changed >= AT_MOST_EVERY_MS) this.save();
    else if (this.timer === undefined) this.timer = setTimeout(() => this.save(), QUIET_MS);
    else this.timer.refresh();
  }

  /** It may be that nothing can be written there any more: the agent goes on all the same. */
  save(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.changed = null;
    const text = this.text();
    if (text === this.written) return;
    this.written = text;
    try {
      placeFile(this.path, text);
    } catch {
      this.written = "";
    }
  }
}
