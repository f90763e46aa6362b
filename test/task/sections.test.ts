import { describe, expect, it } from "vitest";
import { readArtifact } from "../../src/task/artifact.js";
import { hasContent, readSections } from "../../src/task/sections.js";
import { sha256 } from "../../src/workflow/hash.js";
import { makeTask, WORKFLOW } from "../support/workspace.js";

describe("a section", () => {
  const cases: [string, string, string | null][] = [
    ["is what stands below its heading", "# T\n\n## Review\n\nAll well.\n", "All well."],
    ["ends with the next heading of its level", "## Review\na\n## Handoff\nb\n", "a"],
    ["ends with a higher heading", "## Review\na\n# Next\nb\n", "a"],
    [
      "goes on over deeper headings",
      "## Review\na\n### Findings\nb\n#### More\nc\n",
      "a\n### Findings\nb\n#### More\nc",
    ],
    ["is the last of that name", "## Review\nfirst\n## Other\nx\n## Review\nlast\n", "last"],
    ["is the last of that name, even where that is empty", "## Review\nfirst\n## Review\n", ""],
    ["is found whatever the letters' case and blanks", "##   review  ##\na\n", "a"],
    ["may have a marked heading", "## **Review** `x`\na\n", null],
    ["is found by the words of a marked heading", "## *Review*\na\n", "a"],
    ["may be underlined", "Review\n---\n\na\n", "a"],
    ["is not a heading inside fenced code", "```\n## Review\nno\n```\n", null],
    ["is not a heading inside tildes", "~~~md\n## Review\nno\n~~~\n", null],
    ["is not a heading in indented code", "text\n\n    ## Review\n    no\n", null],
    ["is not a heading in a quote", "> ## Review\n> no\n", null],
    ["is not a heading in a list", "- ## Review\n  no\n", null],
    ["is not a heading in a comment", "<!--\n## Review\nno\n-->\n", null],
    ["is not a heading of another level", "# Review\nno\n\n### Review\nno\n", null],
    ["is not a heading without a blank", "##Review\nno\n", null],
    ["is not part of another name", "## Review 2\nno\n", null],
    ["does not end at a heading inside fenced code", "## Review\n```\n## Other\n```\nb\n", "```\n## Other\n```\nb"],
    ["is not in the front matter", "---\n## Review\nstatus: x\n---\n\ntext\n", null],
    ["comes after the front matter", "---\nstatus: x\n---\n## Review\na\n", "a"],
    ["is not there", "text\n", null],
    ["may stand in a file with CRLF", "## Review\r\n\r\na\r\nb\r\n## Other\r\nc\r\n", "a\r\nb"],
    ["may be the last line, with nothing below", "## Review", ""],
  ];
  it.each(cases)("%s", (_name, text, expected) => {
    expect(readSections(text, "Review").at(-1) ?? null).toBe(expected);
  });

  it("is one of several, in their order", () => {
    const text = "## Review\nfirst\n## Other\nx\n## Review\n### Deep\n## Review\nlast\n# End\n";
    expect(readSections(text, "Review")).toEqual(["first", "### Deep", "last"]);
  });
});

describe("content", () => {
  it.each([
    "All well.",
    "- one point",
    "- [ ] to be done",
    "- [x] done",
    "> quoted",
    "<!-- a comment --> and a word",
    "**bold**",
    "1. first",
    "| a | b |",
    "TODO: write the tests for x",
    "[a link](http://example.org)",
    "{placeholder} but filled",
    "\r\n text \r\n",
    "0",
  ])("%j counts", (text) => expect(hasContent(text)).toBe(true));

  it.each([
    "",
    " \n\t\n",
    "<!-- a comment -->",
    "<!-- over\nseveral\nlines -->\n",
    "<!-- never closed\nwords",
    "{summary}",
    "- {what was done}",
    "<summary of the change>",
    "[describe here]",
    "…",
    "...",
    "TODO",
    "TODO:",
    "- [ ] TBD",
    "tbd",
    "-",
    "- [ ]",
    "* \n> \n---",
    "\r\n{x}\r\n",
  ])("%j does not", (text) => expect(hasContent(text)).toBe(false));
});

describe("a section as an artifact", () => {
  const { schema: _schema, ...plain } = WORKFLOW.artifacts[0]!;
  const artifact = { ...plain, file: "TASK.md", section: "Review" };
  const read = (text: string): ReturnType<typeof readArtifact> => {
    const task = makeTask();
    task.write("TASK.md", text);
    return readArtifact(task.dir, artifact, async () => []);
  };

  it("is its text, and its hash is that of the section alone", async () => {
    const hash = sha256("PASS");
    const ok = { condition: "ok", data: { text: "PASS", verdict: "pass" }, hash, sections: [hash] };
    expect(await read("# A\n## Review\nPASS\n")).toEqual(ok);
    expect(await read("# B\nother\n## Review\n\nPASS\n\n## After\nx\n")).toEqual(ok);
  });

  it.each([
    ["no such section", "# A\n", "missing", "nothing"],
    ["an empty one", "## Review\n\n## B\nx", "empty", "no content"],
    ["only the template's words", "## Review\n<!-- verdict -->\n{text}\n", "empty", "no content"],
  ])("is missing: %s", async (_what, text, word, found) => {
    expect(await read(text)).toMatchObject({
      condition: "missing",
      findings: [
        {
          message: `\`## Review\` in TASK.md is ${word}`,
          file: "TASK.md",
          expected: "a section with content",
          found,
        },
      ],
    });
  });

  it("a whole file that is no JSON is its text", async () => {
    const task = makeTask();
    task.write("notes.md", "hello\n");
    expect(await readArtifact(task.dir, { ...plain, file: "notes.md" }, async () => [])).toEqual({
      condition: "ok",
      data: { text: "hello\n" },
      hash: sha256("hello\n"),
    });
  });
});
