/** `doctor`: is this machine and this workspace fit for work? Each check says what it found and what to do. */
import { createRequire } from "node:module";
import { accessSync, constants } from "node:fs";
import { messageOf, PawlError } from "../errors.js";
import { run } from "../process/run.js";
import { terminalProblem } from "../process/terminal.js";
import { packageVersion } from "../system/locate.js";
import { readConfig, type Config } from "../workspace/config.js";
import { gitTop } from "../workspace/settings.js";
import { checkSettings } from "./check-settings.js";
import type { Engine } from "./context.js";
import { findAgents } from "./installed-agents.js";

export interface Check {
  name: string;
  ok: boolean;
  /** It works, though hardly as it was meant. */
  warning?: boolean;
  found: string;
  hint?: string;
}

const NEEDED_GIT = [2, 38];
const NEEDED_NODE = 20;

export async function doctor(engine: Engine): Promise<{ ok: boolean; checks: Check[] }> {
  const checks = [
    { name: "pawl", ok: true, found: packageVersion() },
    node(),
    await git(engine),
    lock(),
    terminals(),
    writable(engine),
    repository(engine),
    ...(await configuration(engine)),
  ];
  return { ok: checks.every(({ ok }) => ok), checks };
}

function node(): Check {
  const major = Number(process.versions.node.split(".")[0]);
  return {
    name: "node",
    ok: major >= NEEDED_NODE,
    found: process.versions.node,
    ...(major >= NEEDED_NODE ? {} : { hint: `install Node ${NEEDED_NODE} or later` }),
  };
}

async function git(engine: Engine): Promise<Check> {
  const result = await run(["git", "--version"], {
    cwd: engine.workspace.root,
    env: { PATH: engine.workspace.env["PATH"] ?? "" },
  });
  if (result.outcome !== "exited" || result.exitCode !== 0)
    return { name: "git", ok: false, found: "not found", hint: `install git ${NEEDED_GIT.join(".")} or later` };
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(result.stdout) ?? [];
  const ok = Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 38);
  return {
    name: "git",
    ok,
    found: result.stdout.trim(),
    ...(ok ? {} : { hint: `merging needs git ${NEEDED_GIT.join(".")} or later` }),
  };
}

function lock(): Check {
  try {
    createRequire(import.meta.url)("fs-native-extensions");
    return { name: "file locks", ok: true, found: "the kernel's" };
  } catch (error) {
    return {
      name: "file locks",
      ok: false,
      found: messageOf(error),
      hint: "install pawl again on this platform: npm ci",
    };
  }
}

/** An agent can do without one. */
function terminals(): Check {
  const problem = terminalProblem();
  if (problem === null) return { name: "terminals", ok: true, found: "can be opened" };
  return {
    name: "terminals",
    ok: true,
    warning: true,
    found: `none can be opened: ${problem}`,
    hint: `install pawl again on this platform: npm ci; until then leave "terminal" out of pawl.json`,
  };
}

function writable(engine: Engine): Check {
  const { root } = engine.workspace;
  try {
    accessSync(root, constants.W_OK);
    return { name: "workspace", ok: true, found: root };
  } catch {
    return {
      name: "workspace",
      ok: false,
      found: `${root} cannot be written to`,
      hint: "change its permissions, or give another with --dir",
    };
  }
}

function repository(engine: Engine): Check {
  const top = gitTop(engine.workspace.root);
  return { name: "repository", ok: true, found: top ?? "none here: tasks need --repo to change code" };
}

async function configuration(engine: Engine): Promise<Check[]> {
  const config = await readConfig(engine.workspace.root, engine.workspace.env).catch((error: unknown) => {
    if (error instanceof PawlError) return error;
    throw error;
  });
  if (config instanceof PawlError)
    return [
      { name: "pawl.json", ok: false, found: config.message, hint: config.hint ?? "mend the file" },
      ...(await agents(engine, {})),
    ];
  const roles = Object.keys(config.agents ?? {});
  return [
    {
      name: "tests",
      ok: true,
      found: config.test?.join(" && ") || "no command set: the phase `test` will be refused",
    },
    {
      name: "agents",
      ok: true,
      found: roles.length === 0 ? "none set: artifacts have to be left by hand" : roles.join(", "),
    },
    ...(await checkSettings(engine, config)),
    ...(await agents(engine, config)),
  ];
}

/** An agent that pawl.json uses has to be there, and to work; of the others it is only said how to get them. */
async function agents(engine: Engine, config: Config): Promise<Check[]> {
  const used = Object.values(config.agents ?? {}).map(({ use }) => use);
  return (await findAgents(engine)).map(({ name, preset, found }) => {
    if (preset instanceof PawlError)
      return { name, ok: false, found: preset.message, hint: preset.hint ?? "mend the preset" };
    if (found !== null && "version" in found) return { name, ok: true, found: found.version };
    const install = `${found === null ? "to get" : "to install anew"} ${preset.title}: ${preset.install}`;
    const what = found === null ? "not found" : `broken: ${found.broken}`;
    return { name, ok: !used.includes(name), found: what, hint: install };
  });
}
