import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeRepository } from "../support/repository.js";
import { makeStory, type Story } from "./story.js";

async function withIgnoredFiles(): Promise<Story> {
  const story = makeStory({ repo: makeRepository({ files: { ".gitignore": "*.env\nnode_modules/\n" } }) });
  await story.changed({ file: "x\n" });
  story.work(".env", "by hand");
  story.work("deep/only/prod.env", "by hand, too");
  story.work("node_modules/left-pad/index.js", "x");
  return story;
}

describe("what git ignores in a worktree that is removed", () => {
  it.each(["merge", "revert"] as const)(
    "is kept by a %s: files, but no whole directories; both are named",
    async (how) => {
      const story = await withIgnoredFiles();
      const notes = (await story[how]()).notes?.join("\n") ?? "";
      const kept = join(story.repo.dir, ".pawl/kept/t1/1");
      expect(existsSync(story.settings.worktree)).toBe(false);
      expect(readFileSync(join(kept, ".env"), "utf8")).toBe("by hand");
      expect(readFileSync(join(kept, "deep/only/prod.env"), "utf8")).toBe("by hand, too");
      expect(existsSync(join(kept, "node_modules"))).toBe(false);
      expect(notes).toContain(`kept in ${kept}: .env, deep/only/prod.env.`);
      expect(notes).toContain("Ignored directories go with the worktree: node_modules/.");
      expect(story.repo.git("status", "--porcelain")).toBe("");
    },
  );

  it("never takes the place of what was kept before", async () => {
    const story = await withIgnoredFiles();
    await story.merge();
    await story.changed({ again: "x\n" });
    story.work(".env", "second");
    await story.merge();
    const read = (n: number): string => readFileSync(join(story.repo.dir, `.pawl/kept/t1/${n}/.env`), "utf8");
    expect([1, 2].map(read)).toEqual(["by hand", "second"]);
  });

  it("is not spoken of where there is none", async () => {
    const story = makeStory();
    await story.changed({ file: "x\n" });
    expect((await story.merge()).notes?.join()).not.toMatch(/ignored/i);
    expect(story.repo.has(".pawl/kept")).toBe(false);
  });
});
