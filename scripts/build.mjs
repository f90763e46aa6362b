// Builds dist/: the program, the library with its types, and what is known before any task runs: the built-in workflows,
// parsed, and validators for the built-in schemas.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const withTypes = !process.argv.includes("--no-types");
mkdirSync(join(dist, "bin"), { recursive: true });

// `npm test` builds while another pawl may be running from dist: every file is replaced in one step.
const replace = (name, content, options) => {
  writeFileSync(join(dist, `${name}.new`), content, options);
  renameSync(join(dist, `${name}.new`), join(dist, name));
};

/** commander loads node:child_process for executable subcommands, which pawl has none of; that alone is 6 ms of every start. */
const lazyChildProcess = {
  name: "lazy-child-process",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes("node_modules/commander/") ? { path: "child_process", namespace: "lazy" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "lazy" }, () => ({
      contents: `exports.spawn = (...args) => require("node:child_process").spawn(...args);`,
      resolveDir: root,
    }));
  },
};

const shared = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  platform: "node",
  target: "node20",
  external: ["fs-native-extensions", "node-pty"],
  plugins: [lazyChildProcess],
  logLevel: "warning",
};

// The program is one CommonJS file: a dynamic import in it costs nothing but running the module, and V8 can keep the whole
// file compiled (bin/pawl.cjs). The ES module loader would cost more than all the rest of a start.
const asCommonJs = {
  format: "cjs",
  define: { "import.meta.url": "importMetaUrl" },
  banner: { js: 'const importMetaUrl = require("node:url").pathToFileURL(__filename).href;' },
};
const bundle = async (options) => (await build({ ...shared, ...options })).outputFiles[0].text;

// ASCII alone, which node reads without decoding. What esbuild leaves stands in regular expressions and comments.
const asAscii = (text) =>
  text.replace(/[^\x00-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
/** A file that bin/pawl.cjs loads; the name of its build comes back. */
const writeProgram = async (name, entry, options = {}) => {
  const entryPoints = [entry];
  const minified = { minifySyntax: true, minifyWhitespace: true };
  const program = asAscii(await bundle({ ...asCommonJs, ...minified, ...options, entryPoints }));
  const build = createHash("sha256").update(program).digest("hex").slice(0, 16);
  replace(`${name}.cjs`, `// build ${build}\n${program}`);
  return build;
};
const builds = [
  await writeProgram("main", "src/main.ts"),
  // The protocol's library is for one command alone: no other has to read it.
  await writeProgram("mcp", "src/surfaces/mcp/serve.ts", { legalComments: "none" }),
  // A process of its own, one for each agent: it has to be small.
  await writeProgram("host", "src/agents/session/host.ts", { legalComments: "none" }),
];
replace(
  "index.js",
  await bundle({
    entryPoints: ["src/index.ts"],
    format: "esm",
    // Bundled CommonJS packages ask for `require`.
    banner: {
      js: 'import { createRequire as pawlRequire } from "node:module"; const require = pawlRequire(import.meta.url);',
    },
  }),
);

const tools = { exports: {} };
const source = await bundle({ ...asCommonJs, entryPoints: ["scripts/build-tools.ts"] });
new Function("require", "module", "exports", "__filename", source)(
  createRequire(import.meta.url),
  tools,
  tools.exports,
  join(dist, "build-tools.cjs"),
);
const read = (folder, extension) =>
  readdirSync(join(root, "system", folder))
    .filter((name) => name.endsWith(extension))
    .map((name) => ({ name, text: readFileSync(join(root, "system", folder, name), "utf8") }));
replace("workflows.json", tools.exports.compileWorkflows(read("workflows", ".md")));
const validators = tools.exports.compileValidators(read("schemas", ".schema.json"));
replace(
  "validators.cjs",
  await bundle({ stdin: { contents: validators, resolveDir: root }, format: "cjs", minify: true }),
);

// What stands on an agent's PATH as `pawl`.
replace(join("bin", "pawl"), `#!/bin/sh\nexec node "$(dirname "$0")/../../bin/pawl.cjs" "$@"\n`, { mode: 0o755 });

for (const name of readdirSync(dist)) {
  if (name.endsWith(".cache") && !builds.some((build) => name.includes(build)))
    rmSync(join(dist, name), { force: true });
}
// Compiled code, for this version of Node; another one compiles for itself. It holds what a short command runs, and what the
// answer to a client's first word takes.
const compile = (name, program, args, input) =>
  execFileSync(process.execPath, [join(root, "bin", program), ...args], {
    env: { ...process.env, PAWL_WRITE_CODE_CACHE: name },
    stdio: ["pipe", "ignore", "inherit"],
    input,
  });
compile("main", "pawl.cjs", ["next", "add-slugify", "--dry-run", "--json", "--dir", root], "");
const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "build", version: "1" } };
compile(
  "mcp",
  "pawl.cjs",
  ["mcp", "--dir", root],
  `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: hello })}\n`,
);
// A host's whole life, with an agent that ends at once.
const life = mkdtempSync(join(tmpdir(), "pawl-build-"));
const run = {
  role: "build",
  phase: "build",
  attempt: 1,
  repair: 0,
  task: "build",
  taskDir: life,
  workspace: life,
  cwd: life,
};
const more = {
  runDir: join(life, "run"),
  prompt: "",
  artifacts: {},
  env: { PATH: process.env.PATH ?? "" },
  token: "build",
};
const spec = { command: ["true"], terminal: true, env: [], set: {}, repairs: 0 };
const order = { spec, run: { ...run, ...more }, pawlBin: join(dist, "bin"), socket: join(life, "sock"), then: null };
compile("host", "host.cjs", [], `${JSON.stringify(order)}\n`);
rmSync(life, { recursive: true, force: true });

if (withTypes) {
  rmSync(join(dist, "types"), { recursive: true, force: true });
  execFileSync(
    process.execPath,
    [join(root, "node_modules", "typescript", "bin", "tsc"), "-p", "tsconfig.build.json"],
    { cwd: root, stdio: "inherit" },
  );
}
