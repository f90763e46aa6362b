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
  const tree: Root = fromMarkdown(text, {
    extensions: [frontmatter(["yaml"])],
    mdastExtensions: [frontmatterFromMarkdown(["yaml"])],
  });
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
