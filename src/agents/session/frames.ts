/** What is said between a host and its viewers: a byte for what it is, four for its length, and that many bytes. */

export const FRAME = {
  /** To the host: columns and rows; 0 and 0 for a viewer that has no screen. The first word of every viewer. */
  size: 1,
  input: 2,
  /** To the host: how many milliseconds the agent still has. */
  dismiss: 3,
  /** To the host: the agent is to end now. */
  end: 4,
  output: 5,
  /** To a viewer, and the last word: how the agent ended, as JSON. */
  ended: 6,
} as const;

export interface Frame {
  type: number;
  payload: Buffer;
}

const HEADER_BYTES = 5;
/** More than a snapshot or a paste can be. */
const MOST_BYTES = 16 * 1024 * 1024;

export function frame(type: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(type, 0);
  header.writeUInt32BE(payload.length, 1);
  return Buffer.concat([header, payload]);
}

export function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

/** As many as were asked for; null where that is not what was said. */
export function readNumbers(payload: Buffer, count: number): number[] | null {
  if (payload.length !== 4 * count) return null;
  return Array.from({ length: count }, (_, index) => payload.readUInt32BE(4 * index));
}

/** Puts together what comes in pieces. */
export class FrameReader {
  private pieces: Buffer[] = [];
  private bytes = 0;

  /** The frames that are whole now; null for something that is none, after which nothing can be read. */
  add(chunk: Buffer): Frame[] | null {
    this.pieces.push(chunk);
    this.bytes += chunk.length;
    const frames: Frame[] = [];
    for (;;) {
      if (this.bytes < HEADER_BYTES) return frames;
      const header = this.peek(HEADER_BYTES);
      const length = header.readUInt32BE(1);
      if (length > MOST_BYTES) return null;
      if (this.bytes < HEADER_BYTES + length) return frames;
      const whole = this.take(HEADER_BYTES + length);
      frames.push({ type: whole.readUInt8(0), payload: whole.subarray(HEADER_BYTES) });
    }
  }

  /** Joins no more than it must: a long frame would be joined anew with each of its pieces. */
  private peek(bytes: number): Buffer {
    const [first = Buffer.alloc(0)] = this.pieces;
    if (first.length >= bytes) return first;
    const all = Buffer.concat(this.pieces);
    this.pieces = [all];
    return all;
  }

  private take(bytes: number): Buffer {
    const all = this.peek(bytes);
    this.pieces[0] = all.subarray(bytes);
    this.bytes -= bytes;
    return all.subarray(0, bytes);
  }
}
