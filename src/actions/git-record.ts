/** What pawl remembers about a task's git work, in the state's field `git`. */

export interface GitRecord {
  /** Name of the base branch. */
  base?: string;
  /** Commit of the base branch that the task's branch starts from. */
  start?: string;
  branch?: string;
  worktree?: string;
  merged?: MergeRecord;
  reverted?: MergeRecord;
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
  const record: GitRecord = {};
  for (const key of ["base", "start", "branch", "worktree"] as const) {
    const value = git[key];
    if (typeof value === "string") record[key] = value;
  }
  for (const key of ["merged", "reverted"] as const) {
    const { commit, base, before } = objectOf(git[key]);
    if (typeof commit === "string" && typeof base === "string" && typeof before === "string") {
      record[key] = { commit, base, before };
    }
  }
  return record;
}

export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
