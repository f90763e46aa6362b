/** The plan as people like to read it. `plan.json` stays the source of truth. */
import { objectOf } from "./git-record.js";
import { oneLine } from "./messages.js";
import { ABOUT } from "./names.js";
import type { Action } from "./types.js";

const PLAN_FILE = "planning/plan.md";

export const renderPlan: Action = {
  name: "render-plan",
  about: ABOUT["render-plan"],
  outside: false,
  run: async ({ artifacts }) => {
    const plan = artifacts["plan"];
    if (plan?.condition !== "ok") return { notes: [`${PLAN_FILE} was not written: there is no valid plan.`] };
    return { files: { [PLAN_FILE]: formatPlan(plan.data) } };
  },
};

export function formatPlan(data: unknown): string {
  const plan = objectOf(data);
  const sections = [
    "<!-- Made from plan.json, which is what counts; changes here have no effect. -->",
    `# ${textOf(plan["title"])}`,
    typeof plan["summary"] === "string" ? plan["summary"].trim() : "",
    section("Tasks", plan["tasks"], ({ id, title }) => `- [ ] **${textOf(id)}** ${textOf(title)}`),
    section("Files", plan["files"], ({ path, intent }) => `- ${codeSpan(textOf(path))}: ${textOf(intent)}`),
    section("Acceptance", plan["acceptance"], (_, text) => `- ${text}`),
    section("Questions", plan["questions"], (question) => {
      return `- ${question["blocking"] === true ? "**blocking:** " : ""}${textOf(question["text"])}`;
    }),
  ];
  return `${sections.filter((text) => text !== "").join("\n\n")}\n`;
}

function section(
  heading: string,
  items: unknown,
  format: (item: Record<string, unknown>, text: string) => string,
): string {
  if (!Array.isArray(items) || items.length === 0) return "";
  return `## ${heading}\n\n${items.map((item) => format(objectOf(item), textOf(item))).join("\n")}`;
}

/** One line: a line break would end the list item. */
function textOf(value: unknown): string {
  return typeof value === "string" ? oneLine(value) : "";
}

function codeSpan(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const pad = longest > 0 ? " " : "";
  return `${fence}${pad}${text}${pad}${fence}`;
}
