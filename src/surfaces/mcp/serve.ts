/**
 * The Model Context Protocol, by its own library, on standard input and output. Built as dist/mcp.cjs: no other command has to
 * load it.
 */
import { Server } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { Serve, Served } from "./types.js";

export const serve: Serve = (served, signal) =>
  new Promise((resolve) => {
    const transport = new StdioServerTransport();
    const handle = serveStdio(() => serverFor(served), { transport });
    const end = (): void => {
      void handle.close();
      resolve();
    };
    process.stdin.once("close", end);
    process.stdin.once("end", end);
    signal.addEventListener("abort", end, { once: true });
  });

/* eslint-disable @typescript-eslint/no-deprecated -- only the low-level server leaves a tool's input to whoever serves it */
/** The low-level server: pawl holds a tool's input against its schema itself, and says what is wrong with it. */
function serverFor({ version, instructions, tools, prompt, call }: Served): Server {
  const server = new Server({ name: "pawl", version }, { capabilities: { tools: {}, prompts: {} }, instructions });
  server.setRequestHandler("tools/list", () => ({
    tools: tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: inputSchema as { type: "object" },
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const { text, isError } = await call(params.name, params.arguments ?? {});
    return { content: [{ type: "text", text }], isError };
  });
  const { name, description, text } = prompt;
  server.setRequestHandler("prompts/list", () => ({ prompts: [{ name, description }] }));
  server.setRequestHandler("prompts/get", ({ params }) => {
    if (params.name !== name) throw new Error(`there is no prompt ${params.name}; there is: ${name}`);
    return { description, messages: [{ role: "user", content: { type: "text", text } }] };
  });
  return server;
}
