/** The code review: pawl runs the configured reviewer on the difference to the base branch. The agent has no tool for it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mergeBase } from "../../actions/git.js";
import { writeTree } from "../../actions/snapshot.js";
import { baseOf, openWorkTree, type WorkTree } from "../../actions/tdd/work-tree.js";
import { fillPrompt } from "../../agents/prompt.js";
import { resolveAgent } from "../../agents/resolve.js";
import { runAgent } from "../../agents/run-agent.js";
import { interrupted, refused } from "../../errors.js";
import { findSystemFile, packageRoot } from "../../system/locate.js";
import { loadSchema } from "../../system/schemas.js";
import { readIfThere } from "../../task/plain-file.js";
import { MAX_BYTES, parseStrictJson } from "../../task/strict-json.js";
import { describeFinding, type ActivePr, type ReviewFinding } from "../../tdd/active-pr.js";
import type { Facts, Material } from "../../tdd/facts.js";
import { milliseconds, type AgentConfig } from "../../workspace/config.js";
import { agentOf } from "../../workspace/settings.js";
import type { TaskContext } from "../context.js";
import type { LongWork } from "../long-work.js";

const ROLE = "code_reviewer";
const PROMPT = "tdd_reviewer";
const SCHEMA = "review-findings.schema.json";
/** Where nobody is set for the role. */
const DEFAULT_REVIEWER: AgentConfig = { use: "gemini" };
const TIMEOUT = "30m";
/** A longer difference is read from its file. */
const MAX_DIFF = 128 * 1024;

type Review = Pick<Facts, "review" | "problem"> & Material;

export async function reviewChange(
  context: TaskContext,
  run: LongWork,
  fields: Readonly<Record<string, unknown>>,
  pr: ActivePr,
): Promise<Review> {
  const settings = await context.settings();
  const config = agentOf(settings, ROLE) ?? DEFAULT_REVIEWER;
  if (config.use === "human")
    throw refused("a human is set for the role code_reviewer, whom pawl cannot ask here", {
      hint: 'set an agent in pawl.json: "agents": { "code_reviewer": { "use": "gemini" } }; then call get_task',
    });
  const tree = await openWorkTree(settings, context.signal);
  const before = await writeTree(tree.files);
  const diff = await diffOf(tree, (await baseOf(tree, settings, fields)).head);
  const diffFile = join(run.folder, "diff.patch");
  writeFileSync(diffFile, diff);
  const artifact = join(run.folder, "review.json");
  const spec = await resolveAgent(
    {
      ...(config.use === undefined ? {} : { use: config.use }),
      ...(config.command === undefined ? {} : { command: config.command }),
      timeoutMs: milliseconds(config.timeout ?? TIMEOUT),
      // It is waited for, and what it prints is read.
      terminal: false,
      env: config.env ?? [],
      repairs: 0,
    },
    context.workspace.root,
  );
  context.beforeRun?.();
  const result = await runAgent(
    spec,
    {
      role: ROLE,
      phase: "CODE_REVIEW",
      attempt: run.number,
      repair: 0,
      task: context.id,
      taskDir: context.dir,
      workspace: context.workspace.root,
      cwd: settings.worktree,
      runDir: run.folder,
      prompt: promptFor(context, { pr, diff, diffFile, artifact }),
      artifacts: { review: artifact },
      env: settings.env,
      token: run.token,
      progress: context.progress,
      ...(context.signal === undefined ? {} : { signal: context.signal }),
    },
    join(packageRoot(), "dist", "bin"),
  );
  if (result.outcome === "interrupted")
    throw interrupted("the code review was interrupted", { hint: "call get_task again" });
  if (result.outcome !== "finished") return notApproved(`the reviewer failed: ${result.summary}`);
  if ((await writeTree((await openWorkTree(settings)).files)) !== before)
    return notApproved("the reviewer changed files of the work tree, so that it judged something else");
  return judge(context, artifact);
}

/** No valid JSON with `findings` approves nothing. */
async function judge(context: TaskContext, artifact: string): Promise<Review> {
  const bytes = readIfThere(artifact, MAX_BYTES);
  if (bytes === null) return notApproved("the reviewer left no review");
  const parsed = parseStrictJson(bytes, "review.json");
  if ("error" in parsed) return notApproved(parsed.error.message);
  const wrong = await context.validate(SCHEMA, parsed.value, "review.json");
  if (wrong.length > 0) return notApproved(wrong.map(({ message }) => message).join("; "));
  const { findings } = parsed.value as { findings: ReviewFinding[] };
  if (findings.length === 0) return { review: "approved", problem: "" };
  return { review: "findings", problem: findings.map(describeFinding).join("; "), findings };
}

function notApproved(problem: string): Review {
  return { review: "failed", problem, error: problem };
}

/** All that the branch changes, and what is not committed yet. */
async function diffOf({ git, head }: WorkTree, base: string): Promise<string> {
  if (head === null) return "";
  const from = (await mergeBase(git, base, head)) ?? base;
  return (await git(["diff", "--no-color", "--no-ext-diff", "--no-textconv", from])).stdout;
}

function promptFor(
  context: TaskContext,
  given: { pr: ActivePr; diff: string; diffFile: string; artifact: string },
): string {
  const { pr, diff, diffFile, artifact } = given;
  const { root } = context.workspace;
  const file = findSystemFile("agents", `${PROMPT}.md`, root);
  if (file === undefined) throw refused(`there is no prompt ${PROMPT}.md`, { hint: `put it into system/agents` });
  const cut = `${diff.slice(0, MAX_DIFF)}\n[… cut here; all of it is in ${diffFile}]`;
  const slots = {
    title: pr.prTitle ?? "(no title)",
    active_pr: JSON.stringify(pr, null, 2),
    diff: diff === "" ? "(no difference)" : diff.length > MAX_DIFF ? cut : diff,
    schema: JSON.stringify(loadSchema(SCHEMA, root).schema, null, 2),
    artifact,
  };
  return fillPrompt(readFileSync(file.path, "utf8"), slots, file.path);
}
