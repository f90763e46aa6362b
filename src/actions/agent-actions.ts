/**
 * Who is to be at work. These only say so, in one write with the transition: processes are started and ended after it, by
 * whoever gets to it first, and again by the next one where that pawl died.
 */
import { agentMark } from "../task/agent-mark.js";
import { ABOUT } from "./names.js";
import type { Action } from "./types.js";

export const spawn: Action = {
  name: "spawn",
  about: ABOUT.spawn,
  outside: false,
  run: async ({ to }) => ({ patch: { fields: { due: to } } }),
};

export const dismiss: Action = {
  name: "dismiss",
  about: ABOUT.dismiss,
  outside: false,
  run: async ({ fields }) => {
    const mark = agentMark(fields);
    return { patch: { fields: { due: undefined, ...(mark === null ? {} : { agent: { ...mark, dismissed: true } }) } } };
  },
};
