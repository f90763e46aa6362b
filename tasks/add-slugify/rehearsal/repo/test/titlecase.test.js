import assert from "node:assert/strict";
import test from "node:test";
import { titlecase } from "../src/titlecase.js";

test("every word begins with a capital", () => {
  assert.equal(titlecase("hello wide world"), "Hello Wide World");
});
