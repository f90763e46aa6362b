/** What an action gets and gives. Actions do the work of git and processes; they never write task state themselves. */
import type { ActionCall, ArtifactStatus, Event } from "../workflow/types.js";
import type { Finding } from "../errors.js";

/** Where a task works, resolved from task.md, pawl.json, environment and flags. Paths are absolute. */
export interface TaskSettings {
  id: string;
  title: string;
  dir: string;
  workspace: string;
  /** The repository's top directory; null when the task has none. */
  repo: string | null;
  /** Files to begin a new repository with, where `repo` does not exist yet; null for the usual case. */
  seed: string | null;
  /** As configured; null means: find out. */
  baseBranch: string | null;
  worktree: string;
  branch: string;
  /** Shell command lines. */
  test: string[];
  testTimeoutMs: number;
  /** What makes a worktree fit to work in: files of the workspace to copy, and shell command lines. */
  setup: { copy: string[]; run: string[] };
  /** The project's full check, a shell command line. */
  preflight: string;
  /** Hold a RED step's failure and a GREEN step's tests against what a cheat or a slip would look like. */
  verifyRed: boolean;
  /** The document that lists the pull requests, relative to the repository. */
  masterPlan: string;
  /** Environment for git and for the project's own commands. */
  env: Record<string, string>;
}

export interface ActionContext {
  settings: TaskSettings;
  /** The evidence at the moment of the decision. */
  artifacts: Record<string, ArtifactStatus>;
  event: Event;
  /** The decision's reason. */
  reason: string;
  from: string;
  to: string;
  /** Further fields of the state file that earlier actions left (`patch.fields`). */
  fields: Readonly<Record<string, unknown>>;
  /** The counters at the moment of the decision. */
  counters: Readonly<Record<string, number>>;
  /** What a human types to have the change made again, and to have this done again. */
  back: string;
  again: string;
  now: () => Date;
  progress: (text: string) => void;
  signal?: AbortSignal;
}

/** What a transition's action changes besides the outside world; written together with the transition, or not at all. */
export interface ActionResult {
  /** For the history and for people, one sentence each. */
  notes?: string[];
  patch?: StatePatch;
  /** Artifacts (by name) and further files (by path relative to the task directory) to write. */
  artifacts?: Record<string, unknown>;
  files?: Record<string, string>;
}

export interface StatePatch {
  waiting?: string | null;
  resetVisits?: boolean;
  /** What was tried in the phase failed: it counts among the failures of the present visit. */
  failed?: boolean;
  /** Artifacts to put away, so that the phase makes them anew; "*" stands for all that the phase leaves. */
  archive?: string[];
  counters?: Record<string, number>;
  /** Further fields of the state file. `undefined` removes one. */
  fields?: Record<string, unknown>;
}

/** Done while a transition is taken, before it is written. Must be safe to repeat: a crash may come between. */
export interface Action {
  name: string;
  /** One line for `pawl spec` and for people who write documents. */
  about: string;
  /** False for one that only says what to write into the task directory; any other touches a repository. */
  outside: boolean;
  run(context: ActionContext, call: ActionCall): Promise<ActionResult>;
}

export interface MakerContext {
  settings: TaskSettings;
  artifacts: Record<string, ArtifactStatus>;
  /** The artifact as it was last accepted, if ever. */
  accepted: unknown;
  /** Directory (absolute, existing) for logs of this run, and the same relative to the task directory. */
  runDir: string;
  runPath: string;
  fields: Readonly<Record<string, unknown>>;
  progress: (text: string) => void;
  signal?: AbortSignal;
}

export interface Made {
  data: unknown;
  files?: Record<string, string>;
  notes?: string[];
}

/** Makes an artifact that nobody but pawl may write. */
export interface Maker {
  name: string;
  about: string;
  /** Artifacts that it looks at where they are there, besides those that its own judges. */
  looksAt?: string[];
  make(context: MakerContext): Promise<Made>;
  /**
   * Is there something new to make it from, though no agent was run? Decides whether work that a person did by hand counts.
   * Absent: the artifact can always be made without an agent.
   */
  ready?(context: Omit<MakerContext, "runDir" | "runPath">): Promise<boolean>;
  /** Does the artifact still describe what is out there? A finding says why not. */
  check?(context: Omit<MakerContext, "runDir" | "runPath" | "accepted">, data: unknown): Promise<Finding | null>;
}
