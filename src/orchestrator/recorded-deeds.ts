/** What was done in a phase, as the history tells it: runs of its agent, and artifacts that a human left in its place. Pure. */
import type { HistoryEvent } from "../task/history.js";

export type Deed = { kind: "run"; run: number; finished: boolean } | { kind: "left"; hash: string };

/** In their order. `artifact` is what the agent of the phase would leave. */
export function deedsIn(events: HistoryEvent[], phase: string, artifact: string | undefined): Deed[] {
  const deeds: Deed[] = [];
  let done = false;
  for (const { type, from, to, evidence, data } of events.filter((event) => event.from === phase)) {
    if (type === "run.started") deeds.push({ kind: "run", run: Number(data?.["run"]), finished: false });
    const last = deeds.at(-1);
    if (type === "run.finished" || data?.["finished"] !== undefined) {
      done = true;
      if (last?.kind === "run") last.finished = true;
    }
    const hash = artifact === undefined ? undefined : evidence?.[artifact];
    // The table went on from an artifact that no run had left.
    if (data?.["event"] === "next" && hash !== undefined && !done) deeds.push({ kind: "left", hash });
    if (from !== to || data?.["event"] === "next") done = false;
  }
  return deeds;
}
