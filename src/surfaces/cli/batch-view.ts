/** What a batch shows while it runs: one line that is redrawn in a terminal, a line for each event without one. */
import type { TaskResult } from "../../orchestrator/batch/batch.js";
import type { Step } from "../../orchestrator/transition.js";
import { cutToWidth } from "../cut-to-width.js";
import type { Io } from "../io.js";
import { styleFor, type Style } from "../style.js";

const BAR = 24;
const ERASE_LINE = "\r\u001b[K";

export class BatchView {
  private readonly running = new Map<string, string>();
  private done = 0;
  private readonly style: Style;
  private readonly live: boolean;

  constructor(
    private readonly io: Io,
    private readonly silent: boolean,
    private readonly total: number,
  ) {
    this.style = styleFor(io, io.errIsTerminal);
    this.live = io.errIsTerminal && !silent;
  }

  started(id: string): void {
    this.running.set(id, "");
    this.draw();
  }

  stepped(id: string, step: Step): void {
    this.running.set(id, step.to);
    if (!this.live) this.line("", `${id}: ${step.from} → ${step.to}: ${step.reason}`);
    this.draw();
  }

  finished({ id, outcome, phase, reason }: TaskResult): void {
    this.running.delete(id);
    this.done++;
    const mark = outcome === "arrived" ? this.style.green("✓") : this.style.yellow("•");
    const why = outcome === "arrived" ? "" : `: ${reason.split("\n")[0] ?? ""}`;
    this.line(mark, ` ${id}: ${outcome}${phase === "" ? "" : ` in ${phase}`}${why}`);
    this.draw();
  }

  close(): void {
    if (this.live) this.io.err(ERASE_LINE);
  }

  /** `mark` is one sign, or none. */
  private line(mark: string, text: string): void {
    if (this.silent) return;
    this.io.err(this.live ? `${ERASE_LINE}${mark}${cutToWidth(text, this.room() - 1)}\n` : `${mark}${text}\n`);
  }

  /** A line that fills the last column has some terminals go on to the next. Asked each time: a window changes its size. */
  private room(): number {
    return this.io.columns() - 1;
  }

  private draw(): void {
    if (!this.live) return;
    const filled = Math.round((BAR * this.done) / this.total);
    const bar = `${"█".repeat(filled)}${"░".repeat(BAR - filled)}`;
    const now = [...this.running].map(([id, phase]) => (phase === "" ? id : `${id} (${phase})`)).join(", ");
    this.io.err(`${ERASE_LINE}${cutToWidth(`${bar} ${this.done}/${this.total}  ${now}`, this.room())}`);
  }
}
