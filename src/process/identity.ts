/** Which process is meant: a pid alone is reused after a reboot, so it counts together with the start time. */
import { createRequire } from "node:module";
import { statOf } from "./proc.js";

export interface ProcessIdentity {
  pid: number;
  /** Opaque: clock ticks since boot on Linux, a date elsewhere. */
  started: string;
}

export type Liveness = "alive" | "gone" | "unknown";

/** The start time of a process that has ended, but that its parent has not noticed yet. */
const ENDED = "ended";

let current: ProcessIdentity | undefined;

export function currentProcess(): ProcessIdentity {
  return (current ??= identifyProcess(process.pid) ?? { pid: process.pid, started: "unknown" });
}

export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const started = startTime(pid);
  return started === undefined || started === ENDED ? undefined : { pid, started };
}

export function livenessOf(identity: ProcessIdentity): Liveness {
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return "gone";
    // EPERM: the pid exists, but belongs to somebody else; the start time decides.
  }
  const started = startTime(identity.pid);
  if (started === ENDED) return "gone";
  if (started === undefined || identity.started === "unknown") return "unknown";
  return started === identity.started ? "alive" : "gone";
}

/** The process group; known on Linux alone. */
export function groupOf(pid: number): number | undefined {
  const group = Number(statOf(pid)?.[2]);
  return Number.isSafeInteger(group) ? group : undefined;
}

function startTime(pid: number): string | undefined {
  if (process.platform === "linux") return linuxStartTime(pid);
  // Loading it takes longer than all the rest of a short command.
  const { spawnSync } = createRequire(import.meta.url)("node:child_process") as typeof import("node:child_process");
  const ps = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
  const text = ps.status === 0 ? ps.stdout.trim() : "";
  return text === "" ? undefined : text;
}

function linuxStartTime(pid: number): string | undefined {
  const fields = statOf(pid);
  return fields?.[0] === "Z" || fields?.[0] === "X" ? ENDED : fields?.[19];
}
