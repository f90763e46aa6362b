/**
 * What is typed, while the program does not read it. The library's own way to write waits for the program in a loop, and
 * this process with it.
 */
import { writeSync } from "node:fs";
import { codeOf } from "../errors.js";

/** Nobody types that much ahead. */
const MOST_TYPED = 1024 * 1024;
const AGAIN_MS = 20;

export class Typed {
  private waiting: Uint8Array[] = [];
  private bytes = 0;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(private readonly fd: number) {}

  add(bytes: Uint8Array): void {
    if (this.isClosed || this.bytes + bytes.length > MOST_TYPED) return;
    this.waiting.push(bytes);
    this.bytes += bytes.length;
    if (this.timer === undefined) this.flush();
  }

  close(): void {
    this.isClosed = true;
    this.waiting = [];
    clearTimeout(this.timer);
  }

  private flush(): void {
    this.timer = undefined;
    for (let [first] = this.waiting; first !== undefined; [first] = this.waiting) {
      let written = 0;
      try {
        written = writeSync(this.fd, first);
      } catch (error) {
        if (codeOf(error) !== "EAGAIN") this.close();
      }
      this.bytes -= written;
      if (this.isClosed) return;
      if (written === first.length) this.waiting.shift();
      else {
        this.waiting[0] = first.subarray(written);
        this.timer = setTimeout(() => this.flush(), AGAIN_MS);
        return;
      }
    }
  }
}
