/** `init`: a workspace in this directory. Nothing that is there is changed. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../system/locate.js";
import { writeFileDurably } from "../task/atomic-file.js";
import { CONFIG_FILE, type AgentConfig, type Config } from "../workspace/config.js";
import { makePrivateDirectory, tasksDirectory } from "../workspace/workspace.js";
import type { Engine } from "./context.js";
import { findAgents } from "./installed-agents.js";

/** Those that can both work in a worktree and leave their artifact outside of it come first. */
const PREFERRED = ["claude", "codex", "gemini", "opencode", "aider"];
const SCHEMA_COPY = ".pawl/pawl.schema.json";

export interface Initialized {
  workspace: string;
  created: string[];
  kept: string[];
  config: Config;
}

export async function init(engine: Engine): Promise<Initialized> {
  const { root } = engine.workspace;
  const created: string[] = [];
  const kept: string[] = [];
  const config: Config & { $schema: string } = {
    $schema: `./${SCHEMA_COPY}`,
    test: testCommands(root),
    agents: await foundAgents(engine),
  };
  const file = join(root, CONFIG_FILE);
  makePrivateDirectory(root);
  // Beside the file, so that editors complete it wherever pawl itself is installed.
  await writeFileDurably(
    join(root, SCHEMA_COPY),
    readFileSync(join(packageRoot(), "system", "schemas", "pawl.schema.json")),
  );
  if (existsSync(file)) kept.push(CONFIG_FILE);
  else {
    await writeFileDurably(file, `${JSON.stringify(config, null, 2)}\n`);
    created.push(CONFIG_FILE);
  }
  if (existsSync(tasksDirectory(engine.workspace))) kept.push("tasks/");
  else {
    mkdirSync(tasksDirectory(engine.workspace));
    created.push("tasks/");
  }
  return { workspace: root, created, kept, config };
}

/** The first agent that is installed and works serves every role; the user sees it and can change it. */
async function foundAgents(engine: Engine): Promise<Record<string, AgentConfig>> {
  const found = (await findAgents(engine)).flatMap((agent) =>
    agent.found !== null && "version" in agent.found ? [agent.name] : [],
  );
  const use = PREFERRED.find((name) => found.includes(name)) ?? found[0];
  return use === undefined ? {} : { default: { use } };
}

/** What `npm init` writes where there are no tests: it always fails. */
const NPM_PLACEHOLDER = /no test specified/;
/** A rule whose targets, before the first colon, have `test` among them; `test := x` is a variable. */
const MAKE_TEST = /^(?:[^\s:#=][^:#=\n]*\s)?test(?:\s[^:#=\n]*)?::?(?!=)/m;

/** The test command that the project itself declares; a guess that the user sees and can change. */
function testCommands(root: string): string[] {
  const manifest = join(root, "package.json");
  if (existsSync(manifest)) {
    try {
      const { scripts } = JSON.parse(readFileSync(manifest, "utf8")) as { scripts?: Record<string, string> };
      const test = scripts?.["test"];
      if (test !== undefined && !NPM_PLACEHOLDER.test(test)) return ["npm test"];
    } catch {
      return [];
    }
  }
  const byFile: [file: string, command: string, declares?: RegExp][] = [
    ["Cargo.toml", "cargo test"],
    ["go.mod", "go test ./..."],
    ["pyproject.toml", "python -m pytest"],
    ["Makefile", "make test", MAKE_TEST],
  ];
  const found = byFile.find(([file, , declares = /^/]) => {
    const path = join(root, file);
    return existsSync(path) && declares.test(readFileSync(path, "utf8"));
  });
  return found === undefined ? [] : [found[1]];
}
