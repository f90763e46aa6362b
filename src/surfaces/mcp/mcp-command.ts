/** `pawl mcp`: the agent's tools over MCP. Every call stands for itself: nothing is kept between two of them. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { messageOf } from "../../errors.js";
import { callTool } from "../../orchestrator/tools/call-tool.js";
import { ALL_TOOLS, toolDefinitions } from "../../orchestrator/tools/definitions.js";
import { findSystemFile, packageRoot, packageVersion } from "../../system/locate.js";
import { findWorkspace } from "../../workspace/workspace.js";
import type { Invocation, Report } from "../cli/invocation.js";
import type { Serve, Served } from "./types.js";

interface Program {
  load(name: "mcp"): { serve: Serve };
}

const PERSONA = "swe_agent";

export async function mcpCommand(call: Invocation): Promise<Report> {
  const program = createRequire(import.meta.url)(join(packageRoot(), "bin", "pawl.cjs")) as Program;
  const { serve } = program.load("mcp");
  await serve(servedBy(call), call.engine.signal ?? new AbortController().signal);
  return { json: undefined, text: () => "" };
}

function servedBy(call: Invocation): Served {
  const { engine } = call;
  const { root } = engine.workspace;
  const persona = findSystemFile("agents", `${PERSONA}.md`, root);
  return {
    version: packageVersion(),
    instructions:
      "Call get_task for your goal, do exactly that, report it with submit_work. Tests run only through submit_work.",
    tools: toolDefinitions(root, { forTask: call.text("task") !== undefined }),
    prompt: {
      name: PERSONA,
      description: "Who you are when you work with these tools: one step at a time, one attempt, then report.",
      text: persona === undefined ? "Call get_task." : readFileSync(persona.path, "utf8"),
    },
    call: async (name, input) => {
      const tool = ALL_TOOLS.find((each) => each === name);
      if (tool === undefined)
        return {
          text: `there is no tool ${name}; there are: ${ALL_TOOLS.join(", ")}\n\nNext: call get_task`,
          isError: true,
        };
      try {
        // The directory may have become a workspace since the last call.
        const workspace = findWorkspace(call.io.cwd, call.io.env, call.text("dir"));
        return await callTool({ ...engine, workspace, progress: () => undefined }, tool, input, call.text("task"));
      } catch (error) {
        return { text: `a fault in pawl itself: ${messageOf(error)}\n\nNext: stop, and tell a human.`, isError: true };
      }
    },
  };
}
