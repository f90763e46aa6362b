/** Which commit says that it undid a merge. Words alone prove nothing: whoever asks looks at the files first. */
import { REVERT_TRAILER } from "./messages.js";
import type { FoundMerge } from "./find-merge.js";
import type { Repository } from "./repository.js";

interface Entry extends FoundMerge {
  message: string;
}

/** The newest commit up to `tip` that reverts `merge`, in git's own words or pawl's, and was not itself reverted. */
export async function findRevert({ git }: Repository, merge: string, tip: string): Promise<FoundMerge | null> {
  const log = (await git(["log", "--format=%H %P%n%B%x00", `${merge}..${tip}`])).stdout;
  const entries = log
    .split("\0")
    .map((text) => text.trimStart())
    .filter((text) => text !== "")
    .map(entryOf);
  const inEffect = entries.find((entry, at) => reverts(entry, merge) && isInEffect(entry, entries.slice(0, at)));
  return inEffect === undefined ? null : { commit: inEffect.commit, before: inEffect.before };
}

function isInEffect({ commit }: Entry, newer: Entry[]): boolean {
  return !newer.some((entry, at) => reverts(entry, commit) && isInEffect(entry, newer.slice(0, at)));
}

/** A line of its own, as git writes it: a commit may well speak of another's revert. */
function reverts({ message }: Entry, commit: string): boolean {
  return new RegExp(`^(This reverts commit ${commit}[.,]|${REVERT_TRAILER}: ${commit}$)`, "m").test(message);
}

function entryOf(text: string): Entry {
  const [first = "", ...lines] = text.split("\n");
  const [commit = "", before = ""] = first.split(" ");
  return { commit, before, message: lines.join("\n") };
}
