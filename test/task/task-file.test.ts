import { describe, expect, it } from "vitest";
import { formatTaskFile, parseTaskFile, readTaskFile, type TaskFile } from "../../src/task/task-file.js";
import { thrownBy } from "../support/errors.js";
import { makeTask } from "../support/workspace.js";

const WHOLE = `---
title: Add a thing
workflow: fix-a-bug
repo: ../repo
seed: rehearsal/repo
base: trunk
agent: rehearsal
test:
  - npm test
  - npm run lint
after: [t1, t2]
---

# Add a thing

The words: with a colon.

---

More.
`;

const FILE: TaskFile = {
  title: "Add a thing",
  workflow: "fix-a-bug",
  repo: "../repo",
  seed: "rehearsal/repo",
  base: "trunk",
  agent: "rehearsal",
  test: ["npm test", "npm run lint"],
  after: ["t1", "t2"],
  brief: "# Add a thing\n\nThe words: with a colon.\n\n---\n\nMore.",
};

describe("task.md", () => {
  it("is front matter and a brief", () => expect(parseTaskFile(WHOLE)).toEqual(FILE));

  it("means the same with CRLF", () => {
    const crlf = parseTaskFile(WHOLE.replaceAll("\n", "\r\n"));
    expect({ ...crlf, brief: crlf.brief.replaceAll("\r\n", "\n") }).toEqual(FILE);
  });

  it("means the same with a byte-order mark, which some editors write", () => {
    expect(parseTaskFile(`\uFEFF${WHOLE}`)).toEqual(FILE);
  });

  it("can be written and read again", () => {
    expect(parseTaskFile(formatTaskFile(FILE))).toEqual(FILE);
    const tricky: TaskFile = { title: '*bold*: "quoted" #1 – ü', test: ["a: b"], brief: "---\nnot front matter" };
    expect(parseTaskFile(formatTaskFile(tricky))).toEqual(tricky);
  });

  it.each([
    ["no front matter: the first heading is the title", "# The *title*\n\nText\n", { title: "The *title*" }],
    ["no heading: the first line is", "Do it.\nNow.\n", { title: "Do it.", brief: "Do it.\nNow." }],
    ["no title in it: the first heading is", "---\nrepo: x\n---\n# Title\n", { title: "Title", repo: "x" }],
    ["a blank title is none", '---\ntitle: " "\n---\n# Title\n', { title: "Title" }],
    ["an empty front matter", "---\n---\nText\n", { title: "Text", brief: "Text" }],
    ["a front matter with only a comment", "---\n# nothing\n---\nText\n", { title: "Text" }],
    ["an empty file", "", { title: "", brief: "" }],
    ["one test command instead of a list", "---\ntitle: x\ntest: npm test\n---\n", { test: ["npm test"] }],
    ["notes of other tools", "---\ntitle: x\npriority: high\nlabels: [a]\n---\n", { title: "x" }],
    ["a rule further down is no front matter", "Text\n\n---\ntitle: no\n---\n", { title: "Text" }],
    ["words after the dashes are no front matter", "--- hi\n\n---\ntitle: no\n---\n", { title: "--- hi" }],
    ["blanks after the dashes", "--- \ntitle: x\n---\t\nText\n", { title: "x", brief: "Text" }],
    ["dashes inside a value", "---\ntitle: a --- b\n---\nText\n", { title: "a --- b", brief: "Text" }],
  ])("%s", (_what, text, expected) => expect(parseTaskFile(text)).toMatchObject(expected));

  const wrong: [string, string, Record<string, unknown>][] = [
    [
      "YAML that cannot be read",
      "---\ntitle: x\nrepo: [a\n---\n",
      { line: 3, message: expect.not.stringMatching(/at line/) as string },
    ],
    ["a colon in a value", "---\nbase: main\ntitle: a: b\n---\n", { line: 3, column: 8 }],
    ["a repeated key", "---\ntitle: x\ntitle: y\n---\n", { line: 3, column: 1 }],
    ["a list", "---\n- a\n---\n", { line: 1 }],
    [
      "an alias that stands for nothing",
      "---\ntitle: *bold*\n---\n",
      { hint: expect.stringContaining("quotes") as string },
    ],
    ["a front matter without an end", "---\ntitle: x\n\nText\n", { line: 1, found: "none" }],
    ["a number as title", "---\ntitle: 42\n---\n", { pointer: "/title", expected: "text", found: "42" }],
    ["a list as repo", "---\ntitle: x\nrepo: [a]\n---\n", { pointer: "/repo", expected: "text", found: '["a"]' }],
    [
      "numbers as tests",
      "---\ntitle: x\ntest: [1]\n---\n",
      { pointer: "/test", expected: "a list of text, none of it blank", found: "[1]" },
    ],
    ["an empty test", '---\ntitle: x\ntest: ""\n---\n', { pointer: "/test", found: '""' }],
    ["a blank test among others", '---\ntitle: x\ntest: [npm test, " "]\n---\n', { pointer: "/test" }],
    ["a test that was left out", "---\ntitle: x\ntest:\n---\n", { pointer: "/test", found: "null" }],
    ["nobody to come after", '---\ntitle: x\nafter: [""]\n---\n', { pointer: "/after" }],
    ["a slip of the pen", "---\ntitel: x\n---\n", { pointer: "/titel", found: "titel", hint: "did you mean title?" }],
    ["another", "---\ntitle: x\nworkflw: y\n---\n", { pointer: "/workflw", hint: "did you mean workflow?" }],
    ["the plural", "---\ntitle: x\ntests: [y]\n---\n", { pointer: "/tests", hint: "did you mean test?" }],
  ];
  it.each(wrong)("%s is refused", (_what, text, finding) => {
    const error = thrownBy(() => parseTaskFile(text));
    expect(error.kind).toBe("invalid");
    expect(error.findings[0]).toMatchObject({ file: "task.md", ...finding });
    expect(error.message).toMatch(/^task\.md: /);
    expect(error.hint).toBeTruthy();
  });

  it("is not there", () => expect(readTaskFile(makeTask().dir)).toBeNull());

  it("is read from the task's directory", () => {
    const task = makeTask();
    task.write("task.md", WHOLE);
    expect(readTaskFile(task.dir)).toEqual(FILE);
  });
});
