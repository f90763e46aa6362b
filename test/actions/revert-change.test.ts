import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { merge } from "../../src/actions/merge.js";
import { revertChange } from "../../src/actions/revert-change.js";
import type { ActionResult } from "../../src/actions/types.js";
import { makeRepository } from "../support/repository.js";
import { errorOf } from "../support/errors.js";
import { makeStory, type Story } from "./story.js";

interface RevertRecord {
  reason: string;
  who: string;
  when: string;
  commits: string[];
  impact: string;
}

const schema = JSON.parse(readFileSync("system/schemas/revert-record.schema.json", "utf8")) as object;
const valid = new Ajv2020({ strict: false }).compile(schema);

function recordOf(result: ActionResult): RevertRecord {
  const record = result.artifacts?.["revert_record"];
  expect(valid(record), JSON.stringify(valid.errors)).toBe(true);
  return record as RevertRecord;
}

async function mergedStory(files: Record<string, string> = { file: "x\n", "readme.md": "changed\n" }): Promise<Story> {
  const story = makeStory({ repo: makeRepository({ files: { "readme.md": "one\n", other: "1\n", more: "1\n" } }) });
  await story.changed(files);
  await story.merge();
  return story;
}

describe("revert-change, of a merged task", () => {
  it("makes one commit that takes the change back, and records it", async () => {
    const story = await mergedStory();
    const { repo } = story;
    const merged = repo.git("rev-parse", "main");
    const event = {
      name: "answer",
      by: { kind: "human" as const, name: "Ada" },
      payload: { choice: "revert", note: "It broke\nthe build." },
    };
    const result = await story.act(revertChange, { event });
    const commit = repo.git("rev-parse", "main");
    expect(recordOf(result)).toEqual({
      reason: "It broke\nthe build.",
      who: "Ada",
      when: "2026-05-06T07:08:09.000Z",
      commits: [commit],
      impact: `The merge ${merged} on main was undone by ${commit}. \`git revert ${commit}\` brings the change back.`,
    });
    expect(repo.git("log", "-1", "--format=%P", "main")).toBe(merged);
    expect(repo.git("rev-parse", "main^{tree}")).toBe(repo.git("rev-parse", `${merged}^1^{tree}`));
    expect(repo.git("log", "-1", "--format=%B", "main").trim()).toBe(
      `Revert Add a thing\n\nIt broke the build.\n\nPawl-Revert-Of: ${merged}\nPawl-Task: t1`,
    );
    expect(repo.git("status", "--porcelain")).toBe("");
    expect(repo.has("file")).toBe(false);
    expect(story.fields["git"]).toMatchObject({ merged: [{ commit: merged }], reverted: [{ commit, before: merged }] });
  });

  it("keeps what came later, and the user's uncommitted work", async () => {
    const story = await mergedStory();
    const { repo } = story;
    repo.commit("Later", { later: "kept\n" });
    repo.write("other", "staged");
    repo.git("add", "other");
    repo.write("other", "changed again");
    repo.write("more", "unstaged");
    repo.write("untracked", "u");
    const uncommitted = (): string[] => [
      repo.git("status", "--porcelain"),
      repo.git("diff"),
      repo.git("diff", "--cached"),
    ];
    const before = uncommitted();
    await story.revert();
    expect(uncommitted()).toEqual(before);
    expect(repo.read("later")).toBe("kept\n");
    expect(repo.read("readme.md")).toBe("one\n");
    expect(repo.read("untracked")).toBe("u");
  });

  it("refuses to overwrite uncommitted work, and changes nothing", async () => {
    const story = await mergedStory();
    const { repo } = story;
    const main = repo.git("rev-parse", "main");
    repo.write("readme.md", "mine");
    repo.write("file", "mine too");
    const error = await errorOf(story.revert());
    expect(error).toMatchObject({ kind: "refused", data: { files: ["file", "readme.md"] } });
    expect(error.hint).toContain("pawl answer revert");
    expect(repo.git("rev-parse", "main")).toBe(main);
    expect(repo.read("readme.md") + repo.read("file")).toBe("minemine too");
  });

  it("refuses when later commits build on it, with the files", async () => {
    const story = await mergedStory();
    const main = story.repo.commit("Builds on it", { file: "x\nand more\n" });
    const error = await errorOf(story.revert());
    expect(error).toMatchObject({ kind: "refused", data: { conflicts: ["file"] } });
    expect(error.hint).toMatch(/git revert -m 1 [0-9a-f]{40}/);
    expect(story.repo.git("rev-parse", "main")).toBe(main);
  });

  it("is not done twice after a crash, even below later commits", async () => {
    const story = await mergedStory();
    const first = await story.attempt(revertChange);
    story.repo.commit("Later", { later: "x" });
    const main = story.repo.git("rev-parse", "main");
    const second = await story.attempt(revertChange);
    expect(second).toEqual(first);
    expect(story.repo.git("rev-parse", "main")).toBe(main);
  });

  it("takes a revert made by hand for the revert", async () => {
    const story = await mergedStory();
    const { repo } = story;
    repo.git("revert", "--no-edit", "-m", "1", "main");
    const commit = repo.git("rev-parse", "main");
    expect(recordOf(await story.revert()).commits).toEqual([commit]);
    expect(repo.git("rev-parse", "main")).toBe(commit);
  });

  it("undoes it again after the user brought it back as the record says", async () => {
    const story = await mergedStory();
    const { repo } = story;
    const [first] = recordOf(await story.revert()).commits;
    repo.git("revert", "--no-edit", first ?? "");
    expect(repo.read("readme.md")).toBe("changed\n");
    const [second] = recordOf(await story.revert()).commits;
    expect(second).toBe(repo.git("rev-parse", "main"));
    expect(repo.read("readme.md")).toBe("one\n");
    expect(recordOf(await story.revert()).commits).toEqual([second]);
  });

  it.each(["Not yet: 'This reverts commit %s'.", "x\n\nThis reverts commit %s.\n"])(
    "is not taken in by a commit that says %j",
    async (message) => {
      const story = await mergedStory();
      const { repo } = story;
      repo.commit(message.replace("%s", repo.git("rev-parse", "main")), { later: "x" });
      const { commits } = recordOf(await story.revert());
      expect(commits).toEqual([repo.git("rev-parse", "main")]);
      expect(repo.has("file")).toBe(false);
    },
  );

  describe("where later commits build on it", () => {
    async function builtUpon(): Promise<Story> {
      const story = await mergedStory();
      story.repo.commit("Builds on it", { file: "x\nand more\n" });
      return story;
    }

    it("takes a revert whose conflict a person resolved", async () => {
      const story = await builtUpon();
      const { repo } = story;
      const merged = repo.git("rev-parse", "main^");
      expect(() => repo.git("revert", "--no-edit", "-m", "1", merged)).toThrow(/CONFLICT/);
      repo.write("file", "and more\n");
      repo.git("add", "--all");
      repo.git("-c", "core.editor=true", "revert", "--continue");
      const commit = repo.git("rev-parse", "main");
      expect(recordOf(await story.revert()).commits).toEqual([commit]);
      expect(repo.git("rev-parse", "main")).toBe(commit);
      repo.git("revert", "--no-edit", commit);
      expect((await errorOf(story.revert())).data).toEqual({ conflicts: ["file"] });
    });

    it.each(["later", "file"])("takes no commit for it that only says so and touches %s", async (touched) => {
      const story = await builtUpon();
      const { repo } = story;
      repo.commit(`x\n\nThis reverts commit ${repo.git("rev-parse", "main^")}.\n`, { [touched]: "y\n" });
      expect((await errorOf(story.revert())).data).toEqual({ conflicts: ["file"] });
    });
  });

  describe("that was begun anew", () => {
    it("undoes the merge, and puts the new branch away", async () => {
      const story = await mergedStory();
      const { repo } = story;
      await story.changed({ "second try": "x\n" });
      const result = await story.revert();
      expect(recordOf(result).commits).toEqual([repo.git("rev-parse", "main")]);
      expect(repo.read("readme.md")).toBe("one\n");
      expect(result.notes?.join()).toContain(
        "Removed the branch pawl/t1; its commits are kept as refs/pawl/rescue/t1/1",
      );
      expect(repo.git("show", "refs/pawl/rescue/t1/1:second try")).toBe("x");
    });

    it("undoes every merge, the newest first, by a commit each, and records them", async () => {
      const story = await mergedStory();
      const { repo } = story;
      await story.changed({ file: "x\nmore of it\n", second: "2\n" });
      await story.merge();
      const [second, first] = repo.git("log", "--merges", "--format=%H", "main").split("\n");
      const record = recordOf(await story.revert());
      expect(record.commits).toEqual(repo.git("log", "-2", "--reverse", "--format=%H", "main").split("\n"));
      expect(record.impact).toMatch(new RegExp(`^The merge ${second} .* The merge ${first} .*`));
      expect(["file", "second"].map((path) => repo.has(path))).toEqual([false, false]);
      expect(repo.read("readme.md")).toBe("one\n");
      expect(repo.git("status", "--porcelain")).toBe("");
      expect(story.fields["git"]).toMatchObject({
        merged: [{ commit: first }, { commit: second }],
        reverted: record.commits.map((commit) => ({ commit })),
      });
    });

    it("tells of what it undid, not of what had been undone and recorded before", async () => {
      const story = await mergedStory();
      await story.revert();
      await story.changed({ second: "2\n" });
      await story.merge();
      expect(recordOf(await story.revert()).commits).toEqual([story.repo.git("rev-parse", "main")]);
      expect(story.repo.has("second")).toBe(false);
    });

    it("changes nothing where one of them cannot be undone", async () => {
      const story = await mergedStory();
      const { repo } = story;
      repo.commit("Builds on it", { file: "x\nand more\n" });
      await story.changed({ second: "2\n" });
      await story.merge();
      const main = repo.git("rev-parse", "main");
      expect((await errorOf(story.revert())).data).toEqual({ conflicts: ["file"] });
      expect(repo.git("rev-parse", "main")).toBe(main);
    });
  });

  it("reads the record of an earlier pawl, which held one merge", async () => {
    const story = await mergedStory();
    const git = story.fields["git"] as { merged: unknown[] };
    story.fields["git"] = { ...git, merged: git.merged[0] };
    expect(recordOf(await story.revert()).commits).toHaveLength(1);
  });

  it("finds a merge that was made and could not be recorded", async () => {
    const story = makeStory();
    await story.changed({ file: "x\n" });
    await story.attempt(merge);
    expect(recordOf(await story.revert()).commits).toHaveLength(1);
    expect(story.repo.has("file")).toBe(false);
  });

  it("undoes a change that somebody fast-forwarded, all its commits together", async () => {
    const story = makeStory();
    await story.prepare();
    story.work("one", "1\n");
    await story.derive();
    story.work("two", "2\n");
    await story.derive();
    story.repo.git("merge", "--quiet", "--ff-only", "pawl/t1");
    await story.merge();
    story.repo.commit("Later", { later: "x" });
    await story.revert();
    expect(["one", "two", "later"].map((path) => story.repo.has(path))).toEqual([false, false, true]);
  });

  it("moves only the branch where it is checked out nowhere", async () => {
    const story = await mergedStory();
    story.repo.git("switch", "--quiet", "-c", "elsewhere");
    await story.revert();
    expect(story.repo.git("ls-tree", "--name-only", "main")).not.toContain("file");
    expect(story.repo.has("file")).toBe(true);
  });
});

describe("revert-change, of a task that was not merged", () => {
  it("puts branch and uncommitted work away, and says how to get them back", async () => {
    const story = makeStory();
    const { repo, settings } = story;
    await story.changed({ file: "x\n" });
    const head = repo.git("rev-parse", "pawl/t1");
    story.work("not committed", "precious");
    const main = repo.git("rev-parse", "main");
    const record = recordOf(await story.revert());
    expect(record.commits).toEqual([]);
    expect(record.impact).toContain("`git branch pawl/t1 refs/pawl/rescue/t1/1` brings it back");
    expect(existsSync(settings.worktree)).toBe(false);
    expect(repo.git("branch", "--list", "pawl/*")).toBe("");
    expect(repo.git("rev-parse", "main")).toBe(main);
    repo.git("branch", "pawl/t1", "refs/pawl/rescue/t1/1");
    expect(repo.git("show", "pawl/t1:not committed")).toBe("precious");
    expect(repo.git("rev-parse", "pawl/t1^")).toBe(head);
  });

  it("says the same and adds nothing when it is repeated", async () => {
    const story = makeStory();
    await story.changed({ file: "x\n" });
    const first = recordOf(await story.attempt(revertChange));
    const second = recordOf(await story.attempt(revertChange));
    expect(second).toEqual(first);
    expect(story.repo.git("for-each-ref", "--format=%(refname)", "refs/pawl")).toBe("refs/pawl/rescue/t1/1");
  });

  it("keeps commits of a detached HEAD in the worktree as well as the branch", async () => {
    const story = makeStory();
    await story.changed({ file: "x\n" });
    const head = story.repo.git("rev-parse", "pawl/t1");
    story.gitInWorktree("switch", "--quiet", "--detach", "main");
    story.gitInWorktree("commit", "--quiet", "--allow-empty", "-m", "Apart");
    const apart = story.gitInWorktree("rev-parse", "HEAD");
    await story.revert();
    const kept = story.repo.git("for-each-ref", "--format=%(objectname)", "refs/pawl").split("\n");
    expect(kept.sort()).toEqual([apart, head].sort());
  });

  it("leaves a directory alone that is not the task's worktree", async () => {
    const story = makeStory();
    story.work("foreign", "x");
    const result = await story.revert();
    expect(result.notes?.join()).toContain("was left alone");
    expect(existsSync(join(story.settings.worktree, "foreign"))).toBe(true);
  });

  it("has nothing to undo without a repository", async () => {
    const story = makeStory({ settings: { repo: null } });
    expect(recordOf(await story.revert()).impact).toContain("nothing to undo");
  });
});
