/** How the actions of the test-driven workflow are written down: what they remember goes to the field `tdd` of the state. */
import { materialOf, type Facts, type Material } from "../../tdd/facts.js";
import { tddRecord, type TddRecord } from "../../tdd/record.js";
import { ABOUT } from "../names.js";
import type { Action, ActionContext, ActionResult } from "../types.js";

export interface TddContext extends ActionContext {
  facts: Facts & Material;
  record: TddRecord;
}

type Remembered = { [K in keyof TddRecord]?: TddRecord[K] | undefined };

export function tddAction(
  name: keyof typeof ABOUT,
  outside: boolean,
  run: (context: TddContext) => Promise<ActionResult> | ActionResult,
): Action {
  return {
    name,
    about: ABOUT[name],
    outside,
    run: async (context) =>
      run({ ...context, facts: materialOf(context.event.payload), record: tddRecord(context.fields) }),
  };
}

/** `undefined` forgets. */
export function remember(
  record: TddRecord,
  change: Remembered,
  fields: Record<string, unknown> = {},
): Required<Pick<ActionResult, "patch">> {
  const entries = Object.entries({ ...record, ...change }).filter(([, value]) => value !== undefined);
  return { patch: { fields: { ...fields, tdd: Object.fromEntries(entries) } } };
}
