import { describe, expect, it } from "vitest";
import { PawlError } from "../../../src/errors.js";
import { parseLine, toArgv, type Request } from "../../../src/surfaces/repl/parse-line.js";
import { shapes } from "./shapes.js";

const parse = (line: string, current: string | undefined = "mine"): Request =>
  parseLine(line, { shapes, current, taskIds: ["mine", "other"] });

function argv(line: string, current?: string): string[] {
  const request = parse(line, current);
  if (request.kind !== "command") throw new Error(`expected a command, found ${request.kind}`);
  expect(request.missing).toEqual([]);
  return toArgv(request);
}

function missing(line: string): string[] {
  const request = parse(line);
  return request.kind === "command" ? request.missing : [];
}

describe("commands as on the command line", () => {
  it.each([
    ["/next", ["next", "mine"]],
    ["  /next  ", ["next", "mine"]],
    ["/next other", ["next", "other"]],
    ["/next --auto", ["next", "--auto", "mine"]],
    ["/next --dry-run --json", ["next", "--dry-run", "--json", "mine"]],
    ["/next --max-steps 3 --auto", ["next", "--max-steps=3", "--auto", "mine"]],
    ["/next --nonsense", ["next", "--nonsense"]],
    ["/run codegen", ["run", "codegen", "mine"]],
    ["/run codegen other", ["run", "codegen", "other"]],
    ["/status a b", ["status", "a", "b"]],
    ["/tasks", ["tasks"]],
    ["/doctor", ["doctor"]],
    ["/spec list", ["spec", "list"]],
    ["/spec check global-state-machine --fix", ["spec", "check", "--fix", "global-state-machine"]],
    ["/spec graph", ["spec", "graph", "--task=mine"]],
    ["/spec graph global-state-machine", ["spec", "graph", "global-state-machine"]],
    ["/status -C elsewhere", ["status", "--dir=elsewhere", "mine"]],
    ["/override --help", ["override", "--help"]],
  ])("%s", (line, expected) => expect(argv(line)).toEqual(expected));

  it("names no task when there is none", () => {
    const request = parseLine("/next", { shapes, current: undefined, taskIds: [] });
    expect(request).toMatchObject({ kind: "command", path: ["next"], task: undefined });
  });
});

describe("free text", () => {
  it.each([
    ["/override test the reason, free text", ["override", "--reason=the reason, free text", "test", "mine"]],
    ['/override test "the reason"', ["override", "--reason=the reason", "test", "mine"]],
    ['/override test it\'s  "really" fine', ["override", '--reason=it\'s  "really" fine', "test", "mine"]],
    ["/override test -- --json is text here", ["override", "--reason=--json is text here", "test", "mine"]],
    ["/override test use --force then", ["override", "--reason=use --force then", "test", "mine"]],
    ["/override test because --json", ["override", "--json", "--reason=because", "test", "mine"]],
    ['/override test --reason "why" other', ["override", "--reason=why", "test", "other"]],
    ["/override test --reason why not", ["override", "--reason=why not", "test", "mine"]],
    ["/override test --reason because other", ["override", "--reason=because", "test", "other"]],
    ["/redo planning because the plan was wrong", ["redo", "--reason=because the plan was wrong", "planning", "mine"]],
    ["/answer accepted", ["answer", "accepted", "mine"]],
    ["/answer accepted looks good", ["answer", "--note=looks good", "accepted", "mine"]],
    ["/answer accepted other", ["answer", "accepted", "other"]],
    ['/answer accepted "other"', ["answer", "--note=other", "accepted", "mine"]],
    ["/answer rejected --to codegen too slow", ["answer", "--to=codegen", "--note=too slow", "rejected", "mine"]],
    ["/answer rejected too slow --to codegen", ["answer", "--to=codegen", "--note=too slow", "rejected", "mine"]],
    ["/resume try smaller steps", ["resume", "--note=try smaller steps", "mine"]],
    ["/next --override because I say so --to test", ["next", "--override=because I say so", "--to=test", "mine"]],
    ["/verify --adopt I edited it", ["verify", "--adopt=I edited it", "mine"]],
    ["/new Title words, it's short", ["new", "--", "Title words, it's short"]],
    ["/new --workflow w -- -v is broken", ["new", "--workflow=w", "--", "-v is broken"]],
    ['/new "Quoted title" --id q', ["new", "--id=q", "--", "Quoted title"]],
    ["/new --from brief.md", ["new", "--from=brief.md"]],
  ])("%s", (line, expected) => expect(argv(line)).toEqual(expected));

  it("is not there in what was copied from a message, which is the command line's own", () => {
    expect(argv('pawl answer accepted --note "yes" other')).toEqual(["answer", "--note=yes", "accepted", "other"]);
    expect(argv("pawl next other")).toEqual(["next", "other"]);
    expect(argv("pawl answer accepted mine")).toEqual(["answer", "accepted", "mine"]);
  });
});

describe("what is missing", () => {
  it.each([
    ["/override", ["phase", "reason"]],
    ["/override test", ["reason"]],
    ["/override --reason x", ["phase"]],
    ["/redo", ["phase", "reason"]],
    ["/redo planning other", ["reason"]],
    ["/run", ["phase"]],
    ["/answer", ["choice"]],
    ["/resume", ["note"]],
    ["/new", ["title"]],
    ["/spec show", ["workflow"]],
    ["/next", []],
  ])("%s", (line, expected) => expect(missing(line)).toEqual(expected));
});

describe("the REPL's own", () => {
  it.each<[string, Request]>([
    ["", { kind: "nothing" }],
    ["   ", { kind: "nothing" }],
    ["# /next", { kind: "nothing" }],
    ["/quit", { kind: "quit" }],
    ["/exit", { kind: "quit" }],
    ["/help", { kind: "help", topic: undefined }],
    ["/help /next", { kind: "help", topic: "next" }],
    ["/task", { kind: "task", id: undefined }],
    ["/task other", { kind: "task", id: "other" }],
  ])("%j", (line, expected) => expect(parse(line)).toEqual(expected));

  it("leaves /task to the command line where that has the word", () => {
    const update = {
      name: "update",
      description: "",
      arguments: [{ name: "task", required: false }],
      options: [],
      subcommands: [],
    };
    const task = { name: "task", description: "", arguments: [], options: [], subcommands: [update] };
    const request = parseLine("/task update", { shapes: [...shapes, task], current: "mine", taskIds: [] });
    expect(request).toMatchObject({ kind: "command", path: ["task", "update"], task: "mine" });
  });
});

describe("what is refused", () => {
  it.each([
    ["next", "commands begin with a slash, found `next`", "did you mean /next?"],
    ["hlep there", "commands begin with a slash, found `hlep`", "did you mean /help?"],
    ["zzzzzzzzz", "commands begin with a slash, found `zzzzzzzzz`", "see /help"],
    ["/nxt", "there is no command `/nxt`", "did you mean /next?"],
    ["/overide test x", "there is no command `/overide`", "did you mean /override?"],
    ["/zzzzzzzzz", "there is no command `/zzzzzzzzz`", "see /help"],
    ["/repl", "/repl does not go here: this is the REPL already", undefined],
  ])("%s", (line, message, hint) => {
    try {
      parse(line);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(PawlError);
      const { kind, message: said, hint: hinted } = error as PawlError;
      expect({ kind, said, hinted }).toEqual({ kind: "usage", said: message, hinted: hint });
    }
  });
});
