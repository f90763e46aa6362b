/** Why a status is refused, in words that whoever asked for it can act on: what is missing, where, and how to write it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { refused } from "../errors.js";
import { findSystemFile } from "../system/locate.js";
import type { TaskState } from "../task/state.js";
import { describeSender } from "../workflow/blockers.js";
import { UPDATE } from "../workflow/exits.js";
import type { Blocker, Event, Refusal, Transition, Way } from "../workflow/types.js";
import type { TaskContext } from "./context.js";

export function updateRefused(context: TaskContext, { phase }: TaskState, event: Event, refusal: Refusal): Error {
  const status = event.payload["status"] as string;
  const rows = context.workflow.transitions.filter((row) => row.from === phase && row.event === UPDATE);
  if (status === "") return summaryRefused(context, phase, event);
  const asked = refusal.ways.filter(({ event: name, to }) => name === UPDATE && to === status && to !== phase);
  if (asked.length === 0) return noSuchWay(context, phase, status, event, rows);
  const own = asked.filter(({ blockers }) => !blockers.some(({ kind }) => kind === "sender"));
  if (own.length === 0) return notTheirs(context, phase, status, event, asked);
  const blockers = own.flatMap((way) => way.blockers);
  const first = blockers.find(({ kind }) => kind !== "condition") ?? blockers[0];
  return refused(`${phase} → ${status} is refused: ${first?.message ?? refusal.reason}`, {
    findings: blockers,
    hint: howTo(context, first) ?? otherwise(context, event, rows),
    data: { refusal },
  });
}

function noSuchWay({ id }: TaskContext, phase: string, status: string, { by }: Event, rows: Transition[]): Error {
  const ways = targetsFor(rows, by);
  const to = ways.length === 0 ? "none" : ways.join(", ");
  return refused(`${phase} → ${status} is no transition; ${describeSender(by)} may go from ${phase} to: ${to}`, {
    findings: [{ message: `${phase} → ${status} is not in the table`, expected: to, found: status }],
    hint: ways.length === 0 ? `see \`pawl why ${id}\`` : `pawl task update ${id} --status ${ways[0] ?? ""}`,
  });
}

function notTheirs({ id }: TaskContext, phase: string, status: string, { by }: Event, asked: Way[]): Error {
  const allowed = [...new Set(asked.flatMap((way) => way.by))].join(", ");
  return refused(`only ${allowed} may take ${id} from ${phase} to ${status}, not ${describeSender(by)}`, {
    findings: asked.flatMap((way) => way.blockers.filter(({ kind }) => kind === "sender")),
    hint: by.kind === "agent" ? "do your own part, and leave this to whom it belongs" : `see \`pawl why ${id}\``,
  });
}

function summaryRefused({ id }: TaskContext, phase: string, { by, payload }: Event): Error {
  if (payload["summary"] === "")
    return refused("a summary may not be blank", { hint: `pawl task update ${id} --summary "…"` });
  return refused(`${describeSender(by)} may not change the summary in ${phase}`, { hint: `see \`pawl why ${id}\`` });
}

function targetsFor(rows: Transition[], by: Event["by"]): string[] {
  const word = by.kind === "agent" ? by.role : by.kind;
  const own = rows.filter((row) => row.by.some((allowed) => allowed === "any" || allowed === word));
  return [...new Set(own.filter(({ from, to }) => from !== to).map(({ to }) => to))];
}

function otherwise({ id }: TaskContext, { by }: Event, rows: Transition[]): string {
  const ways = targetsFor(rows, by);
  return ways.length === 0 ? `see \`pawl why ${id}\`` : `one of: ${ways.map((to) => `--status ${to}`).join(", ")}`;
}

/** What was judged is another by now: no new words about it help before it has been described anew. */
function judgedAnew({ id }: TaskContext, section: string): string {
  return `have what is judged described anew: pawl next ${id}; then add a \`## ${section}\` about that, and ask again`;
}

/** The section that is missing, as it has to be written. */
function howTo(context: TaskContext, blocker: Blocker | undefined): string | undefined {
  const artifact = context.workflow.artifacts.find(({ name }) => name === blocker?.artifact);
  if (artifact?.section === undefined || artifact.madeBy.kind !== "agent") return undefined;
  if (blocker?.kind === "stale" && artifact.judges.length > 0) return judgedAnew(context, artifact.section);
  const file = join(context.dir, artifact.file);
  const template = findSystemFile("templates", `${artifact.name}.md`, context.workspace.root);
  const text = template === undefined ? "" : readFileSync(template.path, "utf8").trim();
  const section = text === "" ? `## ${artifact.section}\n…` : text;
  return `add this to the end of ${file}, with your own words, and ask again:\n\n${section}`;
}
