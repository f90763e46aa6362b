// The process that holds an agent (src/agents/session/host.ts), started by pawl and by nobody else.
require("./pawl.cjs").load("host");
