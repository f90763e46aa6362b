/** What a host does: it runs one agent, keeps what that prints, shows it to whoever attaches, and ends it when it is told to. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../errors.js";
import { identifyProcess, type ProcessIdentity } from "../../process/identity.js";
import { placeFile } from "../place-file.js";
import { runAgent } from "../run-agent.js";
import type { AgentResult } from "../types.js";
import type { SessionEnd } from "./connect.js";
import type { Ending } from "./ending.js";
import type { Begun, SessionOrder } from "./order.js";
import { Recorder } from "./recorder.js";
import { RotatingLog } from "./rotating-log.js";
import { Viewers } from "./server.js";
import { DEFAULT_SIZE } from "./size.js";
import { openStage, type Stage } from "./stage.js";

/** `answer` is told once, as soon as the agent is at work or cannot be. Resolves when it is over; was it ever at work? */
export async function holdSession(
  order: SessionOrder,
  ending: Ending,
  answer: (begun: Begun) => void,
): Promise<boolean> {
  const { spec, run } = order;
  mkdirSync(run.runDir, { recursive: true });
  const stage = await openStage(order);
  const viewers = new Viewers(
    {
      snapshot: (options) => stage.snapshot(options),
      type: (bytes) => stage.type(bytes),
      resize: (size) => stage.resize(size),
      dismiss: (graceMs) => ending.after(graceMs),
    },
    DEFAULT_SIZE,
  );
  // Before the agent begins: whoever is told that it is at work can attach at once. One that nobody can attach to works too.
  const problem = await listen(viewers, order.socket);
  let isAtWork = false;
  const begin = (pid?: number): void => {
    isAtWork = true;
    answer({ kind: "started", agent: pid === undefined ? null : identityOf(pid), ...problem });
  };
  if (spec.command === null) begin();
  let signal: string | null = null;
  const held = await perform(order, ending, stage, viewers, { begin, onExit: (end) => (signal = end.signal) });
  ending.forget();
  await stage.close();
  const { exitCode, outcome, summary } = held;
  const end: SessionEnd = { exitCode, outcome, signal };
  await viewers.end(JSON.stringify(end));
  if (!isAtWork) answer({ kind: "failed", why: summary });
  return isAtWork;
}

/** It may have ended already, and was there all the same. */
function identityOf(pid: number): ProcessIdentity {
  return identifyProcess(pid) ?? { pid, started: "unknown" };
}

function listen(viewers: Viewers, socket: string): Promise<{ problem?: string }> {
  return viewers.listen(socket).then(
    () => ({}),
    (error: unknown) => ({ problem: messageOf(error) }),
  );
}

async function perform(
  { spec, run, pawlBin }: SessionOrder,
  ending: Ending,
  stage: Stage,
  viewers: Viewers,
  told: { begin: (pid: number) => void; onExit: (end: { signal: string | null }) => void },
): Promise<Pick<AgentResult, "outcome" | "exitCode" | "summary">> {
  const log = new RotatingLog(join(run.runDir, "output.log"));
  try {
    return await runAgent(
      spec,
      { ...run, progress: () => undefined, signal: ending.signal, onStart: told.begin },
      pawlBin,
      {
        log: new Recorder(log, stage, (bytes) => viewers.send(bytes)),
        onTerminal: (terminal) => stage.attach(terminal),
        onExit: told.onExit,
      },
    );
  } catch (error) {
    // Its disk may be full, or its script wrong: what runs it in pawl itself would throw that.
    const result = { outcome: "crashed" as const, exitCode: null, summary: messageOf(error) };
    try {
      placeFile(join(run.runDir, "result.json"), `${JSON.stringify(result, null, 2)}\n`);
    } catch {
      // Nothing can be written there.
    }
    return result;
  }
}
