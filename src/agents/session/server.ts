/** The viewers of an agent: those who are attached, and whoever tells it that it has done its part. */
import { createServer, type Server, type Socket } from "node:net";
import { withoutAnswers } from "./answers.js";
import { FRAME, FrameReader, readNumbers, type Frame } from "./frames.js";
import { isSame, smallestOf, type Size } from "./size.js";
import { listenAt, removeSocket } from "./socket-path.js";
import { Viewer, type Snapshot } from "./viewer.js";

export interface Hosted {
  snapshot: Snapshot;
  type(bytes: Buffer): void;
  resize(size: Size): void;
  dismiss(graceMs: number): void;
}

export class Viewers {
  private readonly viewers = new Set<Viewer>();
  private readonly server: Server = createServer((socket) => this.add(socket));
  private path: string | null = null;

  constructor(
    private readonly hosted: Hosted,
    private size: Size,
  ) {}

  /** Throws where no socket can be made there. */
  async listen(path: string): Promise<void> {
    await listenAt(this.server, path);
    this.path = path;
  }

  send(bytes: Buffer): void {
    for (const viewer of this.viewers) viewer.send(bytes);
  }

  /** Nobody can come any more, and those who are there are told how it ended. */
  async end(last: string): Promise<void> {
    this.server.close();
    if (this.path !== null) removeSocket(this.path);
    await Promise.all([...this.viewers].map((viewer) => viewer.end(last)));
  }

  private add(socket: Socket): void {
    const viewer = new Viewer(socket, this.hosted.snapshot);
    const reader = new FrameReader();
    this.viewers.add(viewer);
    socket.on("data", (chunk) => {
      const frames = reader.add(chunk);
      // Whatever talks like that is none of ours.
      if (frames === null) socket.destroy();
      else for (const each of frames) this.take(viewer, each);
    });
    // It went away while something was on its way to it.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.viewers.delete(viewer);
      this.fit();
    });
  }

  private take(viewer: Viewer, { type, payload }: Frame): void {
    switch (type) {
      case FRAME.size:
        this.see(viewer, payload);
        break;
      case FRAME.input:
        this.hosted.type(withoutAnswers(payload));
        break;
      case FRAME.dismiss:
        this.hosted.dismiss(readNumbers(payload, 1)?.[0] ?? 0);
        break;
      case FRAME.end:
        this.hosted.dismiss(0);
        break;
    }
  }

  private see(viewer: Viewer, payload: Buffer): void {
    const [columns = 0, rows = 0] = readNumbers(payload, 2) ?? [];
    viewer.size = columns === 0 || rows === 0 ? null : { columns, rows };
    this.fit();
    viewer.begin();
  }

  /** Nobody is to be cut off. When the last one has gone, the size stays as it was. */
  private fit(): void {
    const size = smallestOf([...this.viewers].flatMap((viewer) => viewer.size ?? []));
    if (size === null || isSame(size, this.size)) return;
    this.size = size;
    this.hosted.resize(size);
    for (const viewer of this.viewers) viewer.refresh();
  }
}
