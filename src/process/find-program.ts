/** Which file a command would run, found out as the system does it: a path as it stands, a name on the PATH. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";

/** Where no PATH is set. */
const USUAL_PATH = "/bin:/usr/bin";

export type FoundProgram = "found" | "not-found" | "not-executable";

export function findProgram(program: string, cwd: string, path: string = USUAL_PATH): FoundProgram {
  if (program.includes("/")) return kindOf(resolve(cwd, program));
  if (program === "") return "not-found";
  const found = path.split(delimiter).map((directory) => kindOf(resolve(cwd, directory, program)));
  if (found.includes("found")) return "found";
  return found.includes("not-executable") ? "not-executable" : "not-found";
}

function kindOf(file: string): FoundProgram {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return "not-found";
  try {
    accessSync(file, constants.X_OK);
    return stat.isFile() ? "found" : "not-executable";
  } catch {
    return "not-executable";
  }
}
