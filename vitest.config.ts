import { defineConfig } from "vitest/config";

/** Long proofs have a command of their own: `npm run proof:kill`. */
const isProof = process.env["PAWL_PROOF"] !== undefined;

export default defineConfig({
  test: {
    include: [isProof ? "test/proof/**/*.test.ts" : "test/**/*.test.ts"],
    exclude: isProof ? [] : ["test/proof/**"],
    // Real git and real processes on a machine that may be busy: slow is not wrong.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 3,
    // No test leaves anything in memory that another one would see; starting afresh for each file takes a minute of it all.
    isolate: false,
  },
});
