/** What the REPL knows between two lines. All of it can be found again after a restart. */
import { codeOf, messageOf } from "../../errors.js";
import type { Engine } from "../../orchestrator/context.js";
import { appendTranscript } from "../../task/transcript.js";
import { findWorkspace, resolveTask, taskDirectory } from "../../workspace/workspace.js";
import type { Invocation } from "../cli/invocation.js";
import type { Io } from "../io.js";
import type { Shape } from "./shapes.js";

export interface Session {
  call: Invocation;
  io: Io;
  /** A person sits at a terminal: there are prompts, menus and a spinner. */
  interactive: boolean;
  shapes: Shape[];
  current: string | undefined;
}

/** Looked for again each time: a command (`init`) may have made the workspace. */
export function engineOf({ call, io }: Session): Engine {
  const workspace = findWorkspace(io.cwd, io.env, call.text("dir"));
  return { workspace, user: io.user, now: io.now, progress: call.engine.progress };
}

/** What was typed goes to the transcript of the task that it was about, the current one where it named none. */
export function recordTyped(session: Session, line: string, task = session.current): void {
  const { workspace, user, now } = engineOf(session);
  try {
    const directory = taskDirectory(workspace, resolveTask(workspace, task));
    appendTranscript(
      directory,
      { at: now().toISOString(), kind: "command", by: user, text: line.trim() },
      workspace.env,
    );
  } catch (error) {
    // There may be no task to record it with, which the command itself has said. A full disk nobody else tells.
    if (codeOf(error) !== undefined) session.io.err(`note: the transcript could not be written: ${messageOf(error)}\n`);
  }
}
