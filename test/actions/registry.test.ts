import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { actions, makers, registeredNames } from "../../src/actions/registry.js";

describe("the registry", () => {
  it.each([...actions.values()])("loads the action $name under its name", async ({ name, about, load }) => {
    const action = await load();
    expect(action).toMatchObject({ name, about });
    expect(action.run).toBeTypeOf("function");
  });

  it.each([...makers.values()])("loads the maker $name under its name", async ({ name, about, load }) => {
    const maker = await load();
    expect(maker).toMatchObject({ name, about });
    expect(maker.make).toBeTypeOf("function");
  });

  it("lists every name with what it is for", () => {
    expect(registeredNames.map(({ name }) => name).sort()).toEqual([...actions.keys(), ...makers.keys()].sort());
    for (const { about } of registeredNames) expect(about).toBeTruthy();
  });

  it("knows every action and maker that the global state machine names", () => {
    const document = readFileSync("system/workflows/global-state-machine.md", "utf8");
    const table = document.slice(document.indexOf("## Artifacts"), document.indexOf("## Diagram"));
    const named = new Set([...table.matchAll(/\| `([a-z]+(?:-[a-z]+)+|merge)` +\|/g)].map(([, name]) => name));
    expect(named.size).toBeGreaterThan(6);
    for (const name of named) expect(registeredNames.map((one) => one.name)).toContain(name);
  });
});
