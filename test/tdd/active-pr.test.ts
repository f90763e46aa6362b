import { describe, expect, it } from "vitest";
import {
  currentOf,
  isDone,
  lastFinished,
  standingOf,
  withCurrentDone,
  withFindings,
  type ActivePr,
} from "../../src/tdd/active-pr.js";
import { checkFirstPlan, checkNewPlan } from "../../src/tdd/new-plan.js";

const step = (type: "RED" | "GREEN" | "REFACTOR", status: "TODO" | "DONE" = "TODO") => ({
  type,
  status,
  description: type,
});

describe("the plan of a pull request", () => {
  it("is done when every step is, whatever a task says of itself", () => {
    expect(isDone({ status: "DONE", tdd_steps: [step("RED")] })).toBe(false);
    expect(isDone({ status: "TODO", tdd_steps: [step("RED", "DONE")] })).toBe(true);
    expect(isDone({ status: "DONE" })).toBe(true);
    expect(isDone({ status: "ERROR", tdd_steps: [] })).toBe(false);
    expect(standingOf({})).toBe("empty");
  });

  it("is worked through step by step", () => {
    let pr: ActivePr = {
      tasks: [
        { taskName: "a", tdd_steps: [step("RED"), step("GREEN")] },
        { taskName: "b", status: "TODO" },
      ],
    };
    const seen: string[] = [];
    for (let current = currentOf(pr); current !== null; current = currentOf(pr)) {
      seen.push(`${current.task.taskName ?? ""} ${current.step?.type ?? "-"}`);
      pr = withCurrentDone(pr);
    }
    expect(seen).toEqual(["a RED", "a GREEN", "b -"]);
    expect(pr.tasks?.map(({ status }) => status)).toEqual(["DONE", "DONE"]);
    expect(standingOf(pr)).toBe("done");
    expect(withCurrentDone(pr)).toEqual(pr);
  });

  it("knows the step that was finished last", () => {
    const tasks = [{ tdd_steps: [step("RED", "DONE"), step("GREEN", "DONE")] }, { tdd_steps: [step("RED")] }];
    expect(lastFinished({ tasks })?.type).toBe("GREEN");
    expect(lastFinished({ tasks: [{ tdd_steps: [step("RED", "DONE"), step("GREEN")] }] })?.type).toBe("RED");
    expect(lastFinished({ tasks: [{ tdd_steps: [step("RED")] }] })).toBeNull();
  });

  it("gets one task with a step for each finding", () => {
    const { tasks } = withFindings({ tasks: [{ taskName: "a", status: "DONE" }] }, [
      { description: "x" },
      { description: "y" },
    ]);
    expect(tasks?.map(({ taskName }) => taskName)).toEqual([
      "a",
      "Address code review feedback: x",
      "Address code review feedback: y",
    ]);
    expect(standingOf({ tasks: tasks ?? [] })).toBe("open");
  });
});

describe("a plan that an agent has just written", () => {
  const history = { originalTaskName: "a", justification: "too large" };
  const verification = { taskName: "Verification of a", tdd_steps: [step("RED")] };

  it("has nothing done in it", () => {
    expect(checkFirstPlan({ tasks: [{ tdd_steps: [step("RED")] }] })).toEqual([]);
    expect(
      checkFirstPlan({ tasks: [{ tdd_steps: [step("RED", "DONE")] }, { status: "DONE" }] }).map(
        ({ pointer }) => pointer,
      ),
    ).toEqual(["/tasks/0/tdd_steps/0/status", "/tasks/1/status"]);
  });

  it("after a breakdown: says why, ends with a verification, and has nothing done that was not", () => {
    const good = {
      tasks: [
        { taskName: "old", status: "DONE" as const },
        { taskName: "1a", breakdownHistory: history },
        verification,
      ],
    };
    expect(checkNewPlan(good, { tasks: [{ taskName: "old", status: "DONE" }] })).toEqual([]);
    expect(checkNewPlan(good, { tasks: [{ taskName: "old", status: "TODO" }] }).map(({ pointer }) => pointer)).toEqual([
      "/tasks/0/status",
    ]);
    expect(checkNewPlan({ tasks: [{ taskName: "1a" }] }, undefined)).toHaveLength(2);
    expect(checkNewPlan({ tasks: [{ ...verification, tdd_steps: [step("RED", "DONE")] }] }, undefined)).toHaveLength(1);
  });
});
