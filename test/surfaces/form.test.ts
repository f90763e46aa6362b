import { readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fillForm, type FormAsker } from "../../src/surfaces/form.js";
import { loadSchema, validatorFor } from "../../src/system/schemas.js";
import { PACKAGE } from "../support/workspace.js";

/** Schemas of what a person may have to fill in; the others describe files of pawl's own. */
const SCHEMAS = readdirSync(join(PACKAGE, "system/schemas")).filter((name) => !/^(pawl|preset)\./.test(name));

/** What pawl fills in itself. */
const OWN = { "decision.schema.json": { decider: "tess" } } as Record<string, object>;

/** Answers by drawing lots; leaves after so many questions. */
function makeAsker(lots: number[], leaveAfter = Infinity): FormAsker & { asked: string[] } {
  const asked: string[] = [];
  const lot = (question: string): number | null => {
    asked.push(question);
    // Lists and optional parts come to an end.
    return asked.length > leaveAfter ? null : asked.length > 60 ? 0 : (lots[asked.length % lots.length] ?? 0);
  };
  return {
    asked,
    select: async (question, choices) => {
      const at = lot(question);
      return at === null ? null : (choices[at % choices.length] ?? null);
    },
    confirm: async (question) => {
      const at = lot(question);
      return at === null ? null : at % 2 === 1;
    },
    input: async (question) => (lot(question) === null ? null : "7"),
    editor: async (question) => (lot(question) === null ? null : "Several\nlines.\n"),
  };
}

const LOTS = fc.array(fc.nat({ max: 11 }), { minLength: 1, maxLength: 40 });

describe("a form made from a schema", () => {
  it.each(SCHEMAS)("%s: whatever is answered, the result fits", async (name) => {
    const { schema } = loadSchema(name, PACKAGE);
    await fc.assert(
      fc.asyncProperty(LOTS, async (lots) => {
        const data = await fillForm(schema, makeAsker(lots));
        expect(data).not.toBeNull();
        expect(await validatorFor(PACKAGE)(name, { ...OWN[name], ...data }, name)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it.each(SCHEMAS)("%s: left at any question, there is nothing", async (name) => {
    const { schema } = loadSchema(name, PACKAGE);
    const whole = makeAsker([0]);
    await fillForm(schema, whole);
    for (let count = 0; count < whole.asked.length; count++)
      expect(await fillForm(schema, makeAsker([0], count)), `after ${count}`).toBeNull();
  });

  it("does not ask for what follows from an answer, nor for what pawl knows itself", async () => {
    const review = makeAsker([1]);
    const script: FormAsker = { ...review, confirm: async (question) => question.startsWith("ok") };
    const data = await fillForm(loadSchema("plan-review.schema.json", PACKAGE).schema, script);
    expect(data).toEqual({ ok: true, decision: "accepted", reasons: [], blocking_issues: [] });
    expect(review.asked).toEqual([]);
    const decision = makeAsker([0]);
    await fillForm(loadSchema("decision.schema.json", PACKAGE).schema, decision);
    expect(decision.asked.join("\n")).not.toMatch(/decider|evidence|when/);
  });

  /** Keeps the port's promise: what is objected to is asked for again. */
  function insisting(said: string[], objections: string[]): FormAsker["input"] {
    return async (_question, { problem }) => {
      for (const text of said.splice(0)) {
        const objection = problem?.(text) ?? null;
        if (objection === null) return text;
        objections.push(objection);
      }
      return null;
    };
  }

  it("a number that is none, or out of its bounds, is objected to with the reason", async () => {
    const objections: string[] = [];
    const input = insisting(["many", "1.5", "0", "8", "3"], objections);
    const schema = { required: ["line"], properties: { line: { type: "integer", minimum: 1, maximum: 7 } } };
    expect(await fillForm(schema, { ...makeAsker([0]), input })).toEqual({ line: 3 });
    expect(objections).toEqual([
      "expected a whole number, found many",
      "expected a whole number, found 1.5",
      "expected at least 1, found 0",
      "expected at most 7, found 8",
    ]);
  });

  it.each([
    ["a text with nothing in it is asked for again, with the reason", "some", { text: "some" }],
    ["a text that stays empty leaves the form", "\n", null],
  ])("%s", async (_what, second, expected) => {
    const texts = [" \n", second, "never asked for"];
    const reasons: (string | undefined)[] = [];
    const asker: FormAsker = {
      ...makeAsker([0]),
      editor: async (_question, again) => {
        reasons.push(again);
        return texts.shift() ?? null;
      },
    };
    const schema = { required: ["text"], properties: { text: { type: "string", minLength: 1, "x-form": "text" } } };
    expect(await fillForm(schema, asker)).toEqual(expected);
    expect(reasons).toEqual([undefined, "something has to be said here; left empty again, the form is left"]);
  });
});
