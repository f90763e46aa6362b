/** Sections of a Markdown file as evidence. A real parser decides what a heading is: code blocks and quotes do not count. */
import type { Nodes, Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { frontmatterFromMarkdown } from "mdast-util-frontmatter";
import { frontmatter } from "micromark-extension-frontmatter";

/** The text below the last `## heading` of that name, up to the next heading of the same or a higher level; null without one. */
export function readSection(text: string, heading: string): string | null {
  const tree: Root = fromMarkdown(text, {
    extensions: [frontmatter(["yaml"])],
    mdastExtensions: [frontmatterFromMarkdown(["yaml"])],
  });
  let section: { start: number; end: number } | null = null;
  let open = false;
  for (const node of tree.children) {
    if (node.type !== "heading" || node.depth > 2) continue;
    const offset = node.position?.start.offset ?? 0;
    if (section !== null && open) section.end = offset;
    open = node.depth === 2 && plainText(node).trim().toLowerCase() === heading.trim().toLowerCase();
    if (open) section = { start: node.position?.end.offset ?? offset, end: text.length };
  }
  return section === null ? null : text.slice(section.start, section.end).trim();
}

/** Is there a line that is neither blank, nor a comment, nor a placeholder that a template left? */
export function hasContent(section: string): boolean {
  return section
    .replace(/<!--[\s\S]*?(-->|$)/g, "")
    .split("\n")
    .map((line) => line.replace(/^[\s>*+-]*(\[[ xX]?\]\s*)?/, "").trim())
    .some((line) => line !== "" && !/^(\{[^}]*\}|<[^>]*>|\[[^\]]*\]|…|\.\.\.|TODO:?|TBD:?)$/i.test(line));
}

function plainText(node: Nodes): string {
  if ("value" in node) return node.value;
  return "children" in node ? node.children.map(plainText).join("") : "";
}
