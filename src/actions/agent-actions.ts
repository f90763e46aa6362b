/**
 * Who is to be at work. These only say so, in one write with the transition: processes are started and ended after it, by
 * whoever gets to it first, and again by the next one where that pawl died.
 */
import { agentAtWork, agentMarks, dismissed } from "../task/agent-mark.js";
import { ABOUT } from "./names.js";
import type { Action } from "./types.js";

export const spawn: Action = {
  name: "spawn",
  about: ABOUT.spawn,
  outside: false,
  run: async ({ fields, to }) => {
    if (agentAtWork(fields)?.serves.includes(to) === true) return {};
    return { patch: { fields: { due: to, ...sentAway(fields) } } };
  },
};

export const dismiss: Action = {
  name: "dismiss",
  about: ABOUT.dismiss,
  outside: false,
  run: async ({ fields }) => ({ patch: { fields: { due: undefined, ...sentAway(fields) } } }),
};

function sentAway(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const marks = agentMarks(fields);
  return marks.length === 0 ? {} : { agents: dismissed(marks) };
}
