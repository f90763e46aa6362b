/** Actions that note how a step went. */
import { remember, tddAction } from "./define.js";
import { headOf, openWorkTree } from "./work-tree.js";
import { treeOf } from "../git.js";

export const awaitAnalysis = tddAction("await-analysis", false, ({ facts, record }) =>
  remember(record, { pending: facts.redTest }),
);

export const noteFailure = tddAction("note-failure", false, ({ facts, record, fields }) => {
  const { command, expectation, output = "", problem } = facts;
  const failed = command === undefined || expectation === undefined ? record.failed : { command, expectation };
  const { patch } = remember(
    record,
    { failed, pending: undefined },
    { last_error: output === "" ? problem : output, debug_attempt_counter: attemptsIn(fields) + 1 },
  );
  return { patch: { ...patch, failed: true } };
});

export const leaveDebugging = tddAction("leave-debugging", false, ({ record }) =>
  remember(
    record,
    { failed: undefined, pending: undefined, replanning: undefined },
    { last_error: undefined, debug_attempt_counter: undefined },
  ),
);

export const askCheckpoint = tddAction("ask-checkpoint", false, async ({ settings, record }) =>
  remember(record, { checkpoint: { head: await headOf(settings) } }),
);

export const goOn = tddAction("go-on", false, ({ record }) => remember(record, { checkpoint: undefined }));

export const countFailure = tddAction("count-failure", false, () => ({ patch: { failed: true } }));

export const approveChange = tddAction("approve-change", false, async ({ settings, record }) => {
  if (settings.repo === null) return {};
  const { git, head } = await openWorkTree(settings);
  return head === null ? {} : remember(record, { reviewed: { commit: head, tree: await treeOf(git, head) } });
});

export const saveCommit = tddAction("save-commit", false, ({ facts, record }) =>
  remember(record, {}, { last_commit_hash: facts.commit }),
);

/** The reason and where to go on are one write with the halt itself. */
export const halt = tddAction("halt", false, ({ facts, record, fields, from, reason, now }) => {
  const error = facts.error ?? fields["last_error"] ?? reason;
  const report = facts["report"];
  return {
    ...remember(record, { halted: { phase: from, reason } }, { last_error: error }),
    ...(typeof report === "string"
      ? { files: { [`reports/${now().toISOString().replaceAll(":", "-")}.md`]: report } }
      : {}),
  };
});

/** A human's word counts as a new beginning: one failure stands, the one that is still to be mended. */
export const takeUp = tddAction("take-up", false, ({ record, fields, to }) => {
  const counter = to === "DEBUGGING" && attemptsIn(fields) > 0 ? { debug_attempt_counter: 1 } : {};
  return remember(record, { halted: undefined }, counter);
});

export function attemptsIn(fields: Readonly<Record<string, unknown>>): number {
  const counter = fields["debug_attempt_counter"];
  return typeof counter === "number" && Number.isSafeInteger(counter) && counter > 0 ? counter : 0;
}
