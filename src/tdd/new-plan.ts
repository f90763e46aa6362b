/** What a plan that an agent has just written may not say, besides what its schema asks for. PURE. */
import type { Finding } from "../errors.js";
import { isDone, type ActivePr, type PrTask } from "./active-pr.js";

const FILE = "ACTIVE_PR.json";

/** A new pull request: all of it is still to be done. */
export function checkFirstPlan({ tasks = [] }: ActivePr): Finding[] {
  return tasks.flatMap((task, index) => doneAlready(task, index));
}

/** After a breakdown: smaller tasks, a task that verifies the whole, and nothing done that was not done before. */
export function checkNewPlan(pr: ActivePr, before: ActivePr | undefined): Finding[] {
  const { tasks = [] } = pr;
  const findings: Finding[] = [];
  const known = (before?.tasks ?? []).filter(isDone).map(({ taskName }) => taskName);
  if (before !== undefined) {
    for (const [index, task] of tasks.entries())
      if (!known.includes(task.taskName)) findings.push(...doneAlready(task, index));
  }
  const first = tasks.findIndex((task) => !isDone(task));
  const opening = tasks[first];
  if (opening === undefined) {
    findings.push(finding("/tasks", "at least one task that is not done", "none", "add the smaller tasks"));
    return findings;
  }
  if (opening.breakdownHistory === undefined) {
    const expected = "the original goal and your justification";
    const hint = `write { "originalTaskName": "…", "justification": "…" } there`;
    findings.push(finding(`/tasks/${first}/breakdownHistory`, expected, "nothing", hint));
  }
  const last = tasks.at(-1);
  if (last === undefined || isDone(last) || !/verif/i.test(last.taskName ?? "")) {
    const expected = "a last task that verifies the original goal, with `Verification` in its name";
    const hint = "add it at the end; its RED step recreates the original task's RED step";
    findings.push(
      finding(`/tasks/${tasks.length - 1}/taskName`, expected, JSON.stringify(last?.taskName ?? null), hint),
    );
  }
  return findings;
}

/** Only pawl marks work as done, and only after it has seen it. */
function doneAlready(task: PrTask, index: number): Finding[] {
  const hint = "write TODO; pawl marks a step as DONE when it has seen its test";
  if (task.tdd_steps === undefined || task.tdd_steps.length === 0)
    return task.status === "DONE" ? [finding(`/tasks/${index}/status`, "TODO", "DONE", hint)] : [];
  return task.tdd_steps.flatMap((step, at) =>
    step.status === "DONE" ? [finding(`/tasks/${index}/tdd_steps/${at}/status`, "TODO", "DONE", hint)] : [],
  );
}

function finding(pointer: string, expected: string, found: string, hint: string): Finding {
  return {
    message: `${FILE}: ${pointer} expected ${expected}, found ${found}`,
    file: FILE,
    pointer,
    expected,
    found,
    hint,
  };
}
