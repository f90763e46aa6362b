import { describe, expect, it } from "vitest";
import { askForMissing, type Menu } from "../../../src/surfaces/repl/menus.js";
import { parseLine, toArgv } from "../../../src/surfaces/repl/parse-line.js";
import { shapes } from "./shapes.js";

/** A person who gives these answers, and the questions that were put. */
function person(...answers: (string | null)[]): Menu & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    asker: {
      select: async (question, choices) => {
        asked.push(`${question} ${choices.join(" ")}`);
        return answers.shift() ?? null;
      },
      input: async (question) => {
        asked.push(question);
        return answers.shift() ?? null;
      },
    },
    offers: { tasks: ["mine"], phases: ["planning", "test"], choices: ["accepted", "rejected"], workflows: ["w"] },
    targets: async (choice) => (choice === "rejected" ? ["planning", "test"] : ["done"]),
  };
}

async function ask(line: string, menu: Menu): Promise<string[] | null> {
  const request = parseLine(line, { shapes, current: "mine", taskIds: ["mine"] });
  if (request.kind !== "command") throw new Error(`expected a command, found ${request.kind}`);
  const complete = await askForMissing(request, menu);
  return complete === null ? null : toArgv(complete);
}

describe("askForMissing", () => {
  it("asks for a phase and a reason", async () => {
    const menu = person("test", "it is --late");
    expect(await ask("/override", menu)).toEqual(["override", "--reason=it is --late", "test", "mine"]);
    expect(menu.asked).toEqual(["Which phase? planning test", "Why? (goes on record)"]);
  });

  it("asks only for what is missing", async () => {
    const menu = person("wrong plan");
    expect(await ask("/redo planning", menu)).toEqual(["redo", "--reason=wrong plan", "planning", "mine"]);
    expect(menu.asked).toHaveLength(1);
    expect(await ask("/run", person("test"))).toEqual(["run", "test", "mine"]);
    expect(await ask("/resume", person("smaller"))).toEqual(["resume", "--note=smaller", "mine"]);
    expect(await ask("/new", person("A title"))).toEqual(["new", "--", "A title"]);
    expect(await ask("/spec show", person("w"))).toEqual(["spec", "show", "w"]);
  });

  it("asks where to only when the answer can lead to several places, and takes no note for an answer", async () => {
    const menu = person("accepted", "");
    expect(await ask("/answer", menu)).toEqual(["answer", "accepted", "mine"]);
    expect(menu.asked).toEqual(["Your answer? accepted rejected", "Why? (may stay empty)"]);
    expect(await ask("/answer", person("rejected", "test", " too slow "))).toEqual([
      "answer",
      "--to=test",
      "--note=too slow",
      "rejected",
      "mine",
    ]);
    expect(await ask('/answer --to planning --note "no"', person("rejected"))).toEqual([
      "answer",
      "--to=planning",
      "--note=no",
      "rejected",
      "mine",
    ]);
  });

  it.each([[[null]], [["test", null]]])("does nothing when a question is cancelled: %j", async (answers) => {
    expect(await ask("/override", person(...answers))).toBeNull();
  });

  it.each([[[null]], [["rejected", null]], [["rejected", "test", null]]])(
    "does nothing when a question about an answer is cancelled: %j",
    async (answers) => expect(await ask("/answer", person(...answers))).toBeNull(),
  );
});
