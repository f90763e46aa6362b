/** Temporary git repositories with a fixed identity, a home of their own and no configuration from outside. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

export interface TestRepository {
  /** Holds the repository and whatever else a test needs; removed after the test. */
  root: string;
  /** The repository's top directory. */
  dir: string;
  env: Record<string, string>;
  /** Runs git in the repository, or in `{ cwd }`; what it printed, without the newline at its end. */
  git(...args: (string | { cwd: string })[]): string;
  write(path: string, content: string | Uint8Array): void;
  /** A hook that git would run. */
  hook(name: string, script: string): void;
  read(path: string): string;
  has(path: string): boolean;
  /** Writes files, commits everything, and gives the commit's name. */
  commit(message: string, files?: Record<string, string | Uint8Array>): string;
}

/** In memory where that can be: most of the time of many tests is a disk that is waited for. */
const PLACE = process.env["TMPDIR"] === undefined && isUsable("/dev/shm") ? "/dev/shm" : tmpdir();

/** Tests run programs from there, which some systems do not allow. */
function isUsable(directory: string): boolean {
  try {
    const probe = join(mkdtempSync(join(directory, "pawl-probe-")), "probe");
    writeFileSync(probe, "#!/bin/sh\n", { mode: 0o755 });
    const { status } = spawnSync(probe);
    rmSync(dirname(probe), { recursive: true });
    return status === 0;
  } catch {
    return false;
  }
}

export function makeRoot(): { root: string; env: Record<string, string> } {
  const root = realpathSync(mkdtempSync(join(PLACE, "pawl-test-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const home = join(root, "home");
  mkdirSync(home);
  return { root, env: environment(home) };
}

/** A repository with one commit on `main`; with `files: null`, one without any commit. */
export function makeRepository(
  options: { files?: Record<string, string | Uint8Array> | null; name?: string } = {},
): TestRepository {
  const { root, env } = makeRoot();
  const dir = join(root, options.name ?? "repo");
  mkdirSync(dir);
  const repository = openTestRepository(root, dir, env);
  repository.git("init", "--quiet", "--initial-branch=main");
  if (options.files !== null) repository.commit("First", options.files ?? { "readme.md": "one\ntwo\nthree\n" });
  return repository;
}

export function openTestRepository(root: string, dir: string, env: Record<string, string>): TestRepository {
  const repository: TestRepository = {
    root,
    dir,
    env,
    git: (...args) => {
      const words = args.filter((arg) => typeof arg === "string");
      const cwd = args.find((arg) => typeof arg === "object")?.cwd ?? dir;
      const result = spawnSync("git", words, { cwd, env, encoding: "utf8" });
      if (result.status !== 0) throw new Error(`git ${words.join(" ")}: ${result.stderr}${result.stdout}`);
      return result.stdout.replace(/\n$/, "");
    },
    write: (path, content) => writeAt(join(dir, path), content),
    hook: (name, script) => {
      repository.write(`.git/hooks/${name}`, `#!/bin/sh\n${script}\n`);
      chmodSync(join(dir, ".git/hooks", name), 0o755);
    },
    read: (path) => readFileSync(join(dir, path), "utf8"),
    has: (path) => existsSync(join(dir, path)),
    commit: (message, files = {}) => {
      for (const [path, content] of Object.entries(files)) repository.write(path, content);
      repository.git("add", "--all");
      repository.git("commit", "--quiet", "--allow-empty", "-m", message);
      return repository.git("rev-parse", "HEAD");
    },
  };
  return repository;
}

export function writeAt(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function environment(home: string): Record<string, string> {
  const who = { NAME: "Test Person", EMAIL: "test@example.org", DATE: "2026-01-02T03:04:05Z" };
  const identity = Object.entries(who).flatMap(([field, value]) => [
    [`GIT_AUTHOR_${field}`, value],
    [`GIT_COMMITTER_${field}`, value],
  ]);
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    GIT_CONFIG_NOSYSTEM: "1",
    ...(Object.fromEntries(identity) as Record<string, string>),
  };
}
