/** Asking a human, and what the answer changes. */
import { objectOf } from "./git-record.js";
import { ABOUT } from "./names.js";
import type { Action, ActionContext } from "./types.js";

export interface Question {
  /** The phase to which the answer leads back. */
  origin: string;
  kind: string;
  text: string;
  options: string[];
}

export const askHuman: Action = {
  name: "ask-human",
  about: ABOUT["ask-human"],
  outside: false,
  run: async (context, { args: [kind = "clarification"] }) => {
    const { text, options } = asked(context);
    const question: Question = { origin: context.from, kind, text: text ?? context.reason, options };
    return { patch: { fields: { question } } };
  },
};

/** Its own words, where the agent left a question. */
function asked({ artifacts }: ActionContext): { text: string | undefined; options: string[] } {
  const { text, options } = objectOf(artifacts["question"]?.condition === "ok" ? artifacts["question"].data : {});
  const list = Array.isArray(options) ? options.filter((option) => typeof option === "string") : [];
  return { text: typeof text === "string" ? text : undefined, options: list };
}

/** A small change of the plan, in the words of the human who decided on it. */
export const amendPlan: Action = {
  name: "amend-plan",
  about: ABOUT["amend-plan"],
  outside: false,
  run: async ({ artifacts, event }) => {
    const plan = objectOf(artifacts["plan"]?.data);
    const before = Array.isArray(plan["amendments"]) ? (plan["amendments"] as unknown[]) : [];
    return { artifacts: { plan: { ...plan, amendments: [...before, event.payload.note ?? ""] } } };
  },
};

export const answered: Action = {
  name: "answered",
  about: ABOUT.answered,
  outside: false,
  run: () => Promise.resolve({ patch: { fields: { question: undefined } } }),
};
