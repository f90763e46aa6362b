/** "feat: Implement New Feature" → `feat/implement-new-feature`. PURE. */
import { createHash } from "node:crypto";

const MOST = 80;

export function branchName(title: string): string {
  const [, kind, rest = title] = /^([A-Za-z][A-Za-z0-9]*)(?:\([^)]*\))?!?:\s*(.+)$/s.exec(title.trim()) ?? [];
  const slug = slugOf(rest);
  return kind === undefined ? slug : `${kind.toLowerCase()}/${slug}`;
}

/** Always something that git takes, whatever the title: one without a single letter of ASCII is known by its hash. */
function slugOf(text: string): string {
  const words = text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MOST)
    .replace(/^-+|-+$/g, "");
  return words === "" ? `pr-${createHash("sha256").update(text).digest("hex").slice(0, 8)}` : words;
}
