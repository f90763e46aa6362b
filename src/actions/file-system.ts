/** What a file system can tell apart. Tried, not read from the configuration, which an agent may have changed to hide a change. */
import { chmod, lstat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exists } from "./paths.js";

/** Settings of git that `git init` finds out in the same way. The directory must be empty, and may be written to. */
export async function fileSystemSettings(directory: string): Promise<string[]> {
  const file = join(directory, "probe");
  await writeFile(file, "", { mode: 0o644 });
  const before = await isExecutable(file);
  await chmod(file, 0o755);
  const modes = !before && (await isExecutable(file));
  const links = await symlink("probe", join(directory, "link")).then(
    () => true,
    () => false,
  );
  const oneCase = await exists(join(directory, "PROBE"));
  return [`core.fileMode=${modes}`, `core.symlinks=${links}`, `core.ignoreCase=${oneCase}`];
}

async function isExecutable(file: string): Promise<boolean> {
  return ((await lstat(file)).mode & 0o100) !== 0;
}
