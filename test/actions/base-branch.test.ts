import { describe, expect, it } from "vitest";
import { findBaseBranch } from "../../src/actions/base-branch.js";
import { openRepository } from "../../src/actions/repository.js";
import { makeRepository, type TestRepository } from "../support/repository.js";
import { errorOf } from "../support/errors.js";
import {} from "./story.js";

async function find(repo: TestRepository, baseBranch: string | null = null, fields = {}) {
  const repository = await openRepository({ repo: repo.dir, env: repo.env });
  return findBaseBranch(repository, { settings: { baseBranch, branch: "pawl/t1" }, fields });
}

describe("findBaseBranch", () => {
  it("takes the configured branch before any other", async () => {
    const repo = makeRepository();
    repo.git("branch", "release");
    expect(await find(repo, "release")).toEqual({ name: "release", head: repo.git("rev-parse", "main") });
  });

  it("takes the remote's default branch before the one that is checked out", async () => {
    const repo = makeRepository();
    repo.git("update-ref", "refs/remotes/origin/main", "main");
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main");
    repo.git("switch", "--quiet", "-c", "feature");
    expect((await find(repo)).name).toBe("main");
  });

  it("takes the branch that is checked out, where there is no remote", async () => {
    const repo = makeRepository();
    repo.git("switch", "--quiet", "-c", "trunk/one");
    expect((await find(repo)).name).toBe("trunk/one");
  });

  it("takes main for a detached HEAD and for the task's own branch", async () => {
    const repo = makeRepository();
    repo.git("switch", "--quiet", "--detach");
    expect((await find(repo)).name).toBe("main");
    repo.git("switch", "--quiet", "-c", "pawl/t1");
    expect((await find(repo)).name).toBe("main");
  });

  it("keeps to the branch that the task began with", async () => {
    const repo = makeRepository();
    repo.git("switch", "--quiet", "-c", "feature");
    expect((await find(repo, "feature", { git: { base: "main" } })).name).toBe("main");
  });

  it("says what was looked at, when there is none", async () => {
    const repo = makeRepository();
    repo.git("switch", "--quiet", "--detach");
    repo.git("branch", "-m", "main", "odd");
    const error = await errorOf(find(repo));
    expect(error.kind).toBe("refused");
    for (const where of ["origin/HEAD", "checked out", "main", "master"]) expect(error.message).toContain(where);
    expect(error.hint).toContain("baseBranch");
  });

  it("refuses a configured branch that is not there", async () => {
    expect((await errorOf(find(makeRepository(), "release"))).message).toContain("no local branch release");
  });

  it("names what brings back the branch that the task began with; another in pawl.json does not", async () => {
    const repo = makeRepository();
    repo.git("branch", "-m", "main", "other");
    const start = repo.git("rev-parse", "other");
    const error = await errorOf(find(repo, "other", { git: { base: "main", start } }));
    expect(error.hint).toContain(`git branch main ${start}`);
    expect(error.hint).not.toContain("pawl.json");
  });

  it("says that a repository has no commit yet", async () => {
    const error = await errorOf(find(makeRepository({ files: null })));
    expect(error.kind).toBe("refused");
    expect(error.message).toContain("no commit yet");
    expect(error.hint).toContain("git commit");
  });
});

describe("openRepository", () => {
  it("refuses a task without a repository, and says what to do", async () => {
    const error = await errorOf(openRepository({ repo: null, env: {} }));
    expect(error.kind).toBe("refused");
    expect(error.hint).toMatch(/git init.*--repo/);
  });

  it("refuses a directory below another repository's top", async () => {
    const { dir, env, write } = makeRepository();
    write("sub/file", "x");
    const error = await errorOf(openRepository({ repo: `${dir}/sub`, env }));
    expect(error.message).toContain("not the top directory");
  });

  it("refuses a directory that is no repository", async () => {
    const { root, env } = makeRepository();
    expect((await errorOf(openRepository({ repo: `${root}/home`, env }))).message).toContain("not a git repository");
  });
});
