/** The workflow documents as such: listed, checked, drawn. */
import { readFileSync } from "node:fs";
import { registeredNames } from "../actions/registry.js";
import { listSystemFiles } from "../system/locate.js";
import { loadSchema } from "../system/schemas.js";
import { displayPath, findDocument, listWorkflows, nameFinding } from "../system/workflows.js";
import { writeFileDurably } from "../task/atomic-file.js";
import { checkWorkflow, type CheckFinding, type Known } from "../workflow/check.js";
import { readWorkflow, type ParsedWorkflow } from "../workflow/parse-workflow.js";
import type { Engine } from "./context.js";
import { TOOL_NAMES } from "./tools/definitions.js";

export interface ListedWorkflow {
  name: string;
  file: string;
  builtIn: boolean;
  title: string;
  phases: string[];
  findings: number;
}

export interface CheckedWorkflow {
  workflow: string;
  file: string;
  ok: boolean;
  findings: CheckFinding[];
  /** The diagram was rewritten. */
  fixed: boolean;
}

export function listSpecs(engine: Engine): ListedWorkflow[] {
  return listWorkflows(engine.workspace.root).map(({ name, path, builtIn }) => {
    const { workflow, findings } = read(readFileSync(path, "utf8"), displayPath(path, engine.workspace.root));
    return {
      name: name.replace(/\.md$/, ""),
      file: workflow.file,
      builtIn,
      title: workflow.title,
      phases: workflow.phases.map((phase) => phase.name),
      findings: findings.length,
    };
  });
}

/** Errors make a document unfit to run; warnings are worth a look. */
export async function checkSpec(engine: Engine, name: string, { fix = false } = {}): Promise<CheckedWorkflow> {
  const { root } = engine.workspace;
  const { path } = findDocument(name, root);
  const file = displayPath(path, root);
  let text = readFileSync(path, "utf8");
  let fixed = false;
  if (fix) {
    const { replaceDiagram } = await import("../workflow/diagram.js");
    const rewritten = replaceDiagram(text, readWorkflow(text, file).workflow);
    fixed = rewritten !== text;
    if (fixed) await writeFileDurably(path, rewritten);
    text = rewritten;
  }
  const { workflow, findings } = read(text, file);
  const unreadable = findings.map((finding): CheckFinding => ({
    rule: "syntax",
    severity: "error",
    ...finding,
    line: finding.line ?? 1,
    file,
  }));
  // A document whose tables could not be read has too little for the other checks to speak about.
  const checked = [
    ...unreadable,
    ...(unreadable.length > 0 && workflow.phases.length === 0 ? [] : checkWorkflow(workflow, knownNames(engine))),
  ];
  return {
    workflow: workflow.name,
    file,
    ok: !checked.some(({ severity }) => severity === "error"),
    findings: checked,
    fixed,
  };
}

/** All for which loading the document would be refused. */
function read(text: string, file: string): ParsedWorkflow {
  const { workflow, findings } = readWorkflow(text, file);
  const misnamed = nameFinding(workflow);
  return { workflow, findings: misnamed === undefined ? findings : [misnamed, ...findings] };
}

/** The prompt for mending an artifact: every role's, and none of its own. */
const REPAIR = "repair";

/** What the use cases send: `advance`, `answer`, `resume`, work that failed, an agent's own words and its end, and its tools. Override and redo are no rows of a table. */
const EVENTS: Known["events"] = [
  { name: "next", by: ["human", "agent"] },
  { name: "answer", by: ["human"] },
  { name: "resume", by: ["human"] },
  { name: "fail", by: ["pawl"] },
  { name: "start", by: ["pawl"] },
  { name: "ask", by: ["agent"] },
  { name: "update", by: ["human", "agent"] },
  { name: "exit", by: ["pawl"] },
  { name: "crashed", by: ["pawl"] },
  ...TOOL_NAMES.map((name): Known["events"][number] => ({ name, by: ["human", "agent"] })),
];

function knownNames(engine: Engine): Known {
  const schemas: Known["schemas"] = {};
  const { root } = engine.workspace;
  for (const { name } of listSystemFiles("schemas", ".json", root)) schemas[name] = schemaOrNothing(name, root);
  return {
    actions: [...registeredNames],
    schemas,
    roles: listSystemFiles("agents", ".md", root)
      .map(({ name }) => name.replace(/\.md$/, ""))
      .filter((role) => role !== REPAIR),
    events: EVENTS,
  };
}

/** A schema that cannot be read counts as one that is not there; a document that uses it is told so. */
function schemaOrNothing(name: string, root: string): Known["schemas"][string] {
  try {
    return loadSchema(name, root).schema;
  } catch {
    return undefined;
  }
}
