/** The last of what an agent without a terminal printed. It can be looked at, and is not typed into. */
import type { Stage } from "./stage.js";

const MOST_BYTES = 64 * 1024;
const MOST_CHUNKS = 1000;

export class PrintedStage implements Stage {
  private chunks: Buffer[] = [];
  private bytes = 0;
  private isWhole = true;

  write(chunk: Buffer, shown: () => void): void {
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    // Now and then: each of many small chunks keeps more than itself.
    if (this.bytes > 2 * MOST_BYTES || this.chunks.length > MOST_CHUNKS) this.shorten();
    shown();
  }

  /** Beginning with a whole line. */
  async snapshot(): Promise<Uint8Array> {
    const all = Buffer.concat(this.chunks);
    return this.isWhole ? all : all.subarray(all.indexOf("\n") + 1);
  }

  attach(): void {
    // It has no terminal.
  }

  type(): void {
    // Its standard input was its prompt.
  }

  resize(): void {
    // It knows of no size.
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private shorten(): void {
    const all = Buffer.concat(this.chunks);
    if (all.length > MOST_BYTES) this.isWhole = false;
    this.chunks = [Buffer.from(all.subarray(-MOST_BYTES))];
    this.bytes = Math.min(all.length, MOST_BYTES);
  }
}
