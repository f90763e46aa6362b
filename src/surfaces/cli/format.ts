/** Text for people. Pure: values in, text out. */
import type { Status } from "../../orchestrator/status.js";
import type { Suggestion } from "../../orchestrator/suggest.js";
import type { Step } from "../../orchestrator/transition.js";
import type { Way } from "../../workflow/types.js";
import type { Style } from "../style.js";
import { formatFinding } from "./format-error.js";

export function formatSuggestion(suggestion: Suggestion, style: Style): string {
  const { currentPhase, suggestedNext, reason, command, action, findings, warnings } = suggestion;
  const where =
    currentPhase === suggestedNext
      ? style.bold(currentPhase)
      : `${style.bold(currentPhase)} → ${style.bold(suggestedNext)}`;
  const lines = [`${where}: ${reason}`];
  for (const finding of findings) {
    const line = formatFinding(finding);
    if (!reason.includes(line)) lines.push(`  - ${line}`);
  }
  for (const warning of warnings) lines.push(`  ${style.yellow("note:")} ${warning}`);
  if (action !== "none") lines.push(`  ${style.cyan("next:")} ${command}`);
  return lines.join("\n");
}

export function formatStep(step: Step, style: Style): string {
  const arrow = step.from === step.to ? style.bold(step.to) : `${style.bold(step.from)} → ${style.bold(step.to)}`;
  const lines = [`${style.green("✓")} ${arrow}: ${step.reason}`, ...step.notes.map((note) => `  ${style.dim(note)}`)];
  if (step.waiting !== null) lines.push(`  ${style.yellow("waits for a human:")} ${step.waiting}`);
  return lines.join("\n");
}

export function formatStatus(status: Status, style: Style): string {
  const lines = [
    `${style.bold(status.task)}  ${status.title}`,
    `  workflow  ${status.workflow}`,
    `  phase     ${style.bold(status.phase)} (${status.actor.status}, visit ${status.actor.visits}, ${status.actor.runs} runs)`,
    ...(status.waiting === null ? [] : [`  ${style.yellow("waits")}     ${status.waiting}`]),
    ...(status.agent === null ? [] : [`  agent     ${agentLine(status.agent, style)}`]),
    ...(status.background === null ? [] : [`  so far    ${backgroundLine(status.background)}`]),
    ...(status.branch === null ? [] : [`  branch    ${status.branch}`]),
    ...(status.base === null ? [] : [`  base      ${status.base}`]),
    ...(status.worktree === null ? [] : [`  worktree  ${status.worktree}`]),
    ...status.artifacts.map(({ file, condition }) => `  evidence  ${mark(condition, style)} ${file}`),
    ...status.overrides.map(
      ({ from, to, by, reason }) => `  ${style.yellow("override")}  ${from} → ${to} by ${by}: ${reason}`,
    ),
    "",
    formatSuggestion(status.suggestion, style),
  ];
  return lines.join("\n");
}

export function formatWays(ways: Way[], style: Style): string {
  if (ways.length === 0) return "no way leads out of here";
  // That nothing waits is no news to somebody who asks why it does not go on.
  const shown = ways.filter(({ event, open }) => open || event !== "resume");
  return shown
    .map((way) => {
      const head = `${way.open ? style.green("open  ") : style.red("closed")} ${way.event} → ${style.bold(way.to)}${way.why === "" ? "" : `  ${style.dim(way.why)}`}`;
      const by = way.by.includes("any") ? "" : ` (by ${way.by.join(", ")})`;
      return [head + by, ...way.blockers.map((blocker) => `         ${formatFinding(blocker)}`)].join("\n");
    })
    .join("\n");
}

export function formatTable(header: string[], rows: string[][], style: Style): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: string[]): string =>
    cells.map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("  ");
  return [style.dim(line(header)), ...rows.map(line)].join("\n");
}

function backgroundLine({
  phase,
  runs,
  failed,
  lastFailure,
  repeats,
  files,
}: NonNullable<Status["background"]>): string {
  const again = repeats ? "; the same as the time before" : "";
  const why = lastFailure === null ? "" : `; the last time: ${lastFailure}${again}`;
  const what = files.length === 0 ? "" : `; it changes ${files.slice(0, 5).join(", ")}${files.length > 5 ? ", …" : ""}`;
  return `${runs} runs of ${phase}, ${failed} rounds that led back${why}${what}`;
}

function agentLine(
  { role, state, phase, run, pid, lastOutput, prompt }: NonNullable<Status["agent"]>,
  style: Style,
): string {
  const which = `${role} ${style.bold(state)}, run ${run} of ${phase}`;
  const more = [pid === null ? "" : `process ${pid}`, lastOutput === null ? "" : `last printed at ${lastOutput}`];
  const asks = prompt === null ? "" : `: ${prompt}`;
  return [`${which}${asks}`, ...more.filter((part) => part !== "")].join("; ");
}

function mark(condition: string, style: Style): string {
  const text = condition.padEnd(7);
  if (condition === "ok") return style.green(text);
  return condition === "missing" ? style.dim(text) : style.red(text);
}
