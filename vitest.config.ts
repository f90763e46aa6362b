import { defineConfig } from "vitest/config";

/** Long tests, kills above all, have a command of their own: `npm run test:long`. */
const isLong = process.env["PAWL_LONG_TESTS"] !== undefined;

export default defineConfig({
  test: {
    include: [isLong ? "test/long/**/*.test.ts" : "test/**/*.test.ts"],
    exclude: isLong ? [] : ["test/long/**"],
    // Real git and real processes on a machine that may be busy: slow is not wrong.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 3,
    // No test leaves anything in memory that another one would see; starting afresh for each file takes a minute of it all.
    isolate: false,
  },
});
