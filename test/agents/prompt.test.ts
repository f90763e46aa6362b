import { expect, it } from "vitest";
import { fillPrompt } from "../../src/agents/prompt.js";

const SLOTS = { brief: "Say $& {{hello}}.\n", plan: "The plan.", last_failure: "", human_note: "None." };
const fill = (template: string): string => fillPrompt(template, SLOTS, "/w/planner.md");

it.each([
  ["{{plan}}", "The plan."],
  ["{{ plan }}, {{\tplan}}", "The plan., The plan."],
  // What fills a slot is not read again: it is the user's text.
  ["<{{brief}}>", "<Say $& {{hello}}.>"],
  ["[{{last_failure}}]", "[]"],
  ["{plan} {{ plan\n}} }}{{", "{plan} {{ plan\n}} }}{{"],
])("%j becomes %j", (template, filled) => {
  expect(fill(template)).toBe(filled);
});

it.each([
  ["{{Brief}}", "Brief", "did you mean {{brief}}?"],
  ["{{last-failure}}", "last-failure", "did you mean {{last_failure}}?"],
  ["{{plan2}}", "plan2", "did you mean {{plan}}?"],
  ["{{ human note }}", "human note", "did you mean {{human_note}}?"],
  ["{{brief.title}}", "brief.title", "remove it, or name one of those"],
  ["{{constructor}}", "constructor", "remove it, or name one of those"],
  ["{{__proto__}}", "__proto__", "remove it, or name one of those"],
  ["{{}}", "", "remove it, or name one of those"],
])("%s is not known: file, line, what there is, and the nearest", (slot, found, hint) => {
  const names = "brief, plan, last_failure, human_note";
  expect(() => fill(`{{plan}}\n\nRead ${slot}, then {{plan}}.\n`)).toThrow(
    expect.objectContaining({
      kind: "invalid",
      message: `/w/planner.md:3: the slot ${slot} is not known; there are: ${names}`,
      findings: [{ message: `unknown slot ${found}`, file: "/w/planner.md", line: 3, expected: names, found }],
      hint,
    }),
  );
});
