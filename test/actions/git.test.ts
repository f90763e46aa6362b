import { describe, expect, it } from "vitest";
import { git, gitIn, identity, line, records } from "../../src/actions/git.js";
import { makeRepository, makeRoot } from "../support/repository.js";
import { errorOf } from "../support/errors.js";
import {} from "./story.js";

describe("git", () => {
  it("says command, directory, what git printed and what to do, when git fails", async () => {
    const { dir, env } = makeRepository();
    const error = await errorOf(git(["rev-parse", "--verify", "nothing"], { cwd: dir, env }));
    expect(error.kind).toBe("failed");
    expect(error.message).toContain("`git rev-parse --verify nothing`");
    expect(error.message).toContain(dir);
    expect(error.message).toContain("fatal: Needed a single revision");
    expect(error.hint).toBeTruthy();
  });

  it("gives an expected exit code back as an answer", async () => {
    const { dir, env } = makeRepository();
    const result = await git(["config", "--get", "no.such"], { cwd: dir, env, allow: [1] });
    expect(result).toMatchObject({ exitCode: 1, stdout: "" });
  });

  it("says how to get git when there is none", async () => {
    const { root } = makeRoot();
    const error = await errorOf(git(["version"], { cwd: root, env: { PATH: root } }));
    expect(error.kind).toBe("failed");
    expect(error.hint).toContain("install git");
  });

  it("says that the directory is missing, not that git is", async () => {
    const { root, env } = makeRoot();
    const error = await errorOf(git(["version"], { cwd: `${root}/nowhere`, env }));
    expect(error.message).toContain("there is no such directory");
  });

  it("names the version for a command that this git does not know", async () => {
    const { dir, env } = makeRepository();
    const error = await errorOf(git(["merge-tree", "--no-such-option"], { cwd: dir, env }));
    expect(error.hint).toMatch(/needs git 2\.38 or later; this is git version \d/);
  });

  it("is interrupted by its signal", async () => {
    const { dir, env } = makeRepository();
    const error = await errorOf(git(["status"], { cwd: dir, env, signal: AbortSignal.abort() }));
    expect(error.kind).toBe("interrupted");
  });

  it("works in its own directory, whatever repository the environment points at", async () => {
    const { dir, env } = makeRepository();
    const other = makeRepository();
    const misleading = { ...env, GIT_DIR: `${other.dir}/.git`, GIT_WORK_TREE: other.dir, GIT_INDEX_FILE: "/dev/null" };
    const at = gitIn(dir, misleading);
    expect(line(await at(["rev-parse", "--show-toplevel"]))).toBe(dir);
    expect(records(await at(["ls-files", "-z"]))).toEqual(["readme.md"]);
  });

  it("gives an identity only where none is configured, and never writes configuration", async () => {
    const { dir, env, git: run } = makeRepository();
    const { GIT_AUTHOR_NAME: _1, GIT_AUTHOR_EMAIL: _2, GIT_COMMITTER_NAME: _3, GIT_COMMITTER_EMAIL: _4, ...bare } = env;
    expect(await identity(gitIn(dir, bare), bare)).toEqual({
      GIT_AUTHOR_NAME: "pawl",
      GIT_AUTHOR_EMAIL: "pawl@localhost",
      GIT_COMMITTER_NAME: "pawl",
      GIT_COMMITTER_EMAIL: "pawl@localhost",
    });
    expect(await identity(gitIn(dir, env), env)).toEqual({});
    run("config", "user.name", "Ada");
    run("config", "author.email", "ada@example.org");
    expect(await identity(gitIn(dir, bare), bare)).toEqual({ GIT_COMMITTER_EMAIL: "pawl@localhost" });
  });
});
