/** One who looks at an agent. Who comes late, or was too slow, gets the screen as it is; after that, what is printed. */
import type { Socket } from "node:net";
import { frame, FRAME } from "./frames.js";
import type { Size } from "./size.js";

/** How much may be waiting for one who does not read; what comes after that is left out, and the screen sent anew. */
const MOST_UNREAD = 1024 * 1024;
const MOST_IN_A_FRAME = 1024 * 1024;
/** To read the last of it. */
const PATIENCE_MS = 1000;

export type Snapshot = (options: { scrollback: boolean }) => Promise<Uint8Array | string>;

export class Viewer {
  /** Null until it has said how large its screen is, or where it has none. */
  size: Size | null = null;
  private hasBegun = false;
  private isBehind = false;
  /** What was printed since the snapshot that is on its way. */
  private since: Buffer[] | null = null;
  private shown = Promise.resolve();
  private round = 0;

  constructor(
    private readonly socket: Socket,
    private readonly snapshot: Snapshot,
  ) {
    socket.on("drain", () => {
      if (!this.isBehind) return;
      this.isBehind = false;
      this.show();
    });
  }

  /** What is there so far. Once. */
  begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.show({ scrollback: true });
  }

  /** The screen has become another one. */
  refresh(): void {
    if (this.hasBegun && !this.isBehind) this.show();
  }

  send(bytes: Buffer): void {
    if (this.since !== null) this.since.push(bytes);
    else if (this.hasBegun && !this.isBehind) this.write(bytes);
  }

  /** The last word, after all the others. */
  async end(last: string): Promise<void> {
    await this.shown;
    this.socket.end(frame(FRAME.ended, Buffer.from(last)));
    setTimeout(() => this.socket.destroy(), PATIENCE_MS).unref();
  }

  private show(options = { scrollback: false }): void {
    const round = ++this.round;
    this.since = [];
    this.shown = this.snapshot(options).then((screen) => {
      // A newer one is on its way.
      if (round !== this.round) return;
      const since = this.since ?? [];
      this.since = null;
      for (const bytes of [Buffer.from(screen), ...since]) this.write(bytes);
    });
  }

  private write(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += MOST_IN_A_FRAME)
      this.socket.write(frame(FRAME.output, bytes.subarray(at, at + MOST_IN_A_FRAME)));
    this.isBehind = this.socket.writableLength > MOST_UNREAD;
  }
}
