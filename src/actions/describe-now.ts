/** What there is, described at once, for a reviewer who is asked to look at work that was not finished. */
import { describeChange } from "./derive-change.js";
import { NO_REPOSITORY } from "./describe-work.js";
import { ABOUT } from "./names.js";
import type { Action } from "./types.js";

export const describeNow: Action = {
  name: "describe-now",
  about: ABOUT["describe-now"],
  outside: true,
  run: async (context) => {
    const { settings, artifacts, fields, progress, from, signal } = context;
    if (settings.repo === null) return { artifacts: { change: NO_REPOSITORY } };
    const runPath = `${from}/described`;
    const given = { settings, artifacts, fields, progress, accepted: undefined, runDir: settings.dir, runPath };
    const { data, files, notes } = await describeChange({ ...given, ...(signal === undefined ? {} : { signal }) });
    return {
      artifacts: { change: data },
      ...(files === undefined ? {} : { files }),
      ...(notes === undefined ? {} : { notes }),
    };
  },
};
