/** ACTIVE_PR.json: the plan of one pull request, as tasks of test-driven steps. PURE: what it says, and what it becomes. */

export interface Step {
  type?: "RED" | "GREEN" | "REFACTOR";
  description?: string;
  status?: "TODO" | "DONE";
}

export interface PrTask {
  taskName?: string;
  description?: string;
  status?: "TODO" | "IN_PROGRESS" | "DONE" | "ERROR";
  breakdownHistory?: { originalTaskName: string; justification: string };
  tdd_steps?: Step[];
}

export interface ActivePr {
  masterPlanPath?: string;
  prTitle?: string;
  summary?: string;
  verificationPlan?: string;
  tasks?: PrTask[];
}

export interface ReviewFinding {
  description: string;
  file?: string;
  line?: number;
  severity?: string;
  recommendation?: string;
}

/** Where the work stands: the first open step of the first open task; a task without steps is a step of its own. */
export interface Current {
  task: PrTask;
  taskIndex: number;
  step: Step | null;
  stepIndex: number;
}

export type PlanStanding = "empty" | "open" | "done";

const REVIEW_FIX = "Address code review feedback: ";

export function isDone({ status, tdd_steps: steps = [] }: PrTask): boolean {
  return steps.length === 0 ? status === "DONE" : steps.every((step) => step.status === "DONE");
}

export function standingOf({ tasks = [] }: ActivePr): PlanStanding {
  if (tasks.length === 0) return "empty";
  return tasks.every(isDone) ? "done" : "open";
}

export function currentOf({ tasks = [] }: ActivePr): Current | null {
  const taskIndex = tasks.findIndex((task) => !isDone(task));
  const task = tasks[taskIndex];
  if (task === undefined) return null;
  const stepIndex = (task.tdd_steps ?? []).findIndex(({ status }) => status !== "DONE");
  return { task, taskIndex, step: task.tdd_steps?.[stepIndex] ?? null, stepIndex };
}

/** The step that was finished last, in the order of the plan; null where none is, or where a task without steps came after it. */
export function lastFinished(pr: ActivePr): Step | null {
  const current = currentOf(pr);
  const tasks = pr.tasks ?? [];
  if (current !== null && current.stepIndex > 0) return current.task.tdd_steps?.[current.stepIndex - 1] ?? null;
  const before = tasks[(current?.taskIndex ?? tasks.length) - 1];
  return before?.tdd_steps?.at(-1) ?? null;
}

/** A step after which the work is saved as a commit. */
export function needsCheckpoint(step: Step | null): boolean {
  return step?.type === "GREEN" || step?.type === "REFACTOR";
}

/** The plan with its current step done. */
export function withCurrentDone(pr: ActivePr): ActivePr {
  const current = currentOf(pr);
  if (current === null) return pr;
  const { task, taskIndex, stepIndex } = current;
  const steps = task.tdd_steps?.map((step, index) =>
    index === stepIndex ? { ...step, status: "DONE" as const } : step,
  );
  const changed: PrTask = { ...task, ...(steps === undefined ? {} : { tdd_steps: steps }) };
  const done = stepIndex < 0 || isDone(changed);
  return withTask(pr, taskIndex, { ...changed, status: done ? "DONE" : "IN_PROGRESS" });
}

/** One task for each finding. Its one step is done when the project's checks pass with it. */
export function withFindings(pr: ActivePr, findings: readonly ReviewFinding[]): ActivePr {
  const added = findings.map((finding): PrTask => ({
    taskName: `${REVIEW_FIX}${finding.description}`,
    description: describeFinding(finding),
    status: "TODO",
    tdd_steps: [{ type: "GREEN", description: describeFinding(finding), status: "TODO" }],
  }));
  return { ...pr, tasks: [...(pr.tasks ?? []), ...added] };
}

export function isReviewFix({ taskName = "" }: PrTask): boolean {
  return taskName.startsWith(REVIEW_FIX.trim());
}

export function describeFinding({ description, file, line, severity, recommendation }: ReviewFinding): string {
  const place = file === undefined ? "" : ` (${file}${line === undefined ? "" : `:${line}`})`;
  const weight = severity === undefined ? "" : `[${severity}] `;
  return `${weight}${description}${place}${recommendation === undefined ? "" : `. Recommended: ${recommendation}`}`;
}

/** What a task or step is called, for people. */
export function goalOf({ task, step }: Current): string {
  return step?.description ?? task.description ?? task.taskName ?? "(no description)";
}

function withTask(pr: ActivePr, index: number, task: PrTask): ActivePr {
  return { ...pr, tasks: (pr.tasks ?? []).map((each, at) => (at === index ? task : each)) };
}
