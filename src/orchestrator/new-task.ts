/** A new task: its directory, task.md, and the first event. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fillPrompt } from "../agents/prompt.js";
import { codeOf, invalid, messageOf, PawlError, refused, usage } from "../errors.js";
import { findSystemFile } from "../system/locate.js";
import { loadWorkflow } from "../system/workflows.js";
import { writeFileDurably } from "../task/atomic-file.js";
import { hasFace, requireTaskId } from "../task/paths.js";
import { openTask } from "../task/store.js";
import { formatTaskFile, parseTaskFile, TASK_FILE, type TaskFile } from "../task/task-file.js";
import { gitTop } from "../workspace/settings.js";
import { rememberTask, taskDirectory } from "../workspace/workspace.js";
import { openContext, record, requireTaskWorkflow, type Engine, type TaskContext } from "./context.js";

export interface MadeTask {
  id: string;
  dir: string;
  phase: string;
  workflow: string;
  /** The file that says what is wanted. */
  brief: string;
}

export interface NewTask {
  title?: string;
  id?: string;
  workflow?: string;
  repo?: string;
  /** A Markdown file with the brief. */
  from?: string;
}

export async function newTask(engine: Engine, request: NewTask): Promise<MadeTask> {
  const file = describe(engine, request);
  if (file.title === "") throw usage("a task needs a title", { hint: 'pawl new "Mend the login form"' });
  const id = request.id === undefined ? freeId(engine, slug(file.title)) : requireTaskId(request.id);
  const dir = taskDirectory(engine.workspace, id);
  const taken = (): Error => refused(`there is a task \`${id}\` already`, { hint: "choose another --id" });
  if (existsSync(dir)) throw taken();
  if (request.repo !== undefined) file.repo = repository(engine, dir, request.repo);
  if (file.workflow !== undefined) requireTaskWorkflow(await loadWorkflow(file.workflow, engine.workspace.root));
  mkdirSync(dirname(dir), { recursive: true });
  try {
    mkdirSync(dir);
  } catch (error) {
    // Somebody else makes one of the same name at this moment: it is theirs, and not to be removed below.
    throw codeOf(error) === "EEXIST" ? taken() : error;
  }
  try {
    await writeFileDurably(join(dir, TASK_FILE), formatTaskFile(file));
    const context = await openContext(engine, id);
    await placeFace(context, file);
    await begin(context, file.title);
    rememberTask(engine.workspace, id);
    record(context, { kind: "command", text: `new task: ${file.title}` });
    const { name, initial, state } = context.workflow;
    const brief = hasFace(context.workflow) ? state.file : TASK_FILE;
    return { id, dir, phase: initial, workflow: name, brief };
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}

/** The file in which people and agents write to each other begins with what is wanted, which then stands there alone. */
async function placeFace({ workflow, workspace, dir }: TaskContext, file: TaskFile): Promise<void> {
  const { title, brief } = file;
  const template = hasFace(workflow) ? findSystemFile("templates", workflow.state.file, workspace.root) : undefined;
  if (template === undefined) return;
  const text = fillPrompt(
    readFileSync(template.path, "utf8"),
    { title, brief: withoutTitle(brief, title) },
    template.path,
  );
  writeFileSync(join(dir, workflow.state.file), text, { flag: "wx" });
  const elsewhere = `What is wanted stands in ${workflow.state.file}.`;
  await writeFileDurably(join(dir, TASK_FILE), formatTaskFile({ ...file, brief: elsewhere }));
}

function withoutTitle(brief: string, title: string): string {
  const [first = "", ...rest] = brief.trim().split("\n");
  return first.trim() === `# ${title}` ? rest.join("\n").trim() : brief.trim();
}

async function begin(context: TaskContext, title: string): Promise<void> {
  const task = await openTask(context.dir, context.workflow, context.now, context.workspace.env);
  try {
    const summary = hasFace(context.workflow) ? { summary: title } : {};
    task.state = { ...task.state, fields: { ...task.state.fields, title, ...summary } };
    await task.begin(context.user);
  } finally {
    task.close();
  }
}

function describe(engine: Engine, request: NewTask): TaskFile {
  const file: TaskFile =
    request.from === undefined
      ? { title: "", brief: "" }
      : parseBrief(resolve(engine.workspace.cwd, request.from), request.from);
  if (request.title !== undefined) file.title = request.title.trim();
  if (request.workflow !== undefined) file.workflow = request.workflow;
  if (file.brief === "") file.brief = `# ${file.title}\n\nSay here what is wanted, and how to tell that it is done.`;
  return file;
}

/** What is wrong with it is said of the file that was given: there is no task.md yet. */
function parseBrief(path: string, given: string): TaskFile {
  try {
    return parseTaskFile(readBrief(path));
  } catch (error) {
    if (!(error instanceof PawlError) || error.kind !== "invalid") throw error;
    const renamed = (text: string): string => text.replace(TASK_FILE, () => given);
    throw invalid(renamed(error.message), {
      findings: error.findings.map((finding) => ({ ...finding, file: given, message: renamed(finding.message) })),
      ...(error.hint === undefined ? {} : { hint: renamed(error.hint) }),
      cause: error,
    });
  }
}

function readBrief(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw usage(`the brief cannot be read: ${messageOf(error)}`, { hint: "give --from a Markdown file" });
  }
}

function repository(engine: Engine, dir: string, path: string): string {
  const absolute = resolve(engine.workspace.cwd, path);
  const top = existsSync(absolute) ? gitTop(absolute) : null;
  if (top === null) throw usage(`${absolute} is not in a git repository`, { hint: "give --repo a directory of one" });
  return relative(dir, top) || ".";
}

function slug(title: string): string {
  const ascii = title.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  return (
    ascii
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 40)
      .replace(/-+$/, "") || "task"
  );
}

function freeId(engine: Engine, base: string): string {
  if (!existsSync(taskDirectory(engine.workspace, base))) return base;
  for (let n = 2; ; n++) if (!existsSync(taskDirectory(engine.workspace, `${base}-${n}`))) return `${base}-${n}`;
}
