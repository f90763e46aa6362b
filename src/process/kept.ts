/** Output in memory, bounded: the first and the last half of what is added. */
export class Kept {
  private readonly head = new Blocks();
  private readonly tail = new Blocks();
  private readonly half: number;
  private left = false;

  constructor(limit: number) {
    this.half = Math.floor(limit / 2);
  }

  get truncated(): boolean {
    return this.left || this.tail.bytes > this.half;
  }

  add(chunk: Buffer): void {
    const room = Math.max(0, this.half - this.head.bytes);
    this.head.add(chunk.subarray(0, room));
    this.tail.add(chunk.subarray(room));
    if (this.tail.keepLast(this.half)) this.left = true;
  }

  text(): string {
    const tail = this.tail.all();
    const gap = this.truncated ? Buffer.from("\n[… output left out here; the log has all of it …]\n") : Buffer.alloc(0);
    return Buffer.concat([this.head.all(), gap, tail.subarray(Math.max(0, tail.length - this.half))]).toString("utf8");
  }
}

/** Bytes in blocks of one size: a buffer for each letter that a command prints would take a hundred times its room. */
class Blocks {
  bytes = 0;
  private blocks: { data: Buffer; used: number }[] = [];

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    for (let rest = chunk; rest.length > 0;) {
      let last = this.blocks.at(-1);
      if (last === undefined || last.used === BLOCK_BYTES) {
        last = { data: Buffer.allocUnsafe(BLOCK_BYTES), used: 0 };
        this.blocks.push(last);
      }
      const copied = rest.copy(last.data, last.used);
      last.used += copied;
      rest = rest.subarray(copied);
    }
  }

  /** Lets go of whole blocks that are not among the last so many bytes; true when there were any. */
  keepLast(bytes: number): boolean {
    const before = this.bytes;
    for (let [first] = this.blocks; first !== undefined && this.bytes - first.used >= bytes; [first] = this.blocks) {
      this.bytes -= first.used;
      this.blocks.shift();
    }
    return this.bytes < before;
  }

  all(): Buffer {
    return Buffer.concat(this.blocks.map(({ data, used }) => data.subarray(0, used)));
  }
}

/** As much as a pipe gives at once. */
const BLOCK_BYTES = 64 * 1024;
