/** The log of an agent that may go on for days: two files of a bounded size, the older one under a name of its own. */
import { randomUUID } from "node:crypto";
import { renameSync, rmSync } from "node:fs";
import { Log, type OutputLog, type Source } from "../../process/run-log.js";

const MOST_BYTES = 4 * 1024 * 1024;

/** `output.log` → `output.1.log` */
export function previousPart(path: string): string {
  return path.replace(/\.log$/, ".1.log");
}

export class RotatingLog implements OutputLog {
  private current: Log;
  private bytes = 0;
  private sources: Source[] = [];

  constructor(
    private readonly path: string,
    private readonly mostBytes: number = MOST_BYTES,
  ) {
    this.current = new Log(path);
  }

  get isFull(): boolean {
    return this.current.isFull;
  }

  holdBack(...sources: Source[]): void {
    this.sources = sources;
    this.current.holdBack(...sources);
  }

  write(chunk: Buffer): void {
    // Not while it is behind: whoever waits for it is told by this one, and by no other.
    if (this.bytes > 0 && this.bytes + chunk.length > this.mostBytes && !this.isFull) this.rotate();
    this.bytes += chunk.length;
    this.current.write(chunk);
  }

  end(done: (error: Error | null) => void): void {
    this.current.end(done);
  }

  discard(): void {
    this.current.discard();
  }

  /**
   * What lies under these names by now may be the agent's, a link or a pipe for instance: a rename puts that away or takes its
   * place, and nothing goes through it. Where even that cannot be done, nothing more is recorded.
   */
  private rotate(): void {
    const fresh = `${this.path}.${randomUUID()}.tmp`;
    this.current.end(() => undefined);
    this.current = new Log(fresh);
    this.current.holdBack(...this.sources);
    this.bytes = 0;
    try {
      renameSync(this.path, previousPart(this.path));
    } catch {
      rmSync(previousPart(this.path), { recursive: true, force: true });
    }
    try {
      renameSync(fresh, this.path);
    } catch {
      this.current.discard();
    }
  }
}
