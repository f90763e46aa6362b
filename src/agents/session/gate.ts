/** Several may be behind, each for itself: what all of them take from goes on when none of them is. */
import type { Source } from "../../process/run-log.js";

export class Gate {
  private readonly closed = new Set<object>();
  private sources: Source[] = [];

  holdBack(...sources: Source[]): void {
    this.sources = sources;
  }

  get isClosed(): boolean {
    return this.closed.size > 0;
  }

  close(who: object): void {
    this.closed.add(who);
    if (this.closed.size === 1) for (const source of this.sources) source.pause();
  }

  open(who: object): void {
    if (this.closed.delete(who) && !this.isClosed) for (const source of this.sources) source.resume();
  }
}
