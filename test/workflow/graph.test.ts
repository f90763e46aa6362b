import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toDot } from "../../src/workflow/graph-dot.js";
import { arrows } from "../../src/workflow/graph-edges.js";
import { layOut } from "../../src/workflow/graph-layout.js";
import { toMermaid } from "../../src/workflow/graph-mermaid.js";
import { toSvg } from "../../src/workflow/graph-svg.js";
import { toXState } from "../../src/workflow/graph-xstate.js";
import { parseWorkflow } from "../../src/workflow/parse-workflow.js";
import { FIX_A_BUG, parse, smallWorkflow, type Row } from "../support/workflow-text.js";
import { PACKAGE } from "../support/workspace.js";

const BUG = parse(FIX_A_BUG);
const MARK = { current: "fix", visited: ["reproduce"] };
const NASTY = parse(
  smallWorkflow({ a: "agent `w`", "b-c": "human", done: "" }, [
    { from: "a", to: "b-c", why: 'says "<b>" & \\ more' },
    { from: "a", to: "b-c", event: "go", by: "human", why: "went" },
    { from: "b-c", to: "b-c", event: "wait", by: "human" },
    { from: "b-c", to: "done", by: "human" },
  ]),
);

describe("arrows", () => {
  it("are one for each pair of phases, with a label for each event", () => {
    expect(arrows(NASTY)).toEqual([
      { from: "a", to: "b-c", labels: ['says "<b>" & \\ more', "go: went"] },
      { from: "b-c", to: "done", labels: ["next"] },
    ]);
  });
});

describe("Mermaid", () => {
  it("shows every phase and arrow, and the current phase in words and colour", () => {
    const text = toMermaid(BUG, MARK);
    expect(text.startsWith("stateDiagram-v2\n")).toBe(true);
    expect(text).toContain('state "fix ● current<br>agent coder" as fix');
    expect(text).toContain('state "reproduce ✓<br>agent coder" as reproduce');
    expect(text).toContain("class fix current");
    for (const { from, to } of BUG.transitions) expect(text).toContain(`    ${from} --> ${to}`);
    expect(text).toContain("[*] --> reproduce");
    expect(text).toContain("done --> [*]");
  });

  it("marks nothing without a task", () => {
    expect(toMermaid(BUG)).not.toMatch(/current|classDef/);
  });

  it("survives names and labels that Mermaid cannot take", () => {
    const text = toMermaid(NASTY);
    expect(text).toContain("a --> b_c : says b & \\ more<br>go#58; went");
    expect(text).toContain("b_c --> b_c : wait");
  });

  it.each(readdirSync(join(PACKAGE, "system/workflows")))(
    "has one colon in each arrow of %s: 10 takes no more",
    (name) => {
      const workflow = parseWorkflow(readFileSync(join(PACKAGE, "system/workflows", name), "utf8"), name);
      const arrowLines = toMermaid(workflow, { current: "done" })
        .split("\n")
        .filter((line) => line.includes("-->"));
      expect(arrowLines.join("\n")).toMatch(/(answer|resume)#58;/);
      for (const line of arrowLines) expect(line.split(":").length, line).toBeLessThanOrEqual(2);
    },
  );
});

describe("DOT", () => {
  it("shows every phase and arrow, and the current phase in words and style", () => {
    const text = toDot(BUG, MARK);
    expect(text).toContain('"fix" [label="fix ● current\\nagent coder", style="rounded,filled,bold"');
    expect(text).toContain('"verify" -> "done" [label="next"];');
    expect(text).toContain('"[*]" -> "reproduce";');
    expect(text).toContain('"done" [label="done\\nend", peripheries=2];');
  });

  it("escapes what it quotes", () => {
    expect(toDot(NASTY)).toContain('[label="says \\"<b>\\" & \\\\ more\\ngo: went"]');
  });
});

describe("SVG", () => {
  it("shows every phase once, and the current one in words too", () => {
    const text = toSvg(BUG, MARK);
    for (const { name } of BUG.phases) expect(text.split(`>${name}</text>`)).toHaveLength(2);
    expect(text).toContain(">● current</text>");
    expect(text).toContain(">✓ visited</text>");
    expect(toSvg(BUG)).not.toMatch(/current|visited/);
  });

  it("needs nothing from outside and escapes all text", () => {
    const text = toSvg(NASTY);
    expect(text).toContain("says &quot;&lt;b&gt;&quot; &amp; \\ more");
    expect(text.replace('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(/https?:|<script|<style|href/);
    // Well formed: every tag is closed in order, every & begins an entity.
    expect(text).not.toMatch(/&(?!amp;|lt;|gt;|quot;|#39;)/);
    const open: string[] = [];
    for (const [, slash, name = "", self] of text.matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)) {
      if (slash === "/") expect(open.pop()).toBe(name);
      else if (self !== "/") open.push(name);
    }
    expect(open).toEqual([]);
  });

  it("lays boxes and labels out without overlap, whatever the workflow", () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const row = fc.record({
      from: fc.constantFrom(...names),
      to: fc.constantFrom(...names),
      event: fc.constantFrom("next", "go", "fail"),
      why: fc.constantFrom("", "short", "a reason with rather many words in it"),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 16 }), (rows: Row[]) => {
        const phases = Object.fromEntries(names.map((name) => [name, "agent `w`"]));
        const layout = layOut(
          parse(smallWorkflow(phases, rows)),
          Object.fromEntries(names.map((name) => [name, [name]])),
        );
        const labels = layout.routes.map(({ label: { lines, x, y, anchor } }) => {
          const width = Math.max(...lines.map((line) => line.length * 6));
          return { x: anchor === "start" ? x : x - width, y: y - 10, width, height: lines.length * 15 - 4 };
        });
        const shapes = [...layout.boxes, ...labels];
        shapes.forEach((one, index) => {
          expect(one.x).toBeGreaterThanOrEqual(0);
          expect(one.x + one.width).toBeLessThanOrEqual(layout.width);
          expect(one.y + one.height).toBeLessThanOrEqual(layout.height);
          for (const other of shapes.slice(index + 1)) {
            const apart =
              one.x + one.width <= other.x ||
              other.x + other.width <= one.x ||
              one.y + one.height <= other.y ||
              other.y + other.height <= one.y;
            expect(apart).toBe(true);
          }
        });
        // Lines of different targets may cross, but never run on top of each other.
        const verticals = layout.routes.flatMap(({ to, points }) =>
          points.length === 2 ? [] : [{ to, x: points[1]?.[0] ?? 0, ends: [points[1]?.[1] ?? 0, points[2]?.[1] ?? 0] }],
        );
        for (const one of verticals) {
          for (const other of verticals) {
            if (one.to === other.to || one.x !== other.x) continue;
            const meet =
              Math.max(...one.ends) >= Math.min(...other.ends) && Math.max(...other.ends) >= Math.min(...one.ends);
            expect(meet).toBe(false);
          }
        }
      }),
    );
  });
});

describe("XState", () => {
  it("is a machine with guards, actions and final states", () => {
    const machine = toXState(BUG);
    expect(machine).toMatchObject({ id: "fix-a-bug", initial: "reproduce" });
    expect(machine.states["verify"]?.on?.["next"]).toEqual([
      { target: "done", guard: "tests.overall_pass", actions: ["merge"], meta: { by: ["any"] } },
      { target: "fix", guard: "!tests.overall_pass && visits.fix < limits.attempts", meta: { by: ["any"] } },
      { target: "stuck", actions: ["ask-human"], meta: { by: ["any"] } },
    ]);
    expect(machine.states["done"]).toEqual({ type: "final", meta: { who: "end", leaves: [] } });
    expect(JSON.parse(JSON.stringify(machine))).toEqual(machine);
  });
});
