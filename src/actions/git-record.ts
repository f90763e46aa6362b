/** What pawl remembers about a task's git work, in the state's field `git`. */

export interface GitRecord {
  /** Name of the base branch. */
  base?: string;
  /** Commit of the base branch that the task's branch starts from. */
  start?: string;
  branch?: string;
  worktree?: string;
  /** Every merge of the task, oldest first. */
  merged: MergeRecord[];
  /** Every commit that undid one, oldest first. */
  reverted: MergeRecord[];
}

export interface MergeRecord {
  commit: string;
  /** Name of the branch that the commit is on. */
  base: string;
  /** Where that branch stood before. */
  before: string;
}

export function gitRecord(fields: Readonly<Record<string, unknown>>): GitRecord {
  const git = objectOf(fields["git"]);
  const record: GitRecord = { merged: mergeRecords(git["merged"]), reverted: mergeRecords(git["reverted"]) };
  for (const key of ["base", "start", "branch", "worktree"] as const) {
    const value = git[key];
    if (typeof value === "string") record[key] = value;
  }
  return record;
}

/** The field `git` after one more merge or revert; one that is on record already, because it was repeated, is not added. */
export function withMerge(fields: Readonly<Record<string, unknown>>, merged: MergeRecord | null): GitRecord {
  const record = gitRecord(fields);
  return merged === null ? record : { ...record, merged: adding(record.merged, [merged]) };
}

export function withReverts(fields: Readonly<Record<string, unknown>>, reverted: readonly MergeRecord[]): GitRecord {
  const record = gitRecord(fields);
  return { ...record, reverted: adding(record.reverted, reverted) };
}

function adding(known: MergeRecord[], more: readonly MergeRecord[]): MergeRecord[] {
  return [...known, ...more.filter(({ commit }) => !known.some((one) => one.commit === commit))];
}

/** A list; a state of an earlier pawl holds the last one alone. */
function mergeRecords(value: unknown): MergeRecord[] {
  return [value].flat().flatMap((one) => {
    const { commit, base, before } = objectOf(one);
    const whole = typeof commit === "string" && typeof base === "string" && typeof before === "string";
    return whole ? [{ commit, base, before }] : [];
  });
}

export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
