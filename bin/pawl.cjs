#!/usr/bin/env node
// Starts dist/main.cjs from code that V8 compiled when pawl was built: half of a start would be compiling. A cache is for one
// version of Node and for one very build, whose name stands in the file's first line: V8 itself compares no more than the
// length of the source. Without a cache everything is compiled as usual.
const { existsSync, readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { wrap } = require("node:module");
const vm = require("node:vm");

const dist = join(__dirname, "..", "dist");

function load(name) {
  const filename = join(dist, `${name}.cjs`);
  // The build writes ASCII alone; as such it is read without decoding.
  const source = readFileSync(filename, "latin1");
  const build = /^\/\/ build ([0-9a-f]+)/.exec(source)?.[1];
  const cache = join(dist, `${name}-${build}-${process.version}-${process.arch}.cache`);
  const script = new vm.Script(wrap(source), {
    filename,
    cachedData: existsSync(cache) ? readFileSync(cache) : undefined,
    importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const program = { exports: {} };
  script.runInThisContext()(program.exports, require, program, filename, dist);
  if (process.env.PAWL_WRITE_CODE_CACHE === name)
    process.once("exit", () => writeFileSync(cache, script.createCachedData()));
  return program.exports;
}

// `pawl mcp` loads another part of itself in the same way.
module.exports = { load };
if (require.main === module) load("main");
