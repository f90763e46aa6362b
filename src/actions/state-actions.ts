/** Actions that change nothing but the task's own state. */
import { invalid } from "../errors.js";
import { ABOUT } from "./names.js";
import type { Action } from "./types.js";
import type { ActionCall } from "../workflow/types.js";

export const waitForHuman: Action = {
  name: "wait-for-human",
  about: ABOUT["wait-for-human"],
  outside: false,
  run: ({ reason }) => Promise.resolve({ patch: { waiting: reason } }),
};

export const resetRounds: Action = {
  name: "reset-rounds",
  about: ABOUT["reset-rounds"],
  outside: false,
  run: () => Promise.resolve({ patch: { resetVisits: true, waiting: null } }),
};

export const archiveEvidence: Action = {
  name: "archive-evidence",
  about: ABOUT["archive-evidence"],
  outside: false,
  run: (_context, { args }) =>
    Promise.resolve({ patch: { archive: args.length > 0 ? args : ["*"], resetVisits: true, waiting: null } }),
};

export const count: Action = {
  name: "count",
  about: ABOUT.count,
  outside: false,
  run: async ({ counters }, call) => {
    const name = counterName(call);
    return { patch: { counters: { [name]: (counters[name] ?? 0) + 1 } } };
  },
};

export const clear: Action = {
  name: "clear",
  about: ABOUT.clear,
  outside: false,
  run: async (_context, call) => ({ patch: { counters: { [counterName(call)]: 0 } } }),
};

export const setSummary: Action = {
  name: "set-summary",
  about: ABOUT["set-summary"],
  outside: false,
  run: async ({ event }) => ({ patch: { fields: { summary: event.payload["summary"] } } }),
};

function counterName({ name, args }: ActionCall): string {
  const [counter, ...more] = args;
  if (counter !== undefined && more.length === 0) return counter;
  throw invalid(`the action \`${name}\` takes the name of one counter, found ${JSON.stringify(args)}`, {
    hint: `write \`${name} <counter>\` in the workflow document`,
  });
}
