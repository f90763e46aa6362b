import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { interrupted, messageOf, usage } from "../../errors.js";
import { loadTask } from "../../task/store.js";
import { parseStrictJson } from "../../task/strict-json.js";
import type { Engine } from "../../orchestrator/context.js";
import { answer, questionOf, override, redo, resume, type AnswerRequest } from "../../orchestrator/human.js";
import type { JsonSchema } from "../../system/schemas.js";
import type { FormAsker } from "../form.js";
import { requireText, type Invocation, type Report } from "./invocation.js";
import { stepReport } from "./step-commands.js";

export async function redoCommand(call: Invocation): Promise<Report> {
  const [to = "", named] = call.args;
  const reason = requireText(call, "reason", "the history says why");
  return stepReport(
    call,
    await redo(await call.task(named, `redo ${to} --reason ${JSON.stringify(reason)}`), { to, reason }),
  );
}

export async function overrideCommand(call: Invocation): Promise<Report> {
  const [to = "", named] = call.args;
  const reason = requireText(call, "reason", "the history says why");
  return stepReport(
    call,
    await override(await call.task(named, `override ${to} --reason ${JSON.stringify(reason)}`), { to, reason }),
  );
}

export async function resumeCommand(call: Invocation): Promise<Report> {
  const [named] = call.args;
  const note = requireText(call, "note", "whoever goes on reads it");
  return stepReport(call, await resume(await call.task(named, `resume --note ${JSON.stringify(note)}`), { note }));
}

/** `@file` (or `@-`, standard input) is the whole artifact instead of one of the choices. */
export async function answerCommand(call: Invocation): Promise<Report> {
  const [given = "", named] = call.args;
  const note = call.text("note");
  const to = call.text("to");
  const said = note === undefined ? "" : ` --note ${JSON.stringify(note)}`;
  const context = await call.task(named, `answer ${given}${said}`);
  const what = given.startsWith("@") ? { data: readData(call, given.slice(1)) } : { choice: given };
  return stepReport(
    call,
    await answer(context, { ...what, ...(note === undefined ? {} : { note }), ...(to === undefined ? {} : { to }) }),
  );
}

/** The artifact of the phase as a form, in a terminal. */
export async function formCommand(call: Invocation): Promise<Report> {
  const context = await call.task(call.args[0], "form");
  if (!call.io.inIsTerminal || !call.io.errIsTerminal) {
    throw usage("a form needs a terminal", { hint: `give the artifact as a file: pawl answer @FILE ${context.id}` });
  }
  const { phase } = loadTask(context.dir, context.workflow).state;
  const { schema, artifact, choices } = questionOf(context, phase);
  const fillable = schema !== null && artifact !== null;
  if (!fillable && choices.length === 0) {
    throw usage(`${phase} asks for nothing that could be filled in`, { hint: `see \`pawl why ${context.id}\`` });
  }
  const { inquirerAsker } = await import("../repl/inquirer-asker.js");
  const asker = inquirerAsker(call.io.streams(), call.engine.signal);
  const request = fillable ? await filledIn(schema, asker) : await chosen(call.engine, context.id, asker);
  if (request === null)
    throw interrupted("the form was left; nothing was written", { hint: `pawl form ${context.id}` });
  return stepReport(call, await answer(context, request));
}

async function filledIn(schema: JsonSchema, asker: FormAsker): Promise<AnswerRequest | null> {
  const { fillForm } = await import("../form.js");
  const data = await fillForm(schema, asker);
  return data === null ? null : { data };
}

/** A phase that leaves nothing of a human's still has answers to choose from. */
async function chosen(engine: Engine, task: string, asker: FormAsker): Promise<AnswerRequest | null> {
  const { askAnswer } = await import("../repl/menus.js");
  const { readOffers, targetsOf } = await import("../repl/offers.js");
  const offers = await readOffers(engine, task);
  return askAnswer({ asker, offers, targets: (choice) => targetsOf(engine, task, choice) });
}

function readData(call: Invocation, name: string): Record<string, unknown> {
  const file = name === "-" ? "standard input" : resolve(call.io.cwd, name);
  let bytes: Buffer;
  try {
    bytes = readFileSync(name === "-" ? 0 : file);
  } catch (error) {
    throw usage(`the answer cannot be read: ${messageOf(error)}`, {
      hint: "pawl answer @FILE, or @- for standard input",
    });
  }
  const parsed = parseStrictJson(bytes, file);
  if ("error" in parsed)
    throw usage(parsed.error.message, { findings: [parsed.error], hint: "mend it, and answer again" });
  const { value } = parsed;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw usage(`${file} is not a JSON object`, { hint: "the file is the artifact itself" });
}
