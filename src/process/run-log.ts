/** The log of a command: its complete output, in a file that the command cannot put something else in the place of. */
import { constants, createWriteStream, openSync, rmSync, type WriteStream } from "node:fs";

/** What can be stopped while somebody is behind. */
export interface Source {
  pause(): unknown;
  resume(): unknown;
}

/** Where the output of a command goes. */
export interface OutputLog {
  /** It cannot take more at the moment. */
  readonly isFull: boolean;
  /** What is paused meanwhile. */
  holdBack(...sources: Source[]): void;
  write(chunk: Buffer): void;
  end(done: (error: Error | null) => void): void;
  /** The command never began: whoever tries another one makes the log anew. */
  discard(): void;
}

/** The command waits while the disk is slow; a log that cannot be written does not stop it. */
export class Log implements OutputLog {
  isFull = false;
  private error: Error | null = null;
  private file: WriteStream | null = null;
  private sources: Source[] = [];

  constructor(private readonly path: string) {
    try {
      this.file = createWriteStream(path, { fd: openSync(path, NEW_FILE) });
    } catch (error) {
      this.error = error as Error;
      return;
    }
    this.file.on("drain", () => this.flow());
    this.file.on("error", (error) => {
      this.error = error;
      this.flow();
    });
  }

  holdBack(...sources: Source[]): void {
    this.sources = sources;
  }

  write(chunk: Buffer): void {
    if (this.file === null || this.error !== null || this.file.write(chunk) || this.isFull) return;
    this.isFull = true;
    for (const source of this.sources) source.pause();
  }

  end(done: (error: Error | null) => void): void {
    if (this.file === null || this.error !== null) done(this.error);
    else this.file.end(() => done(this.error));
  }

  discard(): void {
    if (this.file !== null) rmSync(this.path, { force: true });
    this.file?.destroy();
    this.file = null;
  }

  private flow(): void {
    this.isFull = false;
    for (const source of this.sources) source.resume();
  }
}

/** Whatever lies there, a pipe or a link for instance, is left alone. */
const NEW_FILE = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
