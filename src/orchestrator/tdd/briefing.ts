/** What pawl tells the agent: the files of system/briefings, with their slots filled. Each ends with the exact next call. */
import { readFileSync } from "node:fs";
import { baseOf, openWorkTree } from "../../actions/tdd/work-tree.js";
import { mergeBase } from "../../actions/git.js";
import { fillPrompt, type Slots } from "../../agents/prompt.js";
import { invalid } from "../../errors.js";
import { findSystemFile } from "../../system/locate.js";
import { loadSchema } from "../../system/schemas.js";
import { currentOf, goalOf } from "../../tdd/active-pr.js";
import { tddRecord } from "../../tdd/record.js";
import type { TaskState } from "../../task/state.js";
import type { TaskContext } from "../context.js";
import type { Gathered } from "./gather.js";
import { PLAN_FILE, PLAN_SCHEMA } from "./plan-file.js";

/** What the agent is to do now, in the state that it stands in. */
export async function brief(context: TaskContext, state: TaskState, facts: Gathered, reason: string): Promise<string> {
  const { name, slots } = await briefingFor(context, state, facts, reason);
  const note = state.fields["note"];
  const said = typeof note === "string" && note !== "" ? `A human says:\n\n${quoted(note)}\n\n` : "";
  return said + fillBriefing(context, name, { status: state.phase, reason, ...slots });
}

export function fillBriefing(context: TaskContext, name: string, slots: Slots): string {
  const file = findSystemFile("briefings", `${name}.md`, context.workspace.root);
  if (file === undefined)
    throw invalid(`there is no briefing ${name}`, { hint: `put system/briefings/${name}.md into the workspace` });
  return fillPrompt(readFileSync(file.path, "utf8"), slots, file.path).trimEnd();
}

async function briefingFor(
  context: TaskContext,
  state: TaskState,
  facts: Gathered,
  reason: string,
): Promise<{ name: string; slots: Slots }> {
  const { fields, phase } = state;
  const record = tddRecord(fields);
  const pr = record.plan ?? facts.pr ?? {};
  const error = typeof fields["last_error"] === "string" ? fields["last_error"] : "";
  const settings = await context.settings();
  switch (phase) {
    case "INITIALIZING": {
      const schema = JSON.stringify(loadSchema(PLAN_SCHEMA, context.workspace.root).schema, null, 2);
      return { name: "initialize", slots: { master_plan: settings.masterPlan, plan_file: PLAN_FILE, schema } };
    }
    case "EXECUTING_TDD":
    case "CODE_REVIEW": {
      if (record.checkpoint !== undefined && facts.checkpoint !== "made")
        return { name: "checkpoint", slots: { title: pr.prTitle ?? "this pull request" } };
      if (phase === "CODE_REVIEW") return { name: "review-failed", slots: { problem: facts.problem } };
      const current = currentOf(pr);
      if (current === null) return { name: "no-step", slots: { plan_file: PLAN_FILE } };
      const { task, step } = current;
      const type = step?.type ?? "GREEN";
      return {
        name: record.pending === undefined ? "step" : "pending",
        slots: {
          task: task.taskName ?? "(no name)",
          type: step?.type ?? "task without steps",
          description: goalOf(current),
          expectation: type === "RED" ? "FAIL" : "PASS",
          command: record.pending?.command ?? "",
          output: fenced(record.pending?.output ?? ""),
        },
      };
    }
    case "DEBUGGING": {
      const current = currentOf(pr);
      return {
        name: "debugging",
        slots: {
          attempts: String(facts.attempts),
          error: fenced(error),
          goal: current === null ? "(not known)" : goalOf(current),
          expectation: current?.step?.type === "RED" ? "FAIL" : "PASS",
          command: record.failed?.command ?? "(not known)",
        },
      };
    }
    case "REPLANNING":
      return {
        name: "replanning",
        slots: { goal: record.replanning?.goal ?? replannedGoal(pr), error: fenced(error), plan_file: PLAN_FILE },
      };
    case "AWAITING_FINALIZATION":
      return { name: "finalization", slots: await finalization(context, state, pr.prTitle ?? "") };
    case "FINALIZE_COMPLETE":
      return {
        name: "update-plan",
        slots: {
          master_plan: pr.masterPlanPath ?? settings.masterPlan,
          title: pr.prTitle ?? "this pull request",
          commit: typeof fields["last_commit_hash"] === "string" ? fields["last_commit_hash"] : "(git rev-parse HEAD)",
        },
      };
    case "HALTED": {
      const why = record.halted?.reason ?? reason;
      return { name: "halted", slots: { halted: why, error: error.startsWith(why) ? "" : fenced(error) } };
    }
    default:
      return { name: "next", slots: {} };
  }
}

function replannedGoal(pr: Parameters<typeof currentOf>[0]): string {
  const current = currentOf(pr);
  return current === null ? "(not known)" : `${current.task.taskName ?? ""}: ${goalOf(current)}`;
}

/** The commands, ready to be run: the title comes from an agent, and must not become one of them. */
async function finalization(context: TaskContext, state: TaskState, title: string): Promise<Slots> {
  const settings = await context.settings();
  const quotedTitle = `'${(title === "" ? "Finish the pull request" : title).replaceAll("'", "'\\''")}'`;
  if (settings.repo === null) return { base: "main", from: "main", title: quotedTitle };
  const tree = await openWorkTree(settings);
  const base = await baseOf(tree, settings, state.fields);
  const from = tree.head === null ? null : await mergeBase(tree.git, base.head, tree.head);
  return { base: base.name, from: from ?? base.name, title: quotedTitle };
}

/** A fence that nothing in the text can close. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

function quoted(text: string): string {
  return text
    .split("\n")
    .map((each) => `> ${each}`)
    .join("\n");
}
