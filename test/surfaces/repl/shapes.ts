import { createProgram } from "../../../src/surfaces/cli/commands.js";
import type { Io } from "../../../src/surfaces/io.js";
import { shapesOf } from "../../../src/surfaces/repl/shapes.js";

/** Of the real program: a test that lists them would drift from it. */
export const shapes = shapesOf(createProgram({ env: {}, out: () => undefined } as unknown as Io, () => undefined));
