import { it } from "vitest";
import { makeTdd } from "../support/tdd.js";
it("x", () => {
  const t = makeTdd({ state: { status: "EXECUTING_TDD" }, plan: { tasks: [{ taskName: "...", status: "TODO", tdd_steps: [{ type: "RED", status: "TODO" }] }] } });
  const s = performance.now();
  console.log(t.turn("submit_work", { summary: "x", test_command: "echo boom; exit 1", expectation: "FAIL" }));
  console.log(performance.now() - s);
  console.log(t.turn("submit_work", { summary: "x", analysis_decision: "FAILURE" }), t.read("ORCHESTRATION_STATE.json"));
  console.log(t.turn("request_scope_reduction"), t.turn("get_task"), t.turn("submit_work", { summary: "x", test_command: "true", expectation: "FAIL" }));
  console.log(t.git("status", "--short", "--ignored"), t.pawl("history").stdout);
});
