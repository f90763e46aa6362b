/** What holds for one task: its task.md first, then pawl.json, then what can be found out. */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { TaskSettings } from "../actions/types.js";
import type { TaskFile } from "../task/task-file.js";
import { milliseconds, type AgentConfig, type Config } from "./config.js";
import { taskDirectory, worktreeDirectory, type Workspace } from "./workspace.js";

export interface ResolvedSettings extends TaskSettings {
  brief: string;
  agents: Record<string, AgentConfig>;
}

const TEST_TIMEOUT = "15m";
const PREFLIGHT = "npm run preflight";
const MASTER_PLAN = "docs/Plan_Doc/Active_Plan.md";

export function resolveSettings(
  workspace: Workspace,
  config: Config,
  id: string,
  task: TaskFile | null,
): ResolvedSettings {
  const dir = taskDirectory(workspace, id);
  const env = Object.fromEntries(
    Object.entries(workspace.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return {
    id,
    dir,
    title: task?.title ?? id,
    brief: task?.brief ?? "",
    workspace: workspace.root,
    repo: task?.repo === undefined ? gitTop(workspace.root) : resolve(dir, task.repo),
    seed: task?.seed === undefined ? null : resolve(dir, task.seed),
    baseBranch: task?.base ?? config.baseBranch ?? null,
    worktree: worktreeDirectory(workspace, id),
    branch: `pawl/${id}`,
    test: task?.test ?? config.test ?? [],
    testTimeoutMs: milliseconds(config.testTimeout ?? TEST_TIMEOUT),
    setup: { copy: config.setup?.copy ?? [], run: config.setup?.run ?? [] },
    preflight: config.preflight ?? PREFLIGHT,
    verifyRed: config.verifyRed ?? true,
    masterPlan: config.masterPlan ?? MASTER_PLAN,
    env,
    agents: agentsOf(workspace.env["PAWL_AGENT"] ?? task?.agent, config),
  };
}

/** Who does a role's work; undefined where nobody is set. */
export function agentOf({ agents }: Pick<ResolvedSettings, "agents">, role: string): AgentConfig | undefined {
  return agents[role] ?? agents["default"];
}

/** An agent that the environment or the task names serves every role. */
function agentsOf(named: string | undefined, config: Config): Record<string, AgentConfig> {
  return named === undefined || named === "" ? (config.agents ?? {}) : { default: { use: named } };
}

/** The nearest directory above that holds a repository. */
export function gitTop(directory: string): string | null {
  for (let current = directory; ; current = dirname(current)) {
    if (existsSync(join(current, ".git"))) return current;
    if (dirname(current) === current) return null;
  }
}
