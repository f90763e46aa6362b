/** Where an agent is seen: on a screen that people can type at, or, without a terminal, as the last of what it printed. */
import type { Terminal } from "../../process/terminal.js";
import type { SessionOrder } from "./order.js";
import { PrintedStage } from "./printed-stage.js";
import type { Size } from "./size.js";

export interface Stage {
  /** `shown` is called when it can be seen. */
  write(bytes: Buffer, shown: () => void): void;
  /** What somebody who comes now has missed; with what has left the screen, where that is asked for. */
  snapshot(options: { scrollback: boolean }): Promise<Uint8Array | string>;
  attach(terminal: Terminal): void;
  type(bytes: Buffer): void;
  resize(size: Size): void;
  /** Nothing more will be printed. */
  close(): Promise<void>;
}

export async function openStage({ spec, run }: SessionOrder): Promise<Stage> {
  if (!spec.terminal || spec.command === null) return new PrintedStage();
  // The terminal's own part is large: an agent without one need not have it loaded.
  const { ScreenStage } = await import("./screen-stage.js");
  return new ScreenStage(run.runDir);
}
