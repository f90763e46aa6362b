/** The coder's merge: conflicts, the queue, a pull request, and whoever dies on the way. */
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { appears } from "../support/cli.js";
import { make, makeCoder, type Coder } from "../support/coder.js";
import { writeAt } from "../support/repository.js";

/** Both put their name into the same line; what conflicts is resolved by keeping both. */
const SAME_LINE = `
const text = fs.existsSync("hello.txt") ? fs.readFileSync("hello.txt", "utf8") : "";
if (text.includes("<<<<<<<")) fs.writeFileSync("hello.txt", text.replace(/<<<<<<<.*\\n([^]*?)=======\\n([^]*?)>>>>>>>.*\\n/, "$1$2"));
else fs.writeFileSync("hello.txt", "hello " + env.PAWL_TASK + "\\n");`;

describe("two tasks that touch the same line", () => {
  it("both end DONE in one batch, the second after it was mended, with a linear history of tested commits", () => {
    const coder = makeCoder({ coder: SAME_LINE });
    coder.commit("Begin", { "hello.txt": "hello nobody\n", ".gitignore": "tasks/\npawl.json\n.pawl/\n" });
    const before = coder.git("rev-parse", "main");
    make(coder, "t2");
    const batch = coder.pawl("batch", "tasks", "--jobs", "2", "--json");
    expect(batch.code, batch.stdout + batch.stderr).toBe(0);
    const ways = ["t1", "t2"].map((id) => coder.way(id));
    expect(ways.map((way) => way.at(-1))).toEqual(["DONE", "DONE"]);
    const mended = ways.filter((way) => way.includes("FIXING"));
    expect(mended).toHaveLength(1);
    expect(mended[0]?.slice(-6)).toEqual(["AWAIT_MERGE", "FIXING", "TESTING", "CODE_REVIEW", "AWAIT_MERGE", "DONE"]);
    expect(coder.git("rev-list", "--count", `${before}..main`)).toBe("2");
    expect(coder.git("rev-list", "--merges", `${before}..main`)).toBe("");
    expect(coder.git("show", "main:hello.txt").split("\n").sort()).toEqual(["hello t1", "hello t2"]);
    expect(coder.git("status", "--porcelain")).toBe("");
  });

  it("marks that are left where they were are no resolution", () => {
    const coder = makeCoder(
      {
        coder: `fs.writeFileSync("hello.txt", fs.existsSync("hello.txt") && fs.readFileSync("hello.txt", "utf8").includes("<<<<<<<") ? fs.readFileSync("hello.txt", "utf8") + "more\\n" : "hello " + env.PAWL_TASK + "\\n");`,
      },
      { limits: { fixing_iterations: 2 } },
    );
    coder.commit("Begin", { "hello.txt": "hello nobody\n", ".gitignore": "tasks/\npawl.json\n.pawl/\n" });
    expect(coder.auto("--max-steps", "7").code).toBe(0);
    coder.commit("Somebody else", { "hello.txt": "hello somebody\n" });
    const main = coder.git("rev-parse", "main");
    expect(coder.auto().code).toBe(10);
    expect(coder.phase()).toBe("QUESTION");
    expect(coder.git("rev-parse", "main")).toBe(main);
  });

  it("what was tested alone is tested together before the base branch moves", () => {
    const coder = makeCoder(
      {},
      { test: ["test ! -f forbidden.txt", "grep -q hello hello.txt"], limits: { fixing_iterations: 1 } },
    );
    expect(coder.auto("--max-steps", "7").code).toBe(0);
    const main = coder.commit("Somebody else", { "forbidden.txt": "x\n", ".gitignore": "tasks/\npawl.json\n.pawl/\n" });
    coder.auto();
    expect(coder.way()).toContain("FIXING");
    expect(coder.git("rev-parse", "main")).toBe(main);
  });
});

describe("a task that waits for others", () => {
  it("is taken up when they are done, and not before", () => {
    const coder = makeCoder();
    make(coder, "t2", ["t1"]);
    const refused = coder.pawl("next", "t2");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('["t1"]');
    expect(coder.auto("t1").code).toBe(0);
    coder.pawl("next", "t2");
    expect(coder.phase("t2")).toBe("SETUP");
  });
});

/** A GitHub that is a bare repository beside, and a `gh` that records its calls and can fail. */
const GH = `#!/usr/bin/env node
const fs = require("node:fs"); const path = require("node:path"); const { execFileSync } = require("node:child_process");
const home = path.dirname(__dirname); const state = path.join(home, "gh.json"); const remote = path.join(home, "remote.git");
const args = process.argv.slice(2); fs.appendFileSync(path.join(home, "gh.log"), args.slice(0, 2).join(" ") + "\\n");
const load = () => fs.existsSync(state) ? JSON.parse(fs.readFileSync(state, "utf8")) : [];
const save = (prs) => fs.writeFileSync(state, JSON.stringify(prs));
const git = (...words) => execFileSync("git", ["-C", remote, ...words], { encoding: "utf8" }).trim();
const value = (flag) => args[args.indexOf(flag) + 1];
const head = (branch) => { try { return git("rev-parse", "refs/heads/" + branch); } catch { return ""; } };
const show = (pr) => ({ number: pr.number, url: "https://github.com/o/r/pull/" + pr.number, state: pr.state, headRefOid: pr.head ?? head(pr.branch), mergeCommit: pr.commit ? { oid: pr.commit } : null, mergeable: "MERGEABLE" });
if (args[0] === "--version") console.log("gh version 2");
else if (args[1] === "list") console.log(JSON.stringify(load().filter((pr) => pr.branch === value("--head")).map(show)));
else if (args[1] === "create") { const prs = load(); prs.push({ number: prs.length + 1, branch: value("--head"), base: value("--base"), state: "OPEN" }); save(prs);
  if (fs.existsSync(path.join(home, "die-after-create"))) { fs.rmSync(path.join(home, "die-after-create")); process.kill(process.ppid, "SIGKILL"); } }
else if (args[1] === "view") console.log(JSON.stringify(show(load().find((pr) => pr.number === Number(args[2])))));
else if (args[1] === "merge") { const prs = load(); const pr = prs.find((one) => one.number === Number(args[2]));
  if (fs.existsSync(path.join(home, "refuse-merge"))) { console.error("GraphQL: Something is wrong"); process.exit(1); }
  const tree = git("merge-tree", "--write-tree", pr.base, pr.branch).split("\\n")[0];
  pr.head = head(pr.branch); pr.commit = git("-c", "user.name=gh", "-c", "user.email=gh@x", "commit-tree", "-p", head(pr.base), "-m", "Squashed", tree); pr.state = "MERGED";
  git("update-ref", "refs/heads/" + pr.base, pr.commit); git("update-ref", "-d", "refs/heads/" + pr.branch); save(prs);
  if (fs.existsSync(path.join(home, "die-after-merge"))) { fs.rmSync(path.join(home, "die-after-merge")); process.kill(process.ppid, "SIGKILL"); } }
`;

function onGitHub(): Coder {
  const coder = makeCoder();
  const file = join(coder.root, "bin", "gh");
  writeAt(file, GH);
  chmodSync(file, 0o755);
  coder.env["PATH"] = `${join(coder.root, "bin")}:${coder.env["PATH"] ?? ""}`;
  coder.commit("Ignore", { ".gitignore": "tasks/\npawl.json\n.pawl/\n" });
  coder.git("clone", "--quiet", "--bare", ".", join(coder.root, "remote.git"));
  coder.git("remote", "add", "origin", "https://github.com/o/r");
  coder.git("config", `url.${join(coder.root, "remote.git")}.insteadOf`, "https://github.com/o/r");
  return coder;
}

function calls(coder: Coder, what: string): number {
  const log = join(coder.root, "gh.log");
  return existsSync(log)
    ? readFileSync(log, "utf8")
        .split("\n")
        .filter((line) => line === what).length
    : 0;
}

describe("on GitHub", () => {
  it("a pull request is made once and merged, and the local base branch follows", () => {
    const coder = onGitHub();
    expect(coder.auto().code).toBe(0);
    expect(coder.phase()).toBe("DONE");
    expect([calls(coder, "pr create"), calls(coder, "pr merge")]).toEqual([1, 1]);
    expect(coder.git("show", "main:hello.txt")).toBe("hello t1");
    expect(coder.git("log", "-1", "--format=%s", "main")).toBe("Squashed");
    expect(coder.t1.readJson("merge/report.json")).toMatchObject({
      how: "pull-request",
      url: "https://github.com/o/r/pull/1",
    });
  });

  it.each(["die-after-create", "die-after-merge"])("and pawl killed: %s", async (trap) => {
    const coder = onGitHub();
    expect(coder.auto("--max-steps", "7").code).toBe(0);
    writeAt(join(coder.root, trap), "");
    expect(coder.pawl("next").code).toBe(null);
    expect(coder.auto().code).toBe(0);
    expect(coder.phase()).toBe("DONE");
    expect([calls(coder, "pr create"), calls(coder, "pr merge")]).toEqual([1, 1]);
    expect(coder.git("rev-list", "--count", "main")).toBe("3");
  });

  it("a merge that fails is said, and tried again", () => {
    const coder = onGitHub();
    expect(coder.auto("--max-steps", "7").code).toBe(0);
    writeAt(join(coder.root, "refuse-merge"), "");
    const failed = coder.pawl("next");
    expect(failed.code).toBe(4);
    expect(failed.stderr).toContain("Something is wrong");
    expect(coder.phase()).toBe("AWAIT_MERGE");
    coder.pawl("next");
    expect(coder.pawl("status", "--json").json().waiting).toContain("the merge failed");
    writeAt(join(coder.root, "bin", "gh"), GH.replace('"refuse-merge"', '"never"'));
    expect(coder.pawl("resume", "--note", "it is back").code).toBe(0);
    expect(coder.auto().code).toBe(0);
    expect([calls(coder, "pr create"), calls(coder, "pr merge")]).toEqual([1, 3]);
  });
});

describe("kill -9", () => {
  it("in SETUP: the next call sets it up again", async () => {
    const coder = makeCoder(
      {},
      { setup: { run: ["if [ ! -f ../begun ]; then touch ../begun; sleep 1000; fi; touch ready"] } },
    );
    coder.pawl("next");
    const running = coder.start("next");
    await appears(join(coder.t1.worktree, "..", "begun"));
    process.kill(running.pid, "SIGKILL");
    await running.finished;
    expect(coder.auto().code).toBe(0);
    expect(coder.phase()).toBe("DONE");
  });
});
