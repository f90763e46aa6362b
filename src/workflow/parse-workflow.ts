/**
 * A workflow document → Workflow. Collects every finding instead of stopping at the first; what the document means as a
 * whole (reachability, loops, unknown names) is the business of `check`.
 */
import { invalid, nearest, type Finding } from "../errors.js";
import { artifactFileFindings } from "./artifact-files.js";
import { sha256 } from "./hash.js";
import { parseDiagram } from "./parse-diagram.js";
import { parseMarkdown, type Cell, type MarkdownDocument, type MarkdownTable } from "./parse-document.js";
import type { ActionCall, Artifact, Diagram, Phase, PromptChoice, Transition, Worker, Workflow } from "./types.js";

export interface ParsedWorkflow {
  workflow: Workflow;
  findings: Finding[];
}

/** The value of a To cell that means: the phase stays as it is. */
const STAY = "stay";
/** Behind the name of an artifact that a phase need not leave. */
const MAY = "?";
/** Words of the By column that a role must not be called. */
const SENDERS = ["any", "human", "agent", "pawl"];
const HUMAN_POWERS = ["override", "redo"];
const FRONT_MATTER_KEYS = ["workflow", "version", "initial", "state", "limits", "failures", "human"];

/** For running: throws when the document has any finding of the parser. */
export function parseWorkflow(text: string, file: string): Workflow {
  const { workflow, findings } = readWorkflow(text, file);
  if (findings.length === 0) return workflow;
  throw invalid(`${file} is not a workflow document that can be run: ${findings[0]?.message ?? ""}`, {
    findings,
    // The name inside may be missing, or another document's.
    hint: `run \`pawl spec check ${file.replace(/^.*[/\\]|\.md$/g, "")}\` and mend what it lists`,
  });
}

/** For checking: gives what could be read, and everything that could not. */
export function readWorkflow(text: string, file: string): ParsedWorkflow {
  const reader = new Reader(file, parseMarkdown(text, file));
  return reader.read(text);
}

class Reader {
  private readonly findings: Finding[] = [];

  constructor(
    private readonly file: string,
    private readonly document: MarkdownDocument,
  ) {
    this.findings.push(...document.findings);
  }

  read(text: string): ParsedWorkflow {
    const front = this.readFrontMatter();
    const phases = this.readTable("Phases", ["Phase", "Who", "Leaves", "For"], (cells, line) =>
      this.phase(cells, line),
    );
    const artifacts = this.readTable(
      "Artifacts",
      ["Artifact", "File", "Schema", "Made by", "Judges"],
      (cells, line) => this.artifact(cells, line),
      ["Section"],
      true,
    );
    const prompts = this.readTable(
      "Prompts",
      ["Phase", "When", "Prompt"],
      (cells, line) => this.promptChoice(cells, line),
      [],
      true,
    );
    const rows = this.readTable(
      "Transitions",
      ["From", "Event", "By", "When", "Do", "To"],
      (cells, line) => this.transitions(cells, line),
      ["Why"],
    );
    this.findUnique(phases, "phase");
    this.findUnique(artifacts, "artifact");
    const workflow: Workflow = {
      ...front,
      title: this.document.title,
      file: this.file,
      hash: sha256(text),
      lines: this.document.frontMatterLines,
      phases,
      artifacts,
      prompts,
      transitions: rows.flat(),
      diagram: this.readDiagram(),
    };
    this.findings.push(...artifactFileFindings(workflow));
    return { workflow, findings: this.findings };
  }

  private readFrontMatter(): Pick<
    Workflow,
    "name" | "version" | "state" | "initial" | "limits" | "failures" | "human"
  > {
    const front = this.document.frontMatter;
    for (const key of Object.keys(front)) {
      if (!FRONT_MATTER_KEYS.includes(key))
        this.frontMatterFinding(key, `a key of the front matter: ${FRONT_MATTER_KEYS.join(", ")}`, key);
    }
    const name = this.field(
      "workflow",
      "a name",
      (value) => (typeof value === "string" && value !== "" ? value : undefined),
      "",
    );
    const version = this.field(
      "version",
      "a whole number",
      (value) => (Number.isInteger(value) ? (value as number) : undefined),
      1,
    );
    const initial = this.field(
      "initial",
      "the name of a phase",
      (value) => (typeof value === "string" ? value : undefined),
      "",
    );
    const limits = this.field("limits", "a map of names to whole numbers", asLimits, {}, {});
    const state = this.field(
      "state",
      "`{ file: …, field: … }`, and `at: work` for a file in the directory that is worked in",
      asStatePlace,
      { file: "state.json", field: "phase" },
      { file: "state.json", field: "phase" },
    );
    const failures = this.field("failures", "a list of phases", asNames, [], []);
    const powers = this.field(
      "human",
      `a list out of: ${HUMAN_POWERS.join(", ")}`,
      (value) =>
        Array.isArray(value) && value.every((power) => HUMAN_POWERS.includes(power as string))
          ? (value as string[])
          : undefined,
      [],
      [],
    );
    return {
      name,
      version,
      initial,
      limits,
      state,
      failures,
      human: { override: powers.includes("override"), redo: powers.includes("redo") },
    };
  }

  /** `absent` is the value of a key that is left out; without it the key is required. */
  private field<T>(
    key: string,
    expected: string,
    accept: (value: unknown) => T | undefined,
    fallback: T,
    absent?: T,
  ): T {
    const value = this.document.frontMatter[key];
    if (value === undefined && absent !== undefined) return absent;
    const accepted = value === undefined ? undefined : accept(value);
    if (accepted !== undefined) return accepted;
    this.frontMatterFinding(key, expected, value === undefined ? "nothing" : JSON.stringify(value));
    return fallback;
  }

  private frontMatterFinding(key: string, expected: string, found: string): void {
    this.findings.push({
      message: `front matter \`${key}\`: expected ${expected}, found ${found}`,
      file: this.file,
      line: this.document.frontMatterLines[key] ?? 1,
      expected,
      found,
      hint: `see the front matter of a built-in document: \`pawl spec show global-state-machine\``,
    });
  }

  private readTable<T>(
    heading: string,
    columns: string[],
    readRow: (cells: Record<string, Cell>, line: number) => T | undefined,
    optionalColumns: string[] = [],
    optional = false,
  ): T[] {
    const section = this.document.sections.find(
      (candidate) => candidate.heading.toLowerCase() === heading.toLowerCase(),
    );
    const table = section?.tables[0];
    if (table === undefined) {
      if (!optional) {
        this.findings.push({
          message: `the document has no table under a heading \`## ${heading}\``,
          file: this.file,
          line: section?.line ?? 1,
          expected: `| ${columns.join(" | ")} |`,
          hint: `add \`## ${heading}\` and a table with these columns`,
        });
      }
      return [];
    }
    const places = this.columnPlaces(heading, table, columns, optionalColumns);
    if (places === undefined) return [];
    return table.rows.flatMap((row) => {
      const cells: Record<string, Cell> = {};
      for (const [column, index] of places) {
        cells[column] = row.cells[index] ?? emptyCell(row.line);
      }
      if (row.cells.length > table.header.length) {
        this.finding(row.line, 1, `this row has ${row.cells.length} cells, the table ${table.header.length} columns`, {
          hint: "write a `|` inside a cell as `\\|`",
        });
      }
      const value = readRow(cells, row.line);
      return value === undefined ? [] : [value];
    });
  }

  private columnPlaces(
    heading: string,
    table: MarkdownTable,
    columns: string[],
    optional: string[],
  ): Map<string, number> | undefined {
    const known = [...columns, ...optional];
    const places = new Map<string, number>();
    table.header.forEach((cell, index) => {
      const name = known.find((column) => column.toLowerCase() === cell.text.toLowerCase());
      if (name !== undefined && !places.has(name)) places.set(name, index);
      else {
        const near = nearest(cell.text, known);
        this.finding(cell.line, cell.column, `the ${heading} table has an unknown or repeated column "${cell.text}"`, {
          expected: known.join(", "),
          found: cell.text,
          hint: near === undefined ? "remove it" : `did you mean ${near}?`,
        });
      }
    });
    const missing = columns.filter((column) => !places.has(column));
    if (missing.length === 0) return places;
    this.finding(table.line, 1, `the ${heading} table lacks the column ${missing.join(", ")}`, {
      expected: columns.join(", "),
      hint: "add it; its cells may be empty",
    });
    return undefined;
  }

  private phase(cells: Record<string, Cell>, line: number): Phase | undefined {
    const name = this.name(cells["Phase"], "phase");
    if (name === undefined) return undefined;
    return {
      name,
      who: this.worker(cells["Who"]),
      leaves: names(cells["Leaves"]).filter((artifact) => !artifact.endsWith(MAY)),
      mayLeave: names(cells["Leaves"]).flatMap((artifact) => (artifact.endsWith(MAY) ? artifact.slice(0, -1) : [])),
      purpose: cells["For"]?.text ?? "",
      line,
    };
  }

  private worker(cell: Cell | undefined): Worker {
    const [kind = "", ...rest] = (cell?.text ?? "").split(/\s+/);
    const role = rest.join(" ");
    if (kind === "") return { kind: "nobody" };
    if (kind === "agent" && role !== "" && !SENDERS.includes(role)) return { kind: "agent", role };
    if ((kind === "human" || kind === "orchestrator") && role === "") return { kind };
    this.finding(cell?.line ?? 1, cell?.column ?? 1, `who works in a phase is not understood: "${cell?.text ?? ""}"`, {
      expected: "agent `role`, human, orchestrator, or nothing for a terminal phase",
      found: cell?.text ?? "",
      hint: "name the role of an agent: agent `coder`",
    });
    return { kind: "nobody" };
  }

  private artifact(cells: Record<string, Cell>, line: number): Artifact | undefined {
    const name = this.name(cells["Artifact"], "artifact");
    const file = cells["File"]?.text ?? "";
    if (name === undefined) return undefined;
    const madeBy = cells["Made by"];
    const by = madeBy?.text ?? "";
    const section = cells["Section"]?.text ?? "";
    const schema = cells["Schema"]?.text ?? "";
    const maker: Artifact["madeBy"] =
      by === "agent" || by === "human" ? { kind: by } : { kind: "orchestrator", action: madeBy?.codes[0] ?? by };
    if (by === "") {
      this.finding(line, 1, `artifact \`${name}\` does not say who makes it`, {
        expected: "agent, human, or the name of an action",
        hint: "fill the column Made by",
      });
    }
    return {
      name,
      file,
      ...(section === "" ? {} : { section }),
      ...(schema === "" ? {} : { schema }),
      madeBy: maker,
      judges: names(cells["Judges"]),
      line,
    };
  }

  /** One row of the table stands for as many transitions as it names phases under From. */
  private transitions(cells: Record<string, Cell>, line: number): Transition[] | undefined {
    const cell = (column: string): Cell => cells[column] ?? emptyCell(line);
    for (const column of ["From", "Event", "By", "To"]) {
      if (cell(column).text !== "") continue;
      this.finding(line, cell(column).column, `this row has nothing under ${column}`, {
        expected: `a value under ${column}`,
      });
      return undefined;
    }
    const when = this.condition(cell("When"));
    const to = cell("To").text;
    return names(cell("From")).map((from) => ({
      from,
      event: cell("Event").text,
      by: names(cell("By")),
      when: when.text,
      actions: actionCalls(cell("Do")),
      to: to === STAY ? from : to,
      why: cell("Why").text,
      line,
      whenColumn: when.column,
      whyColumn: cell("Why").start,
    }));
  }

  private promptChoice(cells: Record<string, Cell>, line: number): PromptChoice | undefined {
    const phase = this.name(cells["Phase"], "phase");
    const prompt = this.name(cells["Prompt"], "prompt");
    if (phase === undefined || prompt === undefined) return undefined;
    const when = this.condition(cells["When"] ?? emptyCell(line));
    return { phase, when: when.text, prompt, line, whenColumn: when.column };
  }

  private condition(cell: Cell): Cell {
    if (cell.codes.length > 1 || (cell.codes.length === 1 && cell.codes[0]?.trim() !== cell.text)) {
      this.finding(cell.line, cell.column, "a condition must be one code span and nothing else", {
        found: cell.text,
        hint: "join the parts with && inside one pair of backticks",
      });
    }
    return cell;
  }

  private readDiagram(): Diagram | null {
    for (const section of this.document.sections) {
      const block = section.codeBlocks.find(({ lang, text }) => lang === "mermaid" && text.includes("stateDiagram"));
      if (block === undefined) continue;
      const { diagram, findings } = parseDiagram(block.text, block.line, this.file);
      this.findings.push(...findings);
      return diagram;
    }
    return null;
  }

  private name(cell: Cell | undefined, kind: string): string | undefined {
    const text = cell?.text ?? "";
    if (/^[A-Za-z_][\w-]*$/.test(text)) return text;
    this.finding(cell?.line ?? 1, cell?.column ?? 1, `the name of a ${kind} is not usable: "${text}"`, {
      expected: "letters, digits, _ and -",
      found: text === "" ? "nothing" : text,
    });
    return undefined;
  }

  private findUnique(items: { name: string; line: number }[], kind: string): void {
    const seen = new Map<string, number>();
    for (const { name, line } of items) {
      const first = seen.get(name);
      if (first === undefined) seen.set(name, line);
      else
        this.finding(line, 1, `the ${kind} \`${name}\` is listed twice`, {
          hint: `it stands in line ${first} already; remove one`,
        });
    }
  }

  private finding(line: number, column: number, message: string, more: Partial<Finding> = {}): void {
    this.findings.push({ message, file: this.file, line, column, ...more });
  }
}

function emptyCell(line: number): Cell {
  return { text: "", codes: [], line, start: 1, column: 1 };
}

function names(cell: Cell | undefined): string[] {
  return (cell?.text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function actionCalls(cell: Cell): ActionCall[] {
  return names(cell).map((call) => {
    const [name = "", ...args] = call.split(/\s+/);
    return { name, args };
  });
}

function asStatePlace(value: unknown): Workflow["state"] | undefined {
  const { file, field, at, ...more } = (value ?? {}) as Record<string, unknown>;
  if (typeof file !== "string" || typeof field !== "string" || Object.keys(more).length > 0) return undefined;
  if (at === undefined) return { file, field };
  return at === "work" ? { file, field, at } : undefined;
}

function asNames(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every((name) => typeof name === "string") ? value : undefined;
}

function asLimits(value: unknown): Record<string, number> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  return entries.every(([, limit]) => Number.isSafeInteger(limit)) ? (value as Record<string, number>) : undefined;
}
