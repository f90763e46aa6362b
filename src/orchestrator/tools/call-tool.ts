/** An agent's call, from the shell or over MCP. Whatever comes of it is an answer that the agent can act on. */
import { sep } from "node:path";
import { exitCode, PawlError, usage, type Finding } from "../../errors.js";
import { validatorFor } from "../../system/schemas.js";
import { loadWorkflow, PULL_WORKFLOW } from "../../system/workflows.js";
import { gitTop } from "../../workspace/settings.js";
import { directoryWith, taskHere } from "../../workspace/workspace.js";
import { openContext, openWork, type Engine, type TaskContext } from "../context.js";
import { ASK_TOOL, toolSchema, type ToolName } from "./definitions.js";
import type { ToolAnswer } from "./types.js";

/** `task` names a task of the workspace; without it, what is meant goes on in the directory itself. */
export async function callTool(engine: Engine, name: ToolName, input: unknown, task?: string): Promise<ToolAnswer> {
  try {
    const findings = await validatorFor(engine.workspace.root)(toolSchema(name), input, name);
    if (findings.length > 0)
      throw usage(findings[0]?.message ?? "", { findings, hint: `call ${name} again, with an input of that form` });
    const context = await contextOf(engine, task);
    if (context.workflow.state.at === "work") {
      if (name === ASK_TOOL) throw notHere(name);
      const { callTdd } = await import("../tdd/call.js");
      return await callTdd(context, name, input as Record<string, never>);
    }
    const { callForPhase } = await import("./phase-tools.js");
    return await callForPhase(context, name, input);
  } catch (error) {
    if (error instanceof PawlError) return refusalAnswer(name, error);
    throw error;
  }
}

async function contextOf(engine: Engine, task: string | undefined): Promise<TaskContext> {
  const meant = task ?? taskHere(engine.workspace);
  if (meant !== undefined && meant !== PULL_WORKFLOW) return openContext(engine, meant);
  const workflow = await loadWorkflow(PULL_WORKFLOW, engine.workspace.root);
  return openWork(engine, directoryWith(engine.workspace, workflow.state.file) ?? startOf(engine), workflow);
}

/** Where a new run begins: in the repository that the tool was called in, or else in that very directory. */
function startOf({ workspace: { root, cwd } }: Engine): string {
  const isBelow = (directory: string): boolean => directory === root || directory.startsWith(root + sep);
  if (!isBelow(cwd)) return root;
  const top = gitTop(cwd);
  return top !== null && isBelow(top) ? top : cwd;
}

function notHere(name: ToolName): PawlError {
  return new PawlError("refused", `${name} is for the task of a workspace; here, a human is asked by escalating`, {
    hint: "call get_task, and go on as it says",
  });
}

function refusalAnswer(name: ToolName, error: PawlError): ToolAnswer {
  const { kind, message, hint = "call get_task", findings } = error;
  const said = [message, ...findings.map(describe).filter((text) => text !== message)].join("\n");
  const more = { error: { kind, message, hint, exitCode: exitCode(kind), findings } };
  const answer = { isError: true, exitCode: exitCode(kind) };
  if (name !== "submit_work") return { ...answer, text: `${said}\n\nNext: ${hint}`, json: more };
  const json = { status: "FAILURE", output: said, instruction: `Next: ${hint}`, refused: true, ...more };
  const { error: _error, ...shown } = json;
  return { ...answer, text: JSON.stringify(shown, null, 2), json };
}

function describe({ message, pointer, expected, found }: Finding): string {
  if (expected === undefined || found === undefined || message.includes(expected)) return message;
  return `${message}${pointer === undefined ? "" : ` (${pointer})`}: expected ${expected}, found ${found}`;
}
