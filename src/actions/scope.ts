/** Which changed paths the plan does not name. */
import { posix } from "node:path";
import type { ChangedFile } from "./diff.js";
import type { PlannedFile } from "./evidence.js";

interface Touched {
  path: string;
  gone: boolean;
}

/** Both paths of a renamed file must be covered: the old one disappears, the new one comes to be. */
export function outOfScope(files: readonly ChangedFile[], planned: readonly PlannedFile[]): string[] {
  const covers = planned.map(coverOf);
  const touched = files.flatMap(({ path, from, status }): Touched[] =>
    status === "renamed" && from !== undefined
      ? [
          { path: from, gone: true },
          { path, gone: false },
        ]
      : [{ path, gone: status === "deleted" }],
  );
  return [...new Set(touched.filter((one) => !covers.some((covered) => covered(one))).map(({ path }) => path))];
}

/** Who planned to create or update a file did not plan that it disappears. A folder stands for whatever happens below it. */
function coverOf({ path: plannedPath, intent }: PlannedFile): (touched: Touched) => boolean {
  const normal = posix.normalize(plannedPath);
  if (normal === "./") return () => true;
  if (normal.endsWith("/")) return ({ path }) => path.startsWith(normal);
  const stays = intent === "create" || intent === "update";
  return ({ path, gone }) => path === normal && !(gone && stays);
}
