/** A file for results that come at the end of long work: that it cannot be written is said before the work begins. */
import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { messageOf, usage } from "../../errors.js";
import type { Invocation } from "./invocation.js";

/** The path that the option gives; undefined where it is not given. */
export function prepareReportFile(call: Invocation, option: string): string | undefined {
  const given = call.text(option);
  if (given === undefined) return undefined;
  const file = resolve(call.io.cwd, given);
  const hint = `give --${option} a file that can be written; nothing was run`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    // A report takes its file's place whole: it is the directory that has to allow it.
    accessSync(dirname(file), constants.W_OK | constants.X_OK);
  } catch (error) {
    throw usage(`--${option}: ${file} cannot be written: ${messageOf(error)}`, { hint });
  }
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true)
    throw usage(`--${option}: expected a file, found a directory: ${file}`, { hint });
  return file;
}
