/** When an agent is to end, should it not have ended by itself by then. */
import { LONGEST_MS } from "../../process/run.js";

export class Ending {
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private at = Infinity;

  /** Aborted when the time has come. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The earliest word counts: being told again gives it no more time. */
  after(graceMs: number): void {
    const at = performance.now() + graceMs;
    if (at >= this.at) return;
    this.at = at;
    clearTimeout(this.timer);
    if (graceMs === 0) this.controller.abort();
    else this.timer = setTimeout(() => this.controller.abort(), Math.min(graceMs, LONGEST_MS));
  }

  /** It has ended. */
  forget(): void {
    clearTimeout(this.timer);
  }
}
