import { expect, it } from "vitest";
import { slashHints } from "../../../src/surfaces/repl/slash-hints.js";

it.each([
  ["  next: pawl next one", "  next: /next one"],
  ["  \u001b[36mnext:\u001b[39m pawl why one", "  \u001b[36mnext:\u001b[39m /why one"],
  ["  next: leave it, then `pawl next one`; or pawl why", "  next: leave it, then `/next one`; or /why"],
  ["  next: see `pawl <command> --help`", "  next: see `/help <command>`"],
  ["  next: see `pawl why --help`, or `pawl --help`", "  next: see `/help why`, or `/help`"],
  ["refused: x\n  next: pawl why one\n", "refused: x\n  next: /why one\n"],
  ["  next: pawl whyever; pawl.json; my-pawl", "  next: pawl whyever; pawl.json; my-pawl"],
  ["an agent says: pawl next one", "an agent says: pawl next one"],
])("%j", (text, expected) => expect(slashHints(text, ["next", "why"])).toBe(expected));
