/** Asking for what a command cannot do without. */
import type { Offers } from "./complete.js";
import { FREE_TEXT, type CommandRequest } from "./parse-line.js";

/** The port to a person: a terminal, or a script in a test. Both answer null when the question was cancelled. */
export interface Asker {
  select(question: string, choices: string[]): Promise<string | null>;
  input(question: string, options: { required: boolean }): Promise<string | null>;
}

export interface Menu {
  asker: Asker;
  offers: Offers;
  /** Where an answer can lead to. */
  targets(choice: string): Promise<string[]>;
}

const QUESTIONS: Record<string, string> = {
  phase: "Which phase?",
  choice: "Your answer?",
  title: "What is wanted, in one line?",
  reason: "Why? (goes on record)",
  note: "What should be done differently?",
  workflow: "Which workflow?",
};

/** The request with nothing missing; null when the person would rather not. */
export async function askForMissing(request: CommandRequest, menu: Menu): Promise<CommandRequest | null> {
  const complete: CommandRequest = {
    ...request,
    options: [...request.options],
    positionals: [...request.positionals],
    missing: [],
  };
  const text = FREE_TEXT[request.path[0] ?? ""]?.option;
  for (const name of request.missing) {
    const value = await askFor(name, menu);
    if (value === null) return null;
    if (name === text) complete.options.push(`--${name}=${value}`);
    else complete.positionals.push(value);
    if (name === "choice" && !(await askAboutAnswer(complete, value, menu))) return null;
  }
  return complete;
}

async function askAboutAnswer(request: CommandRequest, choice: string, menu: Menu): Promise<boolean> {
  const given = (option: string): boolean => request.options.some((word) => word.startsWith(`--${option}=`));
  const details = await askDetails(choice, menu, given);
  for (const [option, value] of Object.entries(details ?? {})) request.options.push(`--${option}=${value}`);
  return details !== null;
}

/** One of the answers that the phase knows, with all that belongs to it; null when the person would rather not. */
export async function askAnswer(menu: Menu): Promise<{ choice: string; to?: string; note?: string } | null> {
  const choice = await askFor("choice", menu);
  const details = choice === null ? null : await askDetails(choice, menu, () => false);
  return choice === null || details === null ? null : { choice, ...details };
}

/** With several places to go the answer has to name one; a note may be left out. */
async function askDetails(
  choice: string,
  { asker, targets }: Menu,
  given: (option: string) => boolean,
): Promise<{ to?: string; note?: string } | null> {
  const places = given("to") ? [] : await targets(choice);
  const to = places.length > 1 ? await asker.select("Where to?", places) : undefined;
  if (to === null) return null;
  const note = given("note") ? "" : await asker.input("Why? (may stay empty)", { required: false });
  if (note === null) return null;
  return { ...(to === undefined ? {} : { to }), ...(note.trim() === "" ? {} : { note: note.trim() }) };
}

function askFor(name: string, { asker, offers }: Menu): Promise<string | null> {
  const lists: Record<string, string[]> = {
    phase: offers.phases,
    choice: offers.choices,
    task: offers.tasks,
    workflow: offers.workflows,
  };
  const choices = lists[name] ?? [];
  const question = QUESTIONS[name] ?? `${name}?`;
  return choices.length > 0 ? asker.select(question, choices) : asker.input(question, { required: true });
}
