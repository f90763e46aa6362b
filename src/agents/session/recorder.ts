/** Where all that an agent prints goes: into its log, and onto its stage, where people see it. */
import type { OutputLog, Source } from "../../process/run-log.js";
import { Gate } from "./gate.js";
import type { Stage } from "./stage.js";

/** The agent waits for a screen that is further behind than the first, until it is no further than the second. */
const MOST_BEHIND = 256 * 1024;
const CAUGHT_UP = 64 * 1024;

export class Recorder implements OutputLog {
  private readonly gate = new Gate();
  private behind = 0;

  constructor(
    private readonly log: OutputLog,
    private readonly stage: Stage,
    private readonly send: (bytes: Buffer) => void,
  ) {
    log.holdBack({ pause: () => this.gate.close(log), resume: () => this.gate.open(log) });
  }

  get isFull(): boolean {
    return this.gate.isClosed;
  }

  holdBack(...sources: Source[]): void {
    this.gate.holdBack(...sources);
  }

  write(chunk: Buffer): void {
    this.log.write(chunk);
    this.behind += chunk.length;
    this.stage.write(chunk, () => {
      this.behind -= chunk.length;
      if (this.behind <= CAUGHT_UP) this.gate.open(this.stage);
    });
    if (this.behind > MOST_BEHIND) this.gate.close(this.stage);
    this.send(chunk);
  }

  end(done: (error: Error | null) => void): void {
    this.log.end(done);
  }

  discard(): void {
    this.log.discard();
  }
}
