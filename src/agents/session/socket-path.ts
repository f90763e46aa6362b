/** Where an agent can be reached: a socket that only its own user can get at. */
import { lstatSync, mkdirSync, rmSync } from "node:fs";
import { connect, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { codeOf } from "../../errors.js";

/** The systems take 104 or 108, a zero at the end included. */
const LONGEST_PATH = 100;

/** `token`: the hash of the token that the agent has. */
export function socketPath(root: string, token: string): string {
  const name = `${token.slice(0, 16)}.sock`;
  const path = join(root, ".pawl", "sessions", name);
  return Buffer.byteLength(path) <= LONGEST_PATH ? path : join(tmpdir(), `pawl-${ownId()}`, name);
}

/** Only a socket: whatever else lies there is somebody else's. */
export function removeSocket(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) rmSync(path, { force: true });
}

/** One that somebody else has put there would have us type into a program of theirs. */
export function isOurSocket(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isSocket() === true && stat.uid === ownId() && whyNotOurs(dirname(path)) === null;
}

export async function listenAt(server: Server, path: string): Promise<void> {
  const directory = dirname(path);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const problem = whyNotOurs(directory);
  if (problem !== null) throw new Error(problem);
  try {
    await listen(server, path);
  } catch (error) {
    if (codeOf(error) !== "EADDRINUSE" || (await isAnswered(path))) throw error;
    // A host that was killed has left it behind.
    removeSocket(path);
    await listen(server, path);
  }
}

/** Where others may write, a socket of theirs may lie in the place of ours. */
function whyNotOurs(directory: string): string | null {
  const stat = lstatSync(directory, { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true) return `${directory} is not a directory`;
  if (stat.uid !== ownId()) return `${directory} is another user's`;
  return (stat.mode & 0o022) === 0 ? null : `${directory} can be written to by others`;
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // The socket is made with these rights; a change afterwards would come too late.
    const before = process.umask(0o177);
    try {
      server.once("error", reject);
      server.listen(path, () => {
        server.removeListener("error", reject);
        resolve();
      });
    } finally {
      process.umask(before);
    }
  });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const done = (isAnswered: boolean): void => {
      socket.destroy();
      resolve(isAnswered);
    };
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
  });
}

function ownId(): number {
  return process.getuid?.() ?? 0;
}
