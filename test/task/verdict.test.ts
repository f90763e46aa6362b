import { describe, expect, it } from "vitest";
import { readVerdict } from "../../src/task/verdict.js";

describe("the verdict of a review", () => {
  it.each([
    ["Verdict: PASS", "pass"],
    ["Verdict: FAIL", "fail"],
    ["verdict: pass", "pass"],
    ["**Verdict:** PASS", "pass"],
    ["**Verdict: PASS**", "pass"],
    ["- Verdict: FAIL (see below)", "fail"],
    ["1. Verdict: PASS — well done", "pass"],
    ["### Verdict: FAIL", "fail"],
    ["### Verdict\n\nFAIL", "fail"],
    ["Some words first.\n\nVerdict: PASS", "pass"],
    ["All tests FAIL on Windows, which does not matter here.\n\nVerdict: PASS", "pass"],
    ["Verdict: PASS\n\nThe old one said: FAIL", "pass"],
    ["PASS", "pass"],
    ["- [ ] PASS\n- [x] FAIL", "fail"],
    ["I cannot let this pass.\n\nFAIL", "fail"],
    ["The tests pass.\n\nVerdict\n\nFAIL", "fail"],
    ["FAIL\n\nThe second test would PASS.", "fail"],
    ["Everything is fine: PASS\r\nVerdicts are hard.", "pass"],
  ])("%j is %s", (section, verdict) => {
    expect(readVerdict(section)).toBe(verdict);
  });

  it.each([
    ["nothing of the kind", "Looks good to me."],
    ["two lines that contradict each other", "Verdict: PASS\n\nVerdict: FAIL"],
    ["a line that contradicts itself", "Verdict: PASS or FAIL"],
    ["an untouched template", "Start with verdict: PASS or FAIL"],
    ["a verdict line without a verdict, though a word follows", "Verdict: pending\n\nPASS"],
    ["code", "```\nVerdict: PASS\n```"],
    ["inline code", "It should say `PASS`."],
    ["a quotation", "> Verdict: PASS"],
    ["a comment", "<!-- Verdict: PASS -->"],
    ["parts of words", "It was passed on; failures were bypassed."],
    ["look-alikes", "Verdict: \u0420ASS"],
    ["an invisible character", "Verdict: PA\u200BSS"],
    ["full-width letters", "Verdict: \uFF30\uFF21\uFF33\uFF33"],
    ["a denial", "Verdict: not a PASS"],
    ["a denial in capitals", "Verdict: NOT PASS"],
    ["prose that was cut off", "I ran the tests first, and all of them pass.\n\nHowever,"],
    ["a question", "Does it pass? Not checked."],
    ["what would have to happen", "This would PASS if the tests were there."],
    ["text that is struck out", "~~Verdict: PASS~~"],
    ["text between tags", "<del>Verdict: PASS</del>"],
    ["the text of a link", "[PASS](http://example.org)"],
    ["an empty box", "- [ ] PASS"],
    ["nothing at all", ""],
  ])("is none where there is %s", (_what, section) => {
    expect(readVerdict(section)).toBe("none");
  });
});
