/** A model on loopback that follows a script. Every request is written down. */
import { appendFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Conversation, Move, Wire } from "./conversation.js";

export interface ModelServer {
  url: string;
  /** How often the model was asked. */
  asked(): number;
  close(): Promise<void>;
}

/** An agent that goes round in a circle is stopped here, not by somebody's patience. */
const MAX_REQUESTS = 200;

export async function startModel(
  wire: Wire,
  decide: (conversation: Conversation) => Move,
  logFile: string,
): Promise<ModelServer> {
  let asked = 0;
  const note = (entry: Record<string, unknown>): void => appendFileSync(logFile, `${JSON.stringify(entry)}\n`);
  const server = createServer((request, response) => {
    void answer(request).then(({ status, type, body }) => {
      response.writeHead(status, { "content-type": type });
      response.end(body);
    });
  });

  const answer = async (request: IncomingMessage): Promise<{ status: number; type: string; body: string }> => {
    const path = new URL(request.url ?? "/", "http://loopback").pathname;
    const failure = (status: number, message: string): { status: number; type: string; body: string } => {
      note({ path, status, message });
      return { status, type: "application/json", body: JSON.stringify({ error: { message } }) };
    };
    try {
      const text = await readAll(request);
      const conversation = text === "" ? null : wire.read(path, JSON.parse(text));
      if (conversation === null) return failure(404, "not part of the script");
      asked += 1;
      if (asked > MAX_REQUESTS) return failure(400, `asked more than ${MAX_REQUESTS} times`);
      const move = decide(conversation);
      note({ path, asked, conversation, move });
      return { status: 200, ...wire.write(path, move, asked) };
    } catch (error) {
      // 400 and not 500: agents try again after a 500.
      return failure(400, String(error));
    }
  };

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    close: () => close(server),
  };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
