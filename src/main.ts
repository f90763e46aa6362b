/** The edge of the program: the only place that touches the process itself. */
import { main } from "./surfaces/cli/main.js";
import { processIo } from "./surfaces/process-io.js";

void main(process.argv.slice(2), processIo()).then((code) => (process.exitCode = code));
