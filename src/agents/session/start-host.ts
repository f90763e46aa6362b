/** Starting the process that is to hold an agent: first the process, then, when that is on record, its agent. */
import { join } from "node:path";
import { failed } from "../../errors.js";
import { identifyProcess, type ProcessIdentity } from "../../process/identity.js";
import { startDetached, type Detached } from "../../process/start-detached.js";
import { packageRoot } from "../../system/locate.js";
import { withoutRun } from "../environment.js";
import type { Begun, SessionOrder } from "./order.js";

export type { Begun, SessionOrder } from "./order.js";

/** A host that has no order yet. It ends by itself when this process does, and leaves nothing. */
export interface WaitingHost {
  identity: ProcessIdentity;
  begin(order: SessionOrder): Promise<Begun>;
  abandon(): void;
  /** Its agent is ended now, and with it the host. Of no use before it has begun. */
  stop(): void;
  /** How the host ended, while this process lives to see it. */
  ended(): ReturnType<Detached["ended"]>;
}

/** What comes through it is garbage at once: less room for that saves a third of its memory when an agent prints a lot. */
const SMALL = ["--max-semi-space-size=1"];

export function startHost(env: Record<string, string | undefined>): WaitingHost {
  const root = packageRoot();
  const command = [process.execPath, ...SMALL, join(root, "bin", "host.cjs")];
  // An agent may have had this pawl started: its token is not the host's.
  const host = startDetached(command, { cwd: root, env: withoutRun(env) });
  const identity = host.pid === undefined ? undefined : identifyProcess(host.pid);
  if (identity === undefined)
    throw failed("the process that is to hold the agent could not be started", {
      hint: "see whether this machine can still start processes, then try again",
    });
  return {
    identity,
    begin: (order) => begin(host, order),
    abandon: () => host.stdin.destroy(),
    stop: () => host.kill("SIGTERM"),
    ended: host.ended,
  };
}

function begin(host: Detached, order: SessionOrder): Promise<Begun> {
  host.stdin.end(`${JSON.stringify(order)}\n`);
  return new Promise((resolve) => {
    let text = "";
    host.stdout.setEncoding("utf8");
    const done = (begun: Begun): void => {
      host.stdout.destroy();
      resolve(begun);
    };
    host.stdout.on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("\n")) done(JSON.parse(text) as Begun);
    });
    host.stdout.once("close", () => done({ kind: "failed", why: "the process that was to hold the agent ended" }));
    host.hold();
  });
}
