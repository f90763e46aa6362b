/** A repository on GitHub, through the program `gh`: one pull request for each task, found again whatever happened to pawl. */
import { failed } from "../errors.js";
import { run } from "../process/run.js";
import { line } from "./git.js";
import type { Repository } from "./repository.js";
import type { TaskSettings } from "./types.js";

export interface PullRequest {
  number: number;
  url: string;
  /** The commit of the base branch, where it is merged. */
  merged: string | null;
}

export interface GitHub {
  push(branch: string, head: string): Promise<void>;
  /** The branch's own request: the open one, or the one that merged this very commit. */
  find(branch: string, head: string): Promise<PullRequest | null>;
  create(request: { branch: string; base: string; title: string; id: string }): Promise<PullRequest>;
  /** The commit that the base branch got; null where the two conflict. */
  merge(request: PullRequest, head: string): Promise<string | null>;
  fetchBase(base: string): Promise<string>;
}

const REMOTE = "origin";
const PATIENCE_MS = 5 * 60_000;

/** Null where the repository is somewhere else, or nobody can speak to GitHub. */
export async function githubOf(repository: Repository, settings: TaskSettings): Promise<GitHub | null> {
  // As it is written down, and as git understands it: either may be somebody's shorthand.
  const written = await repository.git(["config", "--get", `remote.${REMOTE}.url`], { allow: [1] });
  const meant = await repository.git(["remote", "get-url", REMOTE], { allow: [2, 128] });
  if (![written, meant].some((url) => /(^|[/@.])github\.com[:/]/i.test(line(url)))) return null;
  const version = await gh(repository, settings, ["--version"]);
  return version.outcome === "exited" && version.exitCode === 0 ? new Program(repository, settings) : null;
}

class Program implements GitHub {
  constructor(
    private readonly repository: Repository,
    private readonly settings: TaskSettings,
  ) {}

  async push(branch: string, head: string): Promise<void> {
    await this.repository.git(["push", "--quiet", REMOTE, `${head}:refs/heads/${branch}`]);
  }

  async find(branch: string, head: string): Promise<PullRequest | null> {
    const fields = "number,url,state,headRefOid,mergeCommit";
    const args = ["pr", "list", "--head", branch, "--state", "all", "--json", fields, "--limit", "50"];
    const requests = JSON.parse(await this.ask(args)) as Listed[];
    const merged = requests.find(({ state, headRefOid }) => state === "MERGED" && headRefOid === head);
    const open = requests.find(({ state }) => state === "OPEN");
    const found = merged ?? open;
    return found === undefined ? null : toRequest(found);
  }

  async create({ branch, base, title, id }: Parameters<GitHub["create"]>[0]): Promise<PullRequest> {
    const body = `The task \`${id}\`, planned, reviewed and tested by pawl.`;
    await this.ask(["pr", "create", "--head", branch, "--base", base, "--title", title || id, "--body", body]);
    const made = await this.find(branch, "");
    if (made === null) throw failed(`gh made no pull request for ${branch}`, { hint: "look at it with: gh pr list" });
    return made;
  }

  async merge({ number }: PullRequest, head: string): Promise<string | null> {
    const args = ["pr", "merge", String(number), "--squash", "--delete-branch", "--match-head-commit", head];
    const result = await gh(this.repository, this.settings, args);
    // Also when it says that it failed: it may have merged, and failed at the branch.
    const now = await this.view(number);
    if (now.state === "MERGED" && now.mergeCommit?.oid !== undefined) return now.mergeCommit.oid;
    const said = `${result.stdout}${result.stderr}`;
    if (now.mergeable === "CONFLICTING" || /merge conflict|not mergeable/i.test(said)) return null;
    throw failed(`the pull request ${number} was not merged: ${said.trim() || result.outcome}`, {
      hint: `gh pr view ${number}; then pawl next ${this.settings.id}`,
    });
  }

  async fetchBase(base: string): Promise<string> {
    await this.repository.git(["fetch", "--quiet", REMOTE, `+refs/heads/${base}:refs/remotes/${REMOTE}/${base}`]);
    return line(await this.repository.git(["rev-parse", "--verify", `refs/remotes/${REMOTE}/${base}`]));
  }

  private async view(number: number): Promise<Listed> {
    const fields = "number,url,state,headRefOid,mergeCommit,mergeable";
    return JSON.parse(await this.ask(["pr", "view", String(number), "--json", fields])) as Listed;
  }

  private async ask(args: string[]): Promise<string> {
    const result = await gh(this.repository, this.settings, args);
    if (result.outcome === "exited" && result.exitCode === 0) return result.stdout;
    const said = (result.error ?? result.stderr).trim() || result.outcome;
    throw failed(`\`gh ${args.slice(0, 2).join(" ")}\` failed: ${said}`, { hint: "see `gh auth status`" });
  }
}

interface Listed {
  number: number;
  url: string;
  state: string;
  headRefOid: string;
  mergeCommit: { oid: string } | null;
  mergeable?: string;
}

function toRequest({ number, url, state, mergeCommit }: Listed): PullRequest {
  return { number, url, merged: state === "MERGED" ? (mergeCommit?.oid ?? null) : null };
}

function gh(repository: Repository, { env }: TaskSettings, args: string[]): ReturnType<typeof run> {
  const quiet = { GH_PROMPT_DISABLED: "1", GH_NO_UPDATE_NOTIFIER: "1", NO_COLOR: "1" };
  return run(["gh", ...args], { cwd: repository.path, env: { ...env, ...quiet }, timeoutMs: PATIENCE_MS });
}
