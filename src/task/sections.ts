/** Sections of a Markdown file as evidence. A real parser decides what a heading is: code blocks and quotes do not count. */
import type { Nodes, Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { frontmatterFromMarkdown } from "mdast-util-frontmatter";
import { frontmatter } from "micromark-extension-frontmatter";

/**
 * The texts below every `## heading` of that name, each up to the next heading of the same or a higher level. The last one is
 * the section that counts.
 */
export function readSections(text: string, heading: string): string[] {
  const tree = treeOf(text);
  const sections: { start: number; end: number }[] = [];
  let open: { start: number; end: number } | undefined;
  for (const node of tree.children) {
    if (node.type !== "heading" || node.depth > 2) continue;
    const offset = node.position?.start.offset ?? 0;
    if (open !== undefined) open.end = offset;
    const isWanted = node.depth === 2 && plainText(node).trim().toLowerCase() === heading.trim().toLowerCase();
    open = isWanted ? { start: node.position?.end.offset ?? offset, end: text.length } : undefined;
    if (open !== undefined) sections.push(open);
  }
  return sections.map(({ start, end }) => text.slice(start, end).trim());
}

function treeOf(text: string): Root {
  return fromMarkdown(text, {
    extensions: [frontmatter(["yaml"])],
    mdastExtensions: [frontmatterFromMarkdown(["yaml"])],
  });
}

/** Why no section can be told from this text; null where they can. */
export function unreadable(text: string): string | null {
  const intricate = intricateLine(text);
  if (intricate !== null) return `line ${intricate} begins a block that is too large or too intricate to be read`;
  // A block that nobody closed takes whatever is added for its own, headings included.
  const last = treeOf(`${text}\n\n## ${SENTINEL}\n`).children.at(-1);
  const isOpen = last?.type !== "heading" || plainText(last) !== SENTINEL;
  return isOpen ? "it ends inside a code block, a comment or a tag that is not closed" : null;
}

const SENTINEL = "the end of the file";

/** A parser takes the square of the time for such blocks, and whoever writes them can choose how many. */
const MOST_IN_A_BLOCK = 64 * 1024;
const MOST_MARKS = 4_000;
const DEEPEST = 50;

function intricateLine(text: string): number | null {
  let line = 1;
  for (const block of text.split(/\n[ \t]*\n/)) {
    const marks = block.length > MOST_MARKS ? (block.match(/[*_[\]<>`~]/g)?.length ?? 0) : 0;
    if (block.length > MOST_IN_A_BLOCK || marks > MOST_MARKS || NESTED.test(block)) return line;
    line += block.split("\n").length + 1;
  }
  return null;
}

const NESTED = new RegExp(`^(?:[ \\t]*(?:[-+*>]|\\d{1,9}[.)])){${DEEPEST},}`, "m");

/** Is there a line that is neither blank, nor a comment, nor a placeholder that a template left? */
export function hasContent(section: string): boolean {
  return (
    section
      .replace(/<!--[\s\S]*?(-->|$)/g, "")
      .split("\n")
      .map((line) => line.replace(/^[\s>*+-]*(\[[ xX]?\]\s*)?/, "").trim())
      // `DONE:` alone is what the template said; what stands after it counts.
      .map((line) => line.replace(/^\*{0,2}[A-Z]{3,}\*{0,2}:\*{0,2}\s*/, ""))
      .some(
        (line) => line !== "" && !/^(`{3,}.*|~{3,}.*|\{[^}]*\}|<[^>]*>|\[[^\]]*\]|…|\.\.\.|TODO:?|TBD:?)$/i.test(line),
      )
  );
}

function plainText(node: Nodes): string {
  if ("value" in node) return node.value;
  return "children" in node ? node.children.map(plainText).join("") : "";
}
