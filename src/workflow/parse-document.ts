/** Markdown → front matter, tables and code blocks, each with its line. Knows Markdown, but nothing of workflows. */
import type { Nodes, Table, TableCell } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { frontmatterFromMarkdown } from "mdast-util-frontmatter";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { frontmatter } from "micromark-extension-frontmatter";
import { gfmTable } from "micromark-extension-gfm-table";
import { LineCounter, parseDocument as parseYaml } from "yaml";
import { messageOf, type Finding } from "../errors.js";

export interface MarkdownDocument {
  frontMatter: Record<string, unknown>;
  /** Line of each key of the front matter; `key.inner` for the keys of a map in it. */
  frontMatterLines: Record<string, number>;
  title: string;
  sections: MarkdownSection[];
  findings: Finding[];
}

export interface MarkdownSection {
  heading: string;
  line: number;
  tables: MarkdownTable[];
  codeBlocks: { lang: string; text: string; line: number }[];
}

export interface MarkdownTable {
  line: number;
  header: Cell[];
  rows: { line: number; cells: Cell[] }[];
}

export interface Cell {
  /** The text without marks, trimmed. */
  text: string;
  /** The code spans in it, in order. */
  codes: string[];
  line: number;
  /** Column of the first character. */
  start: number;
  /** Column of the first code span's content, where there is one; else of the first character. */
  column: number;
}

export function parseMarkdown(text: string, file: string): MarkdownDocument {
  const tree = fromMarkdown(text, {
    extensions: [frontmatter(["yaml"]), gfmTable()],
    mdastExtensions: [frontmatterFromMarkdown(["yaml"]), gfmTableFromMarkdown()],
  });
  const document: MarkdownDocument = { frontMatter: {}, frontMatterLines: {}, title: "", sections: [], findings: [] };
  let section: MarkdownSection = { heading: "", line: 1, tables: [], codeBlocks: [] };
  for (const node of tree.children) {
    const line = node.position?.start.line ?? 1;
    if (node.type === "yaml") readFrontMatter(node.value, line, file, document);
    else if (node.type === "heading" && node.depth === 1 && document.title === "") document.title = plainText(node);
    else if (node.type === "heading" && node.depth === 2) {
      section = { heading: plainText(node), line, tables: [], codeBlocks: [] };
      document.sections.push(section);
    } else if (node.type === "table") section.tables.push(readTable(node));
    else if (node.type === "code") section.codeBlocks.push({ lang: node.lang ?? "", text: node.value, line });
  }
  return document;
}

function readFrontMatter(source: string, line: number, file: string, into: MarkdownDocument): void {
  const lineCounter = new LineCounter();
  const yaml = parseYaml(source, { lineCounter, uniqueKeys: true });
  for (const error of yaml.errors) {
    const place = lineCounter.linePos(error.pos[0]);
    const message = error.message.split("\n")[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? "invalid YAML";
    into.findings.push({
      message: `front matter: ${message}`,
      file,
      line: line + place.line,
      column: place.col,
      hint: "write `key: value`, one a line, every key once; close what is opened, and put values with `:` or `#` in quotes",
    });
  }
  if (yaml.errors.length > 0) return;
  let value: unknown;
  try {
    value = yaml.toJS();
  } catch (error) {
    // References to anchors are followed only here: `title: *bold*` looks like one.
    into.findings.push({
      message: `front matter: ${messageOf(error)}`,
      file,
      line,
      hint: "put a value that begins with `*` in quotes",
    });
    return;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  into.frontMatter = value as Record<string, unknown>;
  const readLines = (map: unknown, prefix: string): void => {
    for (const { key, value: inner } of (map as YamlMap | null)?.items ?? []) {
      if (key?.range === undefined) continue;
      const name = `${prefix}${String(key.value)}`;
      into.frontMatterLines[name] = line + lineCounter.linePos(key.range[0]).line;
      if (prefix === "") readLines(inner, `${name}.`);
    }
  };
  readLines(yaml.contents, "");
}

/** As much of the parser's tree as has to be known here. */
interface YamlMap {
  items?: { key?: { value?: unknown; range?: [number, number, number] }; value?: unknown }[];
}

function readTable(table: Table): MarkdownTable {
  const [header, ...rows] = table.children;
  return {
    line: table.position?.start.line ?? 1,
    header: header?.children.map(readCell) ?? [],
    rows: rows.map((row) => ({ line: row.position?.start.line ?? 1, cells: row.children.map(readCell) })),
  };
}

function readCell(cell: TableCell): Cell {
  const codes: string[] = [];
  let column: number | undefined;
  const visit = (node: Nodes): void => {
    if (node.type === "inlineCode") {
      codes.push(node.value);
      column ??= (node.position?.start.column ?? 0) + 1;
    }
    if ("children" in node) node.children.forEach(visit);
  };
  visit(cell);
  const start = cell.children[0]?.position?.start.column ?? cell.position?.start.column ?? 1;
  return {
    text: plainText(cell).trim(),
    codes,
    line: cell.position?.start.line ?? 1,
    start,
    column: column ?? start,
  };
}

function plainText(node: Nodes): string {
  if ("value" in node) return node.value;
  return "children" in node ? node.children.map(plainText).join("") : "";
}
