/** `pawl tool NAME`: an agent's tool as a shell command, with its input as one JSON object on standard input. */
import { readFileSync } from "node:fs";
import { nearest, usage } from "../../errors.js";
import { callTool } from "../../orchestrator/tools/call-tool.js";
import { ALL_TOOLS, type ToolName } from "../../orchestrator/tools/definitions.js";
import { parseStrictJson } from "../../task/strict-json.js";
import { harmless } from "../harmless.js";
import type { Invocation, Report } from "./invocation.js";

export async function toolCommand(call: Invocation): Promise<Report> {
  const [name = ""] = call.args;
  const tool = requireTool(name);
  const answer = await callTool(call.engine, tool, readInput(call), call.text("task"));
  // What a test printed may be anything; on a terminal it must not do anything.
  const text = call.io.outIsTerminal ? harmless(answer.text) : answer.text;
  return { json: answer.json, text: () => text, exitCode: answer.exitCode };
}

function requireTool(name: string): ToolName {
  const tool = ALL_TOOLS.find((each) => each === name);
  if (tool !== undefined) return tool;
  const near = nearest(name, ALL_TOOLS);
  throw usage(`there is no tool \`${name}\`; there are: ${ALL_TOOLS.join(", ")}`, {
    hint: near === undefined ? "see `pawl tool --help`" : `did you mean ${near}?`,
  });
}

/** Nothing at all stands for no arguments. */
function readInput({ io }: Invocation): unknown {
  if (io.inIsTerminal) return {};
  const bytes = readFileSync(0);
  if (bytes.toString("utf8").trim() === "") return {};
  const parsed = parseStrictJson(bytes, "standard input");
  if ("error" in parsed)
    throw usage(parsed.error.message, { findings: [parsed.error], hint: "give one JSON object on standard input" });
  return parsed.value;
}
