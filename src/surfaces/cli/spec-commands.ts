import { readFileSync } from "node:fs";
import { nearest, usage } from "../../errors.js";
import { checkSpec, listSpecs } from "../../orchestrator/spec.js";
import { findDocument, loadDocument } from "../../system/workflows.js";
import type { Workflow } from "../../workflow/types.js";
import { formatFinding } from "./format-error.js";
import { formatTable } from "./format.js";
import type { Invocation, Report } from "./invocation.js";

const INVALID = 3;
const FORMATS = ["mermaid", "dot", "svg", "xstate"];

export async function listCommand(call: Invocation): Promise<Report> {
  const workflows = listSpecs(call.engine);
  return {
    json: { workflows },
    text: () =>
      formatTable(
        ["workflow", "phases", "file", "title"],
        workflows.map(({ name, phases, file, title, builtIn }) => [
          name,
          String(phases.length),
          builtIn ? "(built in)" : file,
          title,
        ]),
        call.style,
      ),
  };
}

export async function checkCommand(call: Invocation): Promise<Report> {
  const [named] = call.args;
  const names = named === undefined ? listSpecs(call.engine).map(({ name }) => name) : [named];
  const fix = call.flag("fix");
  const results = await Promise.all(names.map((name) => checkSpec(call.engine, name, { fix })));
  const { style } = call;
  return {
    json: named === undefined ? { ok: results.every(({ ok }) => ok), workflows: results } : results[0],
    text: () =>
      results
        .flatMap(({ workflow, file, ok, findings, fixed }) => [
          `${ok ? style.green("ok") : style.red("not fit to run")}  ${workflow || file}${findings.length === 0 ? "" : `: ${findings.length} findings`}${fixed ? " (diagram rewritten)" : ""}`,
          ...findings.map(
            (finding) =>
              `  ${finding.severity === "error" ? style.red("error") : style.yellow("warning")} ${formatFinding(finding)}${finding.hint === undefined ? "" : `\n        ${style.cyan("hint:")} ${finding.hint}`}`,
          ),
        ])
        .join("\n"),
    exitCode: results.every(({ ok }) => ok) ? 0 : INVALID,
  };
}

export async function showCommand(call: Invocation): Promise<Report> {
  const [name = ""] = call.args;
  const { root } = call.engine.workspace;
  const file = findDocument(name, root);
  if (!call.json) return { json: null, text: () => readFileSync(file.path, "utf8") };
  return { json: showJson(await loadDocument(file, root)), text: () => "" };
}

export async function graphCommand(call: Invocation): Promise<Report> {
  const format = call.text("format") ?? "mermaid";
  if (!FORMATS.includes(format))
    throw usage(`--format expected ${FORMATS.join(", ")}, found \`${format}\``, {
      hint: `pawl spec graph --format ${nearest(format, FORMATS) ?? "mermaid"}`,
    });
  const { root } = call.engine.workspace;
  const task = call.text("task");
  const context = task === undefined && call.args[0] !== undefined ? null : await call.task(task);
  const workflow =
    context === null || call.args[0] !== undefined
      ? await loadDocument(findDocument(call.args[0] ?? "", root), root)
      : context.workflow;
  const mark =
    context === null
      ? undefined
      : { current: (await import("../../task/store.js")).loadTask(context.dir, context.workflow).state.phase };
  const text = await draw(workflow, format, mark);
  return { json: { workflow: workflow.name, format, ...(mark === undefined ? {} : mark), text }, text: () => text };
}

async function draw(workflow: Workflow, format: string, mark: { current: string } | undefined): Promise<string> {
  switch (format) {
    case "dot":
      return (await import("../../workflow/graph-dot.js")).toDot(workflow, mark);
    case "svg":
      return (await import("../../workflow/graph-svg.js")).toSvg(workflow, mark);
    case "xstate":
      return JSON.stringify((await import("../../workflow/graph-xstate.js")).toXState(workflow), null, 2);
    default:
      return (await import("../../workflow/graph-mermaid.js")).toMermaid(workflow, mark);
  }
}

/** Actions as text, as they stand in the table. */
function showJson(workflow: Workflow): unknown {
  return {
    ...workflow,
    transitions: workflow.transitions.map(({ from, event, by, when, actions, to, why, line }) => ({
      from,
      event,
      by: by.join(", "),
      when,
      actions: actions.map(({ name, args }) => [name, ...args].join(" ")),
      to,
      why,
      line,
    })),
  };
}
