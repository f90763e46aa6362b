/** Many tasks side by side. Each goes as far as its evidence carries it; what one does is no concern of the others. */
import { interrupted, messageOf, PawlError } from "../../errors.js";
import { LONGEST_MS } from "../../process/run.js";
import { loadTask } from "../../task/store.js";
import { advanceToEnd } from "../advance.js";
import { openContext, type Engine, type TaskContext } from "../context.js";
import { isSuccess } from "../dependencies.js";
import type { Step } from "../transition.js";
import type { BatchTask } from "./plan.js";
import { standingOf } from "./standing.js";

/**
 * `arrived`: at its end, or at the phase that `until` names. `waiting`: a human is needed. `refused`: a gate is closed.
 * `failed`: its agent failed, or it could not be worked on. `blocked`: a task that it waits for did not arrive. `stopped`: interrupted, out of
 * budget, or never begun because of `failFast`; a second batch goes on with it.
 */
export type BatchOutcome = "arrived" | "waiting" | "refused" | "failed" | "blocked" | "stopped";

export interface TaskResult {
  id: string;
  outcome: BatchOutcome;
  /** Where it stands; empty where that cannot be told. */
  phase: string;
  steps: number;
  reason: string;
  /** Where to mend it, when that is one file. */
  file?: string;
  durationMs: number;
}

export interface BatchOptions {
  jobs: number;
  until?: string;
  failFast: boolean;
  budgetMs?: number;
  budgetRuns?: number;
  onStart?: (id: string) => void;
  onStep?: (id: string, step: Step) => void;
  onResult?: (result: TaskResult) => void;
}

const MAX_STEPS = 1000;
const OUT_OF_TIME = "the time budget of the batch is used up";
const OUT_OF_RUNS = "the budget of agent runs is used up";

export async function runBatch(engine: Engine, tasks: BatchTask[], options: BatchOptions): Promise<TaskResult[]> {
  const batch = new Batch(engine, tasks, options);
  return batch.run();
}

class Batch {
  private readonly results = new Map<BatchTask, TaskResult>();
  private readonly stop = new AbortController();
  private stopReason = "interrupted";
  private runs = 0;

  constructor(
    private readonly engine: Engine,
    private readonly tasks: BatchTask[],
    private readonly options: BatchOptions,
  ) {}

  async run(): Promise<TaskResult[]> {
    const onAbort = (): void => this.halt("interrupted");
    this.engine.signal?.addEventListener("abort", onAbort, { once: true });
    if (this.engine.signal?.aborted === true) onAbort();
    const { budgetMs } = this.options;
    const timer =
      budgetMs === undefined ? undefined : setTimeout(() => this.halt(OUT_OF_TIME), Math.min(budgetMs, LONGEST_MS));
    try {
      await this.schedule();
    } finally {
      clearTimeout(timer);
      this.engine.signal?.removeEventListener("abort", onAbort);
    }
    return this.tasks.flatMap((task) => this.results.get(task) ?? []);
  }

  private async schedule(): Promise<void> {
    const waiting = new Set(this.tasks);
    const running = new Set<Promise<void>>();
    while (waiting.size > 0 || running.size > 0) {
      for (const task of waiting) {
        const hindrance = this.hindrance(task);
        if (hindrance !== null) {
          waiting.delete(task);
          this.finish(task, hindrance);
        } else if (running.size < this.options.jobs && this.mayBegin(task)) {
          waiting.delete(task);
          const work: Promise<void> = this.work(task).finally(() => running.delete(work));
          running.add(work);
        }
      }
      // Whatever a hindrance settled may hinder or free others; only then is there something to wait for.
      if (running.size > 0) await Promise.race(running);
    }
  }

  /** Why a task will not begin at all. */
  private hindrance(task: BatchTask): Omit<TaskResult, "id"> | null {
    const none = { phase: task.phase, steps: 0, durationMs: 0 };
    if (this.stop.signal.aborted) return { ...none, outcome: "stopped", reason: `not begun: ${this.stopReason}` };
    if (task.hindrance !== null) return { ...none, ...task.hindrance };
    const missing = this.dependencies(task).find(
      (other) => (this.results.get(other)?.outcome ?? "arrived") !== "arrived",
    );
    return missing === undefined ? null : { ...none, outcome: "blocked", reason: `${missing.id} did not arrive` };
  }

  private mayBegin(task: BatchTask): boolean {
    return this.dependencies(task).every((other) => this.results.get(other)?.outcome === "arrived");
  }

  private dependencies(task: BatchTask): BatchTask[] {
    return this.tasks.filter(({ id }) => task.after.includes(id));
  }

  private async work(task: BatchTask): Promise<void> {
    const { until, onStart, onStep } = this.options;
    const started = performance.now();
    let steps = 0;
    let phase = task.phase;
    let outOfRuns = false;
    const beforeRun = (): void => {
      outOfRuns = this.runs === this.options.budgetRuns;
      if (outOfRuns) throw interrupted(OUT_OF_RUNS, { hint: "run the batch again with a larger --budget-runs" });
      this.runs++;
    };
    const settle = (outcome: BatchOutcome, reason: string): void =>
      this.finish(task, { outcome, phase, steps, reason, durationMs: Math.round(performance.now() - started) });
    onStart?.(task.id);
    try {
      const { workspace, id } = task;
      const context = await openContext({ ...this.engine, workspace, signal: this.stop.signal, beforeRun }, id);
      const result = await advanceToEnd(context, {
        maxSteps: MAX_STEPS,
        ...(until === undefined ? {} : { until }),
        onStep: (step) => {
          steps++;
          phase = step.to;
          onStep?.(task.id, step);
        },
      });
      phase = result.phase;
      const isFailure = result.stopped === "end" && !isSuccess(context.workflow, phase);
      if (isFailure) settle("failed", endReason(context) ?? result.reason);
      else if (result.stopped === "end" || result.stopped === "until") settle("arrived", result.reason);
      else settle(result.stopped === "human" ? "waiting" : "refused", result.reason);
    } catch (error) {
      // A failure may have led elsewhere, too.
      phase = (await standingOf(this.engine, task))?.phase ?? phase;
      const outcome = outcomeOf(error);
      if (this.stop.signal.aborted) settle("stopped", this.stopReason);
      // Inside a repair, the work only tells that it was interrupted.
      else settle(outcome, outcome === "stopped" && outOfRuns ? OUT_OF_RUNS : messageOf(error));
    }
  }

  private finish(task: BatchTask, result: Omit<TaskResult, "id">): void {
    this.results.set(task, { id: task.id, ...result });
    this.options.onResult?.({ id: task.id, ...result });
    if (this.options.failFast && (result.outcome === "failed" || result.outcome === "refused"))
      this.halt(`${task.id} did not arrive`);
  }

  /** The work under way is ended and recorded as interrupted; what has not begun does not begin. */
  private halt(reason: string): void {
    if (this.stop.signal.aborted) return;
    this.stopReason = reason;
    this.stop.abort();
  }
}

/** Why it came to the end that is none of success. */
function endReason(context: TaskContext): string | undefined {
  return loadTask(context.dir, context.workflow).state.lastEvent?.reason;
}

function outcomeOf(error: unknown): BatchOutcome {
  if (!(error instanceof PawlError)) return "failed";
  const { kind, data } = error;
  // An attempt that failed once too often has its task wait; whoever looks at the batch wants to know that it failed.
  if (kind === "halted") return data?.["attempt"] === undefined ? "waiting" : "failed";
  if (kind === "interrupted") return "stopped";
  return kind === "refused" ? "refused" : "failed";
}
