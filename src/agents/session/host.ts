/**
 * The process that holds an agent, so that it outlives the pawl that started it. It waits for its order, and does nothing when
 * none comes: the pawl that was to give it has ended. No signal of a terminal ends it; being asked to, it ends its agent first.
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { startAfterThis } from "../../process/start-detached.js";
import { withoutRun } from "../environment.js";
import { Ending } from "./ending.js";
import { holdSession } from "./hold-session.js";
import type { Begun, SessionOrder } from "./order.js";

process.title = "pawl-host";
for (const signal of ["SIGINT", "SIGHUP"]) process.on(signal, () => undefined);
const given = readOrder();
if (given !== null) void obey(given);

/** There is nothing else to do meanwhile. Without the end of its line it was cut off. */
function readOrder(): SessionOrder | null {
  const text = readFileSync(0, "utf8");
  replaceStream(0);
  return text.endsWith("\n") ? (JSON.parse(text) as SessionOrder) : null;
}

async function obey(order: SessionOrder): Promise<void> {
  const ending = new Ending();
  process.on("SIGTERM", () => ending.after(0));
  const wasAtWork = await holdSession(order, ending, answer);
  const { then } = order;
  if (wasAtWork && then !== null) startAfterThis(then.command, { cwd: then.cwd, env: withoutRun(process.env) });
}

/** The pawl that waits for it may have gone. */
function answer(begun: Begun): void {
  try {
    writeSync(1, `${JSON.stringify(begun)}\n`);
  } catch {
    // Nobody is there any more.
  }
  replaceStream(1);
}

/** Lets go of it. Its number stays taken: what is opened next would otherwise be taken for it. */
function replaceStream(fd: number): void {
  closeSync(fd);
  openSync("/dev/null", "r+");
}
