import { describe, expect, it } from "vitest";
import { renderPlan } from "../../src/actions/render-plan.js";
import { makeStory, okArtifact } from "./story.js";

describe("render-plan", () => {
  it("writes the plan for people to read", async () => {
    const story = makeStory();
    story.artifacts["plan"] = okArtifact("plan", {
      title: "Greet\npeople",
      summary: "Say hello.\n\nThen stop.",
      tasks: [
        { id: "1", title: "Write it" },
        { id: "2", title: "Test it" },
      ],
      files: [
        { path: "src/hello.js", intent: "create" },
        { path: "odd`name", intent: "delete" },
      ],
      acceptance: ["It greets."],
      questions: [
        { text: "In which language?", blocking: true },
        { text: "How loud?", blocking: false },
      ],
    });
    const { files } = await story.attempt(renderPlan);
    expect(files?.["planning/plan.md"])
      .toBe(`<!-- Made from plan.json, which is what counts; changes here have no effect. -->

# Greet people

Say hello.

Then stop.

## Tasks

- [ ] **1** Write it
- [ ] **2** Test it

## Files

- \`src/hello.js\`: create
- \`\` odd\`name \`\`: delete

## Acceptance

- It greets.

## Questions

- **blocking:** In which language?
- How loud?
`);
  });

  it("leaves out what the plan does not have", async () => {
    const story = makeStory();
    story.artifacts["plan"] = okArtifact("plan", { title: "T", summary: "S", tasks: [], files: [], acceptance: [] });
    const { files } = await story.attempt(renderPlan);
    expect(files?.["planning/plan.md"]).not.toContain("##");
  });

  it("writes nothing without a valid plan", async () => {
    const story = makeStory();
    expect(await story.attempt(renderPlan)).not.toHaveProperty("files");
  });
});
