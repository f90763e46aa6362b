import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { currentProcess, identifyProcess, livenessOf } from "../../src/process/identity.js";

/** Runs until its standard input ends. */
function startProcess(): { pid: number; end(): Promise<void> } {
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return {
    pid: child.pid ?? 0,
    end: () => {
      child.stdin.end();
      return closed;
    },
  };
}

describe("which process is meant", () => {
  it("this one is alive, and always the same", () => {
    expect(currentProcess().pid).toBe(process.pid);
    expect(currentProcess()).toEqual(identifyProcess(process.pid));
    expect(livenessOf(currentProcess())).toBe("alive");
  });

  it("another one is alive until it ends", async () => {
    const other = startProcess();
    const identity = identifyProcess(other.pid)!;
    expect(livenessOf(identity)).toBe("alive");
    await other.end();
    expect(livenessOf(identity)).toBe("gone");
    expect(identifyProcess(other.pid)).toBeUndefined();
  });

  it("a process that has the pid of one that ended is not that one", () => {
    expect(livenessOf({ pid: process.pid, started: "1" })).toBe("gone");
  });

  it("one of which the start was never known is neither alive nor gone", () => {
    expect(livenessOf({ pid: process.pid, started: "unknown" })).toBe("unknown");
  });

  it("a process of somebody else is known by its start too", () => {
    const init = identifyProcess(1);
    if (init !== undefined) expect(livenessOf(init)).toBe("alive");
    expect(livenessOf({ pid: 1, started: "0-not-it" })).toBe("gone");
  });

  it.runIf(process.platform === "linux")("one that has ended, though its parent has not noticed, is gone", async () => {
    // The shell starts a child and becomes a program that never asks for it.
    const parent = spawn("sh", ["-c", "sleep 1000 & echo $!; exec sleep 1000"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void parent.kill("SIGKILL"));
    const pid = Number(
      await new Promise<string>((resolve) => parent.stdout.once("data", (data: Buffer) => resolve(data.toString()))),
    );
    const identity = identifyProcess(pid)!;
    const stat = (of: number): string => readFileSync(`/proc/${of}/stat`, "utf8");
    while (stat(parent.pid ?? 0).includes("(sh)")) await new Promise(setImmediate);
    process.kill(pid, "SIGKILL");
    while (!stat(pid).includes(") Z ")) await new Promise(setImmediate);
    expect(livenessOf(identity)).toBe("gone");
    expect(identifyProcess(pid)).toBeUndefined();
  });
});
