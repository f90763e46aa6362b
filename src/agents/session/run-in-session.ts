/** Running an agent in a host and waiting for it: where pawl itself needs what comes of it before it can go on. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { PlainText } from "../../process/plain-text.js";
import { readPlainFile } from "../../task/plain-file.js";
import { endOrphan } from "../orphan.js";
import type { AgentResult, AgentRun } from "../types.js";
import { connectSession } from "./connect.js";
import type { SessionOrder } from "./order.js";
import { startHost } from "./start-host.js";

const MOST_BYTES = 1024 * 1024;

export async function runInSession(
  order: SessionOrder,
  { signal, progress }: Pick<AgentRun, "signal" | "progress">,
): Promise<AgentResult> {
  const { run, socket } = order;
  const host = startHost(run.env);
  const over = host.ended();
  const begun = await host.begin(order);
  signal?.addEventListener("abort", host.stop, { once: true });
  if (signal?.aborted === true) host.stop();
  const session = begun.kind === "started" ? await connectSession(socket) : null;
  // Without its colours: whoever wants to see its screen attaches.
  const decoder = new StringDecoder("utf8");
  const plain = new PlainText();
  session?.onOutput((bytes) => progress(plain.add(decoder.write(bytes))));
  const { exitCode } = await over;
  signal?.removeEventListener("abort", host.stop);
  session?.close();
  if (exitCode === 0) return readResult(run.runDir);
  // Its agent may not have noticed.
  endOrphan(createHash("sha256").update(run.token).digest("hex"));
  return crashed(begun.kind === "failed" ? begun.why : "the host of the agent's terminal ended");
}

/** As the host left it: nobody else's is read, because it has ended by itself and was the last to write there. */
function readResult(runDir: string): AgentResult {
  try {
    const record = JSON.parse(readPlainFile(join(runDir, "result.json"), MOST_BYTES).toString("utf8")) as Omit<
      AgentResult,
      "usage" | "stdout"
    >;
    const { outcome, exitCode, durationMs, summary } = record;
    return { outcome, exitCode, durationMs, summary, stdout: "", usage: NOTHING_KNOWN };
  } catch {
    return crashed("the host of the agent's terminal left no result");
  }
}

/** What goes through a terminal is not read. */
const NOTHING_KNOWN = { cost: "unknown", inputTokens: "unknown", outputTokens: "unknown" } as const;

function crashed(summary: string): AgentResult {
  return { outcome: "crashed", exitCode: null, durationMs: 0, summary, stdout: "", usage: NOTHING_KNOWN };
}
