#!/usr/bin/env node
// Starts dist/main.cjs from code that V8 compiled when pawl was built: half of a start would be compiling. The cache is
// for one version of Node and for this very build, whose name stands in the file's first line: V8 itself compares no more
// than the length of the source. Without a cache everything is compiled as usual.
const { existsSync, readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { wrap } = require("node:module");
const vm = require("node:vm");

const filename = join(__dirname, "..", "dist", "main.cjs");
// The build writes ASCII alone; as such it is read without decoding.
const source = readFileSync(filename, "latin1");
const build = /^\/\/ build ([0-9a-f]+)/.exec(source)?.[1];
const cache = join(__dirname, "..", "dist", `main-${build}-${process.version}-${process.arch}.cache`);
const script = new vm.Script(wrap(source), {
  filename,
  cachedData: existsSync(cache) ? readFileSync(cache) : undefined,
  importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
const program = { exports: {} };
script.runInThisContext()(program.exports, require, program, filename, join(__dirname, "..", "dist"));
if (process.env.PAWL_WRITE_CODE_CACHE === "1")
  process.once("exit", () => writeFileSync(cache, script.createCachedData()));
