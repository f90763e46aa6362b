import { describe, expect, it } from "vitest";
import { openRepository } from "../../src/actions/repository.js";
import { rescueCommit, rescueRefs, rescueTree } from "../../src/actions/rescue.js";
import { makeRepository } from "../support/repository.js";

describe("rescue", () => {
  it("numbers what it keeps, and keeps nothing twice", async () => {
    const repo = makeRepository();
    const repository = await openRepository({ repo: repo.dir, env: repo.env });
    const commits = Array.from({ length: 11 }, (_, n) => repo.commit(`Commit ${n}`));
    const refs: string[] = [];
    for (const commit of commits) refs.push(await rescueCommit(repository, "t1", commit));
    expect(refs.at(-1)).toBe("refs/pawl/rescue/t1/11");
    expect(await rescueCommit(repository, "t1", commits[3] ?? "")).toBe("refs/pawl/rescue/t1/4");
    expect((await rescueRefs(repository, "t1")).map(({ commit }) => commit)).toEqual(commits);
    expect(await rescueRefs(repository, "t")).toEqual([]);
  });

  it("keeps a tree on top of the commit it grew from, once", async () => {
    const repo = makeRepository();
    const repository = await openRepository({ repo: repo.dir, env: repo.env });
    const parent = repo.git("rev-parse", "HEAD");
    repo.write("new", "x");
    repo.git("add", "new");
    const content = { tree: repo.git("write-tree"), parent, what: "Left" };
    const ref = await rescueTree(repository, "t1", content);
    expect(repo.git("show", `${ref}:new`)).toBe("x");
    expect(repo.git("rev-parse", `${ref}^`)).toBe(parent);
    // At another time the commit would have another name: the tree and its parent are what counts.
    repository.env["GIT_COMMITTER_DATE"] = "2027-01-01T00:00:00Z";
    expect(await rescueTree(repository, "t1", content)).toBe(ref);
  });
});
