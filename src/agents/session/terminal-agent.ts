/**
 * An agent in a terminal. Its prompt is never typed: it is an argument, or a file that the agent is told of; its standard
 * input is the keyboard of whoever is attached.
 */
import { join } from "node:path";
import { GRACE_MS, markOf, signalAll } from "../../process/end-process.js";
import { LONGEST_MS } from "../../process/run.js";
import { Log } from "../../process/run-log.js";
import { openTerminal, type Terminal, type TerminalEnd } from "../../process/terminal.js";
import { agentCommand } from "../command.js";
import { agentEnvironment, TOKEN_VARIABLE } from "../environment.js";
import { outcomeOf } from "../outcome.js";
import type { AgentHooks, AgentResult, AgentRun, AgentSpec } from "../types.js";
import { DEFAULT_SIZE } from "./size.js";

/** What the terminal that pawl was started in says of itself: it is not the one that the agent gets. */
const OTHER_TERMINAL = [
  "COLUMNS",
  "LINES",
  "STY",
  "TERMCAP",
  "TERM_PROGRAM",
  "TERM_PROGRAM_VERSION",
  "TMUX",
  "TMUX_PANE",
  "WINDOW",
  "WINDOWID",
];

export async function runTerminalAgent(
  template: string[],
  spec: AgentSpec,
  run: AgentRun,
  pawlBin: string,
  hooks: AgentHooks,
): Promise<Omit<AgentResult, "usage">> {
  const began = performance.now();
  const { command, program, input } = agentCommand(template, run);
  const inherited = Object.entries(agentEnvironment(run, spec.env, pawlBin));
  const env = {
    ...Object.fromEntries(inherited.filter(([name]) => !OTHER_TERMINAL.includes(name))),
    TERM: "xterm-256color",
    ...spec.set,
  };
  const about = { program, carriesPrompt: input === undefined, spec, run };
  const done = (result: Parameters<typeof outcomeOf>[0]): Omit<AgentResult, "usage"> => ({
    ...outcomeOf(result, about),
    durationMs: Math.round(performance.now() - began),
    stdout: "",
  });
  // Before the agent begins: it can write where its log is, and could put something in its place.
  const log = hooks.log ?? new Log(join(run.runDir, "output.log"));
  const terminal = openTerminal(command, { cwd: run.cwd, env, ...DEFAULT_SIZE });
  if ("outcome" in terminal) {
    log.discard();
    return done({ ...terminal, exitCode: null, signal: null });
  }
  log.holdBack(terminal);
  terminal.onData((bytes) => log.write(bytes));
  run.onStart?.(terminal.pid);
  hooks.onTerminal?.(terminal);
  const { end, why } = await endOf(terminal, spec, run, env);
  await new Promise<void>((resolve) => log.end(() => resolve()));
  hooks.onExit?.(end);
  if (why !== undefined) return done({ outcome: why, exitCode: null, signal: end.signal });
  if (end.refused !== undefined) return done({ ...end.refused, exitCode: null, signal: null });
  return done({ outcome: "exited", ...end });
}

/** By itself, or by its time limit, or because whoever had it started says so. */
async function endOf(
  terminal: Terminal,
  spec: AgentSpec,
  { signal }: AgentRun,
  env: Record<string, string>,
): Promise<{ end: TerminalEnd; why?: "timeout" | "interrupted" }> {
  const started = { pid: terminal.pid, mark: markOf(env, TOKEN_VARIABLE) };
  let why: "timeout" | "interrupted" | undefined;
  let finalKill: NodeJS.Timeout | undefined;
  const stop = (because: "timeout" | "interrupted"): void => {
    if (why !== undefined) return;
    why = because;
    // A shell at a terminal does not listen to the second, but it does to the first.
    signalAll(started, "SIGHUP");
    signalAll(started, "SIGTERM");
    finalKill = setTimeout(() => signalAll(started, "SIGKILL"), GRACE_MS);
  };
  const onAbort = (): void => stop("interrupted");
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  const { timeoutMs } = spec;
  const limit =
    timeoutMs === undefined ? undefined : setTimeout(() => stop("timeout"), Math.min(timeoutMs, LONGEST_MS));
  const end = await terminal.ended;
  clearTimeout(limit);
  clearTimeout(finalKill);
  signal?.removeEventListener("abort", onAbort);
  // What an ended agent left running goes too; one that exited by itself may leave a server.
  if (why !== undefined) signalAll(started, "SIGKILL");
  return { end, ...(why === undefined ? {} : { why }) };
}
