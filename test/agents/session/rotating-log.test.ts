import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RotatingLog } from "../../../src/agents/session/rotating-log.js";
import { makeDirectory } from "../../support/workspace.js";

const MOST = 1000;

function makeLog(): {
  dir: string;
  log: RotatingLog;
  read: (name: string) => string;
  end: () => Promise<Error | null>;
} {
  const dir = makeDirectory();
  const log = new RotatingLog(join(dir, "output.log"), MOST);
  return {
    dir,
    log,
    read: (name) => readFileSync(join(dir, name), "utf8"),
    end: () => new Promise((resolve) => log.end(resolve)),
  };
}

const line = (n: number): string => `${String(n).padStart(99, "0")}\n`;

describe("a log that goes on for long", () => {
  it("is two files of a bounded size, with the last of it in order", async () => {
    const { dir, log, read, end } = makeLog();
    for (let n = 0; n < 95; n++) log.write(Buffer.from(line(n)));
    expect(await end()).toBe(null);
    expect(readdirSync(dir).sort()).toEqual(["output.1.log", "output.log"]);
    expect(read("output.1.log").length).toBe(MOST);
    expect(read("output.1.log") + read("output.log")).toBe(Array.from({ length: 15 }, (_, n) => line(80 + n)).join(""));
  });

  it("is one file as long as it is short, and none where the agent never began", async () => {
    const { dir, log, read, end } = makeLog();
    log.write(Buffer.alloc(MOST, "x"));
    await end();
    expect(readdirSync(dir)).toEqual(["output.log"]);
    expect(read("output.log").length).toBe(MOST);
    const other = makeLog();
    other.log.discard();
    expect(readdirSync(other.dir)).toEqual([]);
  });

  it("takes a piece that is larger than all of it", async () => {
    const { log, read, end } = makeLog();
    log.write(Buffer.from("before"));
    log.write(Buffer.alloc(3 * MOST, "x"));
    log.write(Buffer.from("after"));
    await end();
    expect(read("output.1.log").length).toBe(3 * MOST);
    expect(read("output.log")).toBe("after");
  });
});

describe("what the agent puts in its place", () => {
  it("a link is put aside, and nothing is written through it", async () => {
    const { dir, log, read, end } = makeLog();
    const secret = join(makeDirectory(), "secret");
    writeFileSync(secret, "mine");
    log.write(Buffer.from("first"));
    rmSync(join(dir, "output.log"));
    symlinkSync(secret, join(dir, "output.log"));
    symlinkSync(secret, join(dir, "output.1.log"));
    log.write(Buffer.alloc(MOST, "x"));
    log.write(Buffer.alloc(MOST, "y"));
    await end();
    expect(readFileSync(secret, "utf8")).toBe("mine");
    expect(read("output.log")).toBe("y".repeat(MOST));
    expect(lstatSync(join(dir, "output.log")).isFile()).toBe(true);
  });

  it("a pipe is not waited for", async () => {
    const { dir, log, read, end } = makeLog();
    log.write(Buffer.from("first"));
    rmSync(join(dir, "output.log"));
    for (const name of ["output.log", "output.1.log"]) execFileSync("mkfifo", [join(dir, name)]);
    log.write(Buffer.alloc(MOST, "x"));
    await end();
    expect(read("output.log")).toBe("x".repeat(MOST));
  });

  it("a directory under the other name goes", async () => {
    const { dir, log, read, end } = makeLog();
    log.write(Buffer.from("first"));
    mkdirSync(join(dir, "output.1.log", "deep"), { recursive: true });
    log.write(Buffer.alloc(MOST, "x"));
    await end();
    expect(read("output.log")).toBe("x".repeat(MOST));
  });

  it("one under its own name is put aside", async () => {
    const { dir, log, read, end } = makeLog();
    log.write(Buffer.from("first"));
    rmSync(join(dir, "output.log"));
    mkdirSync(join(dir, "output.log"));
    log.write(Buffer.alloc(MOST, "x"));
    await end();
    expect(lstatSync(join(dir, "output.1.log")).isDirectory()).toBe(true);
    expect(read("output.log")).toBe("x".repeat(MOST));
  });
});
