/** What each action and maker is for. Apart from their code, so that a document can be checked without loading any of it. */

export const ABOUT = {
  "archive-evidence":
    "puts the phase's artifacts (or those named) away, so that they are made anew; the rounds start again",
  clear: "sets the named counter to 0",
  count: "raises the named counter by 1",
  merge: "merges the task's branch into the base branch, without touching anybody's uncommitted work",
  "prepare-worktree": "makes the task's branch and its own git worktree, or mends and reuses what is there",
  "render-plan": "writes planning/plan.md, the plan for people to read",
  "reset-rounds": "a human allows more rounds: the visits of every phase count from 0 again",
  "revert-change": "undoes the task: a merged change is reverted by a commit, an unmerged branch is put away",
  "wait-for-human": "stops the task until a human steps in, with the reason",
  "derive-change": "commits what is in the worktree and describes the change against the base branch",
  "run-tests": "runs the project's own test commands in the worktree and reports what they did",
} as const;
