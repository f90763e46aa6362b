/** The built program, in a process group of its own that is ended with whoever started it. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../../bin/pawl.cjs", import.meta.url));
/** For the whole way of the task; each run of an agent has its own limit. */
const PATIENCE_MS = 8 * 60_000;
/** Interrupted, pawl ends its agents itself. */
const GRACE_MS = 20_000;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

export function pawl(
  args: string[],
  { work, env }: { work: string; env: Record<string, string> },
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: work,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));

    let stopped = false;
    let final: NodeJS.Timeout | undefined;
    const end = (): void => {
      signalGroup(child.pid, "SIGINT");
      final ??= setTimeout(() => signalGroup(child.pid, "SIGKILL"), GRACE_MS);
    };
    const stop = (): void => {
      stopped = true;
      end();
    };
    const timer = setTimeout(end, PATIENCE_MS);
    for (const signal of SIGNALS) process.once(signal, stop);
    child.once("close", (code) => {
      clearTimeout(timer);
      clearTimeout(final);
      for (const signal of SIGNALS) process.off(signal, stop);
      if (stopped) process.exit(130);
      resolve({ code, output });
    });
  });
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}
