/** Which changed paths the plan does not name. */
import { posix } from "node:path";
import type { ChangedFile } from "./diff.js";

/** Both paths of a renamed file must be covered: the old one disappears, the new one comes to be. */
export function outOfScope(files: readonly ChangedFile[], planned: readonly string[]): string[] {
  const covers = planned.map(coverOf);
  const touched = files.flatMap((file) =>
    file.status === "renamed" && file.from ? [file.from, file.path] : [file.path],
  );
  return [...new Set(touched)].filter((path) => !covers.some((covered) => covered(path)));
}

function coverOf(plannedPath: string): (path: string) => boolean {
  const normal = posix.normalize(plannedPath);
  if (normal === "./") return () => true;
  return normal.endsWith("/") ? (path) => path.startsWith(normal) : (path) => path === normal;
}
