/** Agents in hosts: real processes, real terminals, and viewers that are waited for by what they are shown. */
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { onTestFinished } from "vitest";
import { connectSession, type Session, type SessionEnd } from "../../src/agents/session/connect.js";
import type { Begun, SessionOrder } from "../../src/agents/session/order.js";
import { startHost, type WaitingHost } from "../../src/agents/session/start-host.js";
import type { Size } from "../../src/agents/session/size.js";
import { socketPath } from "../../src/agents/session/socket-path.js";
import type { AgentRun, AgentSpec } from "../../src/agents/types.js";
import { livenessOf, type ProcessIdentity } from "../../src/process/identity.js";
import { signalMarked } from "../../src/process/marked.js";
import { makeDirectory } from "./workspace.js";

export interface SessionOptions {
  /** The workspace. */
  dir?: string;
  spec?: Partial<AgentSpec>;
  run?: Partial<AgentRun>;
  then?: SessionOrder["then"];
}

export interface TestSession {
  dir: string;
  runDir: string;
  order: SessionOrder;
  host: WaitingHost;
  begun: Begun;
  /** A file of the run, as it is now; empty where there is none. */
  read(name: string): string;
  result(): { outcome: string; exitCode: number | null; summary: string };
  attach(size?: Size): Promise<TestViewer>;
}

export interface TestViewer extends Session {
  shown(): string;
  /** Waits until the text has been shown; what came before it was looked at last time counts no more. */
  see(text: string): Promise<void>;
  ended: Promise<SessionEnd | null>;
}

export function makeOrder(command: string[] | null, options: SessionOptions = {}): SessionOrder {
  const dir = options.dir ?? makeDirectory();
  const token = options.run?.token ?? randomUUID();
  const run = {
    role: "worker",
    phase: "working",
    attempt: 1,
    repair: 0,
    task: "t1",
    taskDir: dir,
    workspace: dir,
    cwd: dir,
    runDir: join(dir, "runs", "1"),
    prompt: "Do it.",
    artifacts: {},
    env: { PATH: process.env["PATH"] ?? "" },
    token,
    ...options.run,
  };
  return {
    spec: { command, terminal: true, env: [], set: {}, repairs: 0, ...options.spec },
    run,
    pawlBin: join(dir, "bin"),
    socket: socketPath(dir, createHash("sha256").update(token).digest("hex")),
    then: options.then ?? null,
  };
}

/** A host with its agent, which is a shell script unless it is a list. */
export async function openSession(agent: string | string[], options: SessionOptions = {}): Promise<TestSession> {
  const order = makeOrder(typeof agent === "string" ? ["sh", "-c", agent] : agent, options);
  const host = startHost({ ...process.env, ...order.run.env });
  endAfterTest(host.identity, order.run.token);
  const begun = await host.begin(order);
  const { runDir, workspace: dir } = order.run;
  const read = (name: string): string => {
    const path = join(runDir, name);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  };
  return {
    dir,
    runDir,
    order,
    host,
    begun,
    read,
    result: () => JSON.parse(read("result.json")) as ReturnType<TestSession["result"]>,
    attach: (size) => attach(order.socket, size),
  };
}

export async function attach(socket: string, size?: Size): Promise<TestViewer> {
  const session = await connectSession(socket, size);
  if (session === null) throw new Error(`nobody is at ${socket}`);
  onTestFinished(() => session.close());
  const decoder = new StringDecoder("utf8");
  let text = "";
  let check = (): void => undefined;
  const ended = new Promise<SessionEnd | null>((resolve) => session.onEnd(resolve));
  session.onOutput((bytes) => {
    text += decoder.write(bytes);
    check();
  });
  let seenUntil = 0;
  return {
    ...session,
    shown: () => text,
    ended,
    see: (wanted) =>
      new Promise((resolve, reject) => {
        let from = seenUntil;
        check = () => {
          const at = text.indexOf(wanted, from);
          // Where it may have begun.
          from = Math.max(seenUntil, text.length - wanted.length);
          if (at < 0) return;
          seenUntil = at + wanted.length;
          check = () => undefined;
          resolve();
        };
        check();
        void ended.then(() => reject(new Error(`it ended without showing ${wanted}: ${text}`)));
      }),
  };
}

export function endAfterTest(host: ProcessIdentity | null, token: string): void {
  onTestFinished(() => {
    signalMarked({ variable: "PAWL_TOKEN", holds: (value) => value === token }, "SIGKILL");
    try {
      if (host !== null) process.kill(host.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  });
}

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

export function untilGone(identity: ProcessIdentity): Promise<void> {
  return until(() => livenessOf(identity) === "gone");
}
