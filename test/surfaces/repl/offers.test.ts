import { expect, it } from "vitest";
import { answerTargets } from "../../../src/surfaces/repl/offers.js";
import { loadWorkflow } from "../../../src/system/workflows.js";

it("knows from the rows where an answer can lead to", async () => {
  const workflow = await loadWorkflow("global-state-machine", "/nowhere");
  expect(answerTargets(workflow, "accept", "accepted")).toEqual(["done"]);
  expect(answerTargets(workflow, "accept", "rejected")).toEqual(["codegen", "review", "planning", "revert"]);
  expect(answerTargets(workflow, "accept", "deferred")).toEqual(["accept"]);
  expect(answerTargets(workflow, "planning", "accepted")).toEqual([]);
});
