import assert from "node:assert/strict";
import test from "node:test";
import { slugify } from "../src/slugify.js";

test("words are joined by hyphens", () => {
  assert.equal(slugify("Hello, wide world"), "hello-wide-world");
});

test("accents are dropped", () => {
  assert.equal(slugify("Crème Brûlée"), "creme-brulee");
});

test("no hyphen at either end", () => {
  assert.equal(slugify("  What now?  "), "what-now");
});
