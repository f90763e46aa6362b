/**
 * What a reviewer is about to judge: the change as it is now, which may be none, in a task that may have no repository. Nobody
 * planned it, so that nothing of it is out of scope.
 */
import { check as checkChange, describeChange, type ChangeReport } from "./derive-change.js";
import { ABOUT } from "./names.js";
import type { Maker } from "./types.js";

const NO_REPOSITORY: Omit<ChangeReport, "patch"> = { base: "", head: "", tree: "", files: [], out_of_scope: [] };

export const describeWork: Maker = {
  name: "describe-work",
  about: ABOUT["describe-work"],
  make: async (context) => (context.settings.repo === null ? { data: NO_REPOSITORY } : describeChange(context)),
  check: async (context, data) => (context.settings.repo === null ? null : checkChange(context, data)),
};
