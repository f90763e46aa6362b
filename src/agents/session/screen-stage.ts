/** An agent's terminal, as people see it. What stands on its screen is kept as a file too. */
import type { Terminal } from "../../process/terminal.js";
import { Screen } from "./screen.js";
import { ScreenFile } from "./screen-file.js";
import { DEFAULT_SIZE, type Size } from "./size.js";
import type { Stage } from "./stage.js";

export class ScreenStage implements Stage {
  private terminal: Terminal | undefined;
  private readonly screen = new Screen(DEFAULT_SIZE, (answer) => this.terminal?.write(Buffer.from(answer)));
  private readonly file: ScreenFile;

  constructor(runDir: string) {
    this.file = new ScreenFile(runDir, () => this.screen.text());
  }

  write(bytes: Buffer, shown: () => void): void {
    this.screen.write(bytes, () => {
      shown();
      this.file.touch();
    });
  }

  snapshot(options: { scrollback: boolean }): Promise<string> {
    return this.screen.snapshot(options);
  }

  attach(terminal: Terminal): void {
    this.terminal = terminal;
  }

  type(bytes: Buffer): void {
    this.terminal?.write(bytes);
  }

  resize(size: Size): void {
    this.screen.resize(size);
    this.terminal?.resize(size.columns, size.rows);
  }

  async close(): Promise<void> {
    await this.screen.settled();
    this.file.save();
  }
}
