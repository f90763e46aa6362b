import { describe, expect, it } from "vitest";
import { complete } from "../../../src/surfaces/repl/complete.js";
import { shapes } from "./shapes.js";

const offers = {
  tasks: ["hello", "help-me", "other"],
  phases: ["planning", "plan_review", "codegen", "accept"],
  choices: ["accepted", "rejected", "deferred"],
  workflows: ["global-state-machine"],
};

describe("complete", () => {
  it.each<[string, string[], string]>([
    ["/ne", ["/new", "/next"], "/ne"],
    ["/nex", ["/next "], "/nex"],
    ["/next --a", ["--auto "], "--a"],
    ["/next --auto --d", ["--dir", "--dry-run"], "--d"],
    ["/next h", ["hello", "help-me"], "h"],
    ["/next --override x ", ["hello", "help-me", "other"], ""],
    ["/next --override x --to a", ["accept "], "a"],
    ["/run plan", ["planning", "plan_review"], "plan"],
    ["/run codegen o", ["other "], "o"],
    ["/override c", ["codegen "], "c"],
    ["/override codegen h", [], "h"],
    ["/answer ", ["accepted", "rejected", "deferred"], ""],
    ["/answer rejected --to cod", ["codegen "], "cod"],
    ["/task ot", ["other "], "ot"],
    ["/help ans", ["answer "], "ans"],
    ["/spec gr", ["graph "], "gr"],
    ["/spec show g", ["global-state-machine "], "g"],
    ["/spec graph --task he", ["hello", "help-me"], "he"],
    ["/new --workflow ", ["global-state-machine "], ""],
    ["/quit ", [], ""],
    ["/zzz ", [], ""],
    ["next ", [], ""],
    ["/spec nothing x", [], "x"],
  ])("%j", (line, candidates, word) => expect(complete(line, shapes, offers)).toEqual([candidates, word]));

  it("offers every command at the beginning, and not the one that cannot be run here", () => {
    const [candidates] = complete("/", shapes, offers);
    expect(candidates).toEqual(expect.arrayContaining(["/next", "/why", "/task", "/help", "/quit", "/exit"]));
    expect(candidates).not.toContain("/repl");
    expect(complete("", shapes, offers)).toEqual([candidates, ""]);
  });
});
