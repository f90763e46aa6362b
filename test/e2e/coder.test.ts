/** The coder's happy path, and every loop of its diagram, on real repositories with scripted agents. */
import { describe, expect, it } from "vitest";
import { makeCoder } from "../support/coder.js";

const HAPPY = [
  "WAITING",
  "SETUP",
  "PLANNING",
  "PLAN_REVIEW",
  "CODING",
  "TESTING",
  "CODE_REVIEW",
  "AWAIT_MERGE",
  "DONE",
];

describe("the happy path", () => {
  it("goes from a waiting task to one commit on the base branch, and leaves nothing behind", () => {
    const coder = makeCoder(
      {},
      { setup: { copy: [".env"], run: ["cat .env > made-by-setup; echo '*' > .git-ignored"] } },
    );
    coder.write(".env", "SECRET=1\n");
    coder.commit("Ignore", { ".gitignore": ".env\nmade-by-setup\n.git-ignored\n.pawl/\ntasks/\npawl.json\n" });
    const before = coder.git("rev-parse", "main");
    const result = coder.auto();
    expect(result.code, result.stdout + result.stderr).toBe(0);
    expect(coder.way()).toEqual(HAPPY);
    expect(coder.git("rev-parse", "main^")).toBe(before);
    expect(coder.git("show", "main:hello.txt")).toBe("hello t1");
    expect(coder.git("log", "-1", "--format=%s", "main")).toBe("Say hello");
    expect(coder.git("branch", "--list", "pawl/*")).toBe("");
    expect(coder.git("worktree", "list").split("\n")).toHaveLength(1);
    expect(coder.t1.readJson("setup/report.json")).toMatchObject({
      ok: true,
      steps: [{ what: "copy .env" }, { ok: true }],
    });
    expect(coder.pawl("verify").stdout).toContain("ok:");
    expect(coder.pawl("next").code).toBe(1);
  });

  it("a set-up that fails is an error, with its cause, and a new run keeps the records of the old one", () => {
    const coder = makeCoder({}, { setup: { run: ["echo no network >&2; exit 3"] } });
    expect(coder.auto("--json").json()).toMatchObject({ phase: "ERROR" });
    expect(coder.t1.readJson("setup/report.json")).toMatchObject({
      ok: false,
      steps: [{ output_tail: "no network\n" }],
    });
    expect(coder.pawl("status").stdout).toContain("ERROR");
    coder.config({ ...(JSON.parse(coder.read("pawl.json")) as object), setup: {} });
    expect(coder.pawl("redo", "WAITING", "--reason", "the network is back").code).toBe(0);
    expect(coder.auto().code).toBe(0);
    expect(coder.way()).toEqual(["WAITING", "SETUP", "ERROR", ...HAPPY]);
  });
});

describe("the loops", () => {
  it("plan changes", () => {
    const coder = makeCoder({
      planner: `say("plan" + n, prompt()); leave("plan", { ...${JSON.stringify({ title: "x", summary: "y", tasks: [{ id: "1", title: "t" }], files: [], acceptance: [] })} });`,
      plan_reviewer: `n === 1 ? verdict("plan_review", "changes", "name the file") : verdict("plan_review", "approve");`,
    });
    expect(coder.auto().code).toBe(0);
    expect(coder.way().slice(2, 7)).toEqual(["PLANNING", "PLAN_REVIEW", "PLANNING", "PLAN_REVIEW", "CODING"]);
    expect(coder.said("plan2")).toContain("name the file");
  });

  it("tests that fail, and a review that asks for changes", () => {
    const coder = makeCoder({
      coder: `say(phase + n, prompt());
        fs.writeFileSync("hello.txt", phase === "CODING" ? "good bye\\n" : n === 1 ? "hello\\n" : "hello, louder\\n");`,
      code_reviewer: `n === 1 ? verdict("code_review", "changes", "say it louder") : verdict("code_review", "approve");`,
    });
    expect(coder.auto().code).toBe(0);
    expect(coder.way().slice(4)).toEqual([
      "CODING",
      "TESTING",
      "FIXING",
      "TESTING",
      "CODE_REVIEW",
      "FIXING",
      "TESTING",
      "CODE_REVIEW",
      "AWAIT_MERGE",
      "DONE",
    ]);
    expect(coder.said("FIXING1")).toContain("the tests fail");
    expect(coder.said("FIXING1")).toContain("grep -q hello hello.txt");
    expect(coder.said("FIXING2")).toContain("say it louder");
    expect(coder.git("show", "main:hello.txt")).toBe("hello, louder");
    expect(coder.counters()).toMatchObject({ fixing_iterations: 2 });
  });

  it.each(["plan_reviewer", "code_reviewer"])("abandoned by the %s", (role) => {
    const name = role === "plan_reviewer" ? "plan_review" : "code_review";
    const coder = makeCoder({ [role]: `verdict("${name}", "abandon", "nobody needs it");` });
    const { phase, suggestion } = coder.auto("--json").json();
    expect(phase).toBe("ERROR");
    expect(suggestion.action).toBe("none");
    expect(coder.pawl("history").stdout).toContain("abandoned: nobody needs it");
    expect(coder.git("log", "--format=%s", "main")).toBe("First");
  });

  it.each(["approve", "changes", "abandon"])("a human reviews instead of an agent: %s", (choice) => {
    const coder = makeCoder();
    const config = JSON.parse(coder.read("pawl.json")) as { agents: Record<string, unknown> };
    coder.config({ ...config, agents: { ...config.agents, plan_reviewer: { use: "human" } } });
    expect(coder.auto().code).toBe(10);
    expect(coder.phase()).toBe("PLAN_REVIEW");
    const { code, stderr } = coder.answer(choice, "as I see it");
    expect(code, stderr).toBe(0);
    expect(coder.phase()).toBe({ approve: "CODING", changes: "PLANNING", abandon: "ERROR" }[choice]);
  });
});

describe("questions", () => {
  const ASKS = (phase: string): string =>
    `if (phase === "${phase}" && n === 1) { leave("question", { text: "In which language?" }); process.exit(0); } say("again", prompt());`;

  it.each([
    [
      "PLANNING",
      {
        planner: `${ASKS("PLANNING")} leave("plan", ${JSON.stringify({ title: "x", summary: "y", tasks: [{ id: "1", title: "t" }], files: [], acceptance: [] })});`,
      },
    ],
    ["CODING", { coder: `${ASKS("CODING")} fs.writeFileSync("hello.txt", "hello\\n");` }],
    [
      "FIXING",
      {
        coder: `if (phase === "CODING") { fs.writeFileSync("hello.txt", "bye\\n"); process.exit(0); } ${ASKS("FIXING")} fs.writeFileSync("hello.txt", "hello\\n");`,
      },
    ],
  ])("from %s lead to a human and back", (phase, roles) => {
    const coder = makeCoder(roles);
    expect(coder.auto().code).toBe(10);
    expect(coder.phase()).toBe("QUESTION");
    const status = coder.pawl("status").stdout;
    expect(status).toContain("In which language?");
    // What fits another kind of question does not fit this one.
    for (const other of ["CONTINUE", "ABANDON"]) expect(coder.answer(other, "x").code).toBe(2);
    expect(coder.answer("reply").code).toBe(1);
    expect(coder.answer("reply", "in Frisian").code).toBe(0);
    expect(coder.phase()).toBe(phase);
    expect(coder.auto().code).toBe(0);
    expect(coder.said("again")).toContain("in Frisian");
    expect(coder.phase()).toBe("DONE");
  });

  it("an agent asks by its tool as well", () => {
    const coder = makeCoder({
      coder: `if (n === 1) { say("answer", tool("ask_question", { text: "In which language?" }).stdout); process.exit(0); } fs.writeFileSync("hello.txt", "hello\\n");`,
    });
    expect(coder.auto().code).toBe(10);
    expect(coder.said("answer")).toContain("Next: stop now");
    expect(coder.phase()).toBe("QUESTION");
  });
});

describe("budgets", () => {
  const LAZY = { coder: `say(phase + n, prompt());` };
  const BAD = { coder: `say(phase + n, prompt()); fs.writeFileSync("hello.txt", "bye " + phase + n + "\\n");` };

  it.each(["CODING", "FIXING"])("of %s ends in a question with four answers, and nothing else fits", (phase) => {
    const coder = makeCoder(phase === "CODING" ? LAZY : BAD, {
      limits: { coding_iterations: 2, fixing_iterations: 2 },
    });
    expect(coder.auto().code).toBe(10);
    expect(coder.phase()).toBe("QUESTION");
    expect(coder.t1.readJson("state.json")["question"]).toMatchObject({ origin: phase, kind: "budget" });
    const refused = coder.answer("reply", "go on");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("CONTINUE, PIVOT, ESCALATE, ABANDON");
    const status = coder.pawl("status").stdout;
    expect(status).toContain("the budget of 2 iterations is used up");
    expect(coder.answer("PIVOT").code).toBe(1);

    expect(coder.answer("continue").code).toBe(0);
    expect(coder.phase()).toBe(phase);
    expect(coder.auto().code).toBe(10);
    expect(coder.said(`${phase}4`)).not.toContain("say it in one word");
    expect(coder.answer("PIVOT", "say it in one word").code).toBe(0);
    expect(coder.auto().code).toBe(10);
    expect(coder.said(`${phase}5`)).toContain("say it in one word");
    expect(coder.t1.readJson("planning/plan.json")).toMatchObject({ amendments: ["say it in one word"] });
    expect(coder.answer("ABANDON").code).toBe(0);
    expect(coder.phase()).toBe("ERROR");
  });

  it("ESCALATE has it reviewed untested; what is approved is tested before it is merged", () => {
    const coder = makeCoder(
      {
        coder: `fs.writeFileSync("hello.txt", phase === "FIXING" && n === 2 ? "hello\\n" : "bye " + phase + n + "\\n");`,
      },
      { limits: { fixing_iterations: 1 } },
    );
    expect(coder.auto().code).toBe(10);
    expect(coder.answer("ESCALATE").code).toBe(0);
    expect(coder.phase()).toBe("CODE_REVIEW");
    expect(coder.auto().code).toBe(10);
    expect(coder.way().slice(-4)).toEqual(["CODE_REVIEW", "AWAIT_MERGE", "FIXING", "QUESTION"]);
    expect(coder.git("log", "--format=%s", "main")).toBe("First");
    expect(coder.answer("CONTINUE").code).toBe(0);
    expect(coder.auto().code).toBe(0);
    expect(coder.git("show", "main:hello.txt")).toBe("hello");
  });
});
